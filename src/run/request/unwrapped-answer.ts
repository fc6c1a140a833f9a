// Providers require the JSON of an answer to be an object, so a schema of anything else, such as a list, is sent as the
// one property of an object. Here its text is unwrapped while it arrives: the caller gets JSON of the schema that was
// requested. The provider's own content, which is sent back to it, keeps the object.

import type { ReplyEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { RetryEvent } from '../../transport/reply.ts'
import { wantsWrapping, wrapper } from '../../wires/tool-schema/root.ts'

type Read = ReplyEvent | RetryEvent

const opening = new RegExp(`^\\s*\\{\\s*"${wrapper}"\\s*:\\s*`)
const beginningOfOpening = beginningOf(['\\s*', '\\{', '\\s*', ...`"${wrapper}"`.split(''), '\\s*', ':'])

/** Returns each event of one reply, with the text unwrapped; undefined: nothing of it is left. */
export function answerUnwrapper(schema: JsonObject | undefined): <E extends Read>(event: E) => E | undefined {
  if (!schema || !wantsWrapping(schema)) return (event) => event
  let unwrapper = unwrapping()
  const texts = new Map<number, string>()
  return (event) => {
    const read: Read = event
    if (read.type === 'reply-start') unwrapper = unwrapping()
    if (read.type === 'part-start' && read.part.type === 'text') {
      const text = unwrapper.push(read.part.text)
      texts.set(read.index, text)
      return { ...event, part: { ...read.part, text } }
    }
    const before = 'index' in read ? texts.get(read.index) : undefined
    if (before === undefined) return event
    if (read.type === 'part-delta') {
      const text = unwrapper.push(read.text)
      texts.set(read.index, before + text)
      return text === '' ? undefined : { ...event, text }
    }
    // It is authoritative: the same text as the pieces.
    if (read.type !== 'part-end' || read.part.type !== 'text' || !unwrapper.isInside()) return event
    return { ...event, part: { ...read.part, text: before } }
  }
}

interface Unwrapper {
  /** What the next piece adds to the text. */
  push(piece: string): string
  isInside(): boolean
}

function unwrapping(): Unwrapper {
  let phase: 'before' | 'inside' | 'plain' = 'before'
  /** Not returned yet: a beginning that may be the wrapper's, or an end that may be. */
  let held = ''
  return {
    isInside: () => phase === 'inside',
    push(piece) {
      let text = held + piece
      held = ''
      if (phase === 'before') {
        const [start] = opening.exec(text) ?? []
        if (start === undefined && beginningOfOpening.test(text)) {
          held = text
          return ''
        }
        phase = start === undefined ? 'plain' : 'inside'
        text = text.slice(start?.length ?? 0)
      }
      if (phase === 'plain') return text
      const inner = withoutClosing(text)
      held = text.slice(inner.length)
      return inner
    },
  }
}

/** Without what may be the end of the wrapper. */
function withoutClosing(text: string): string {
  const end = text.trimEnd()
  return end.endsWith('}') ? end.slice(0, -1).trimEnd() : end
}

/** Matches every beginning of a text of these pieces. */
function beginningOf(pieces: readonly string[]): RegExp {
  return new RegExp(`^${pieces.reduceRight((rest, piece) => `${piece}(?:$|${rest})`, '$')}$`)
}
