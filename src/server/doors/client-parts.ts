// What the client gets of a reply: calls under ids of ours, reasoning if it asked for it and there are words, and nothing
// that only another wire has a form for.

import type { ReplyEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import type { WireService } from '../../wires/service.ts'
import type { StreamWriter } from '../../wires/shared/stream-writer.ts'
import { clientCallId } from './call-ids.ts'

export interface PartsForm {
  wire: string
  service: WireService
  /** The client did not ask for the reasoning, and its API would not send any. */
  hidesReasoning?: boolean | undefined
}

export function shownParts(form: PartsForm, { parts, origin }: Reply, isPassed: boolean): Part[] {
  const own = parts.filter((part) => !isHidden(part, origin.protocol, form))
  return own.flatMap((part) => clientPart(form.service, part, isPassed))
}

/** The chunks of each event, without what the client does not get. */
export function clientChunks(write: StreamWriter, form: PartsForm): (event: ReplyEvent) => Json[] {
  const unbegun = new Map<number, ReplyEvent>()
  const hidden = new Set<number>()
  let from = ''
  return (event) => {
    if (event.type === 'reply-start') from = event.origin.protocol
    if (event.type === 'part-start' && isHidden(event.part, from, form)) hidden.add(event.index)
    if ('index' in event && hidden.has(event.index)) return []
    if (event.type === 'part-delta')
      return unbegun.size === 0 ? write.push(event) : [...begin(event.index), ...write.push(event)]
    if (event.type !== 'part-start' && event.type !== 'part-end') return write.push(event)
    const [part] = clientPart(form.service, event.part)
    if (event.type === 'part-end') {
      if (!part && unbegun.delete(event.index)) return []
      return [...begin(event.index), ...write.push({ ...event, part: part ?? event.part })]
    }
    // Whether reasoning has words is only known once they arrive.
    if (part && !(part.type === 'reasoning' && part.text === '')) return write.push({ ...event, part })
    unbegun.set(event.index, event)
    return []
  }

  /** A part that began without text gets its text now. */
  function begin(index: number): Json[] {
    const start = unbegun.get(index)
    unbegun.delete(index)
    return start ? write.push(start) : []
  }
}

/** What a tool of the provider did has a form on the wire of that provider only. `from`: the wire of the reply. */
function isHidden({ type }: Part, from: string, { wire, hidesReasoning = false }: PartsForm): boolean {
  return type === 'server-tool' ? from !== wire : type === 'reasoning' && hidesReasoning
}

/**
 * A part as the client gets it: calls under an id of ours, or that of the provider if it `isPassed`, and nothing of
 * reasoning that has no words.
 */
function clientPart(service: WireService, part: Part, isPassed: boolean = false): Part[] {
  if (part.type === 'reasoning' && part.hidden && part.text === '') return []
  if (part.type !== 'tool-call') return [part]
  const { alias, ...call } = part
  return [{ ...call, callId: (isPassed ? alias : undefined) ?? clientCallId(service, part.callId) }]
}
