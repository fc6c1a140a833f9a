// A reply as the events of a response, while it is coming: one response id, numbered events, items that are closed in
// order, and the whole output at the end.

import { folding } from '../../core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { noUsage } from '../../core/usage.ts'
import { partsInOrder, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import type { Issue } from '../wire.ts'
import { itemsOf, whole } from './emulate.ts'
import { announced, terminalTypes } from './split.ts'
import { objectsIn, protocolId, stringIn, typeOf, type Item } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const fold = folding({ protocol: protocolId, provider: '', model: profile.model })
  const output: Item[] = []
  let sequence = 0
  /** The message whose contents are written now, if one is. */
  let message: Item | undefined
  let hidden = false

  const parts = partsInOrder({
    open(part) {
      if (part.type === 'text' || part.type === 'refusal') return [...openMessage(part), contentAdded(part)]
      const closed = closeMessage()
      hidden = part.type === 'reasoning' && part.hidden === true
      const item = itemFor(part, hidden)
      if (!item || !isGrowing(part)) return closed
      const added = [event('response.output_item.added', { output_index: output.length, item: announced(item) })]
      if (hidden)
        added.push(event('response.reasoning_summary_part.added', { ...summaryPlace(item), part: summary('') }))
      return [...closed, ...added]
    },
    more(part, text) {
      const kind = deltaKind(part, hidden)
      return kind ? [event(`${kind.type}.delta`, { ...placeOf(part), delta: text, ...kind.extra })] : []
    },
    close(part) {
      if (part.type === 'text' || part.type === 'refusal') return closeContent(part)
      const item = itemFor(part, hidden)
      if (!item) return []
      const index = output.push(item) - 1
      const done = event
      const out: Json[] = []
      if (!isGrowing(part)) {
        out.push(done('response.output_item.added', { output_index: index, item: announced(item) }))
        if (typeOf(item) === 'custom_tool_call') out.push(...wholeInput(item, index))
      } else {
        out.push(...grown(part, item, index))
      }
      return [...out, done('response.output_item.done', { output_index: index, item })]
    },
  })

  return {
    push(one) {
      fold.push(one)
      return opened(() => parts.push(one), one.type === 'part-start')
    },
    end: () =>
      opened(() => {
        const tail = [...parts.end(), ...closeMessage()]
        const response = finished()
        const status = stringIn(response, 'status') ?? ''
        return [...tail, event(terminalTypes.get(status) ?? 'response.completed', { response })]
      }, true),
    fail: (issue) =>
      opened(() => [event('response.failed', { response: { ...finished(), ...failedWith(issue) } })], true),
  }

  function finished(): JsonObject {
    const { reply, usage = noUsage } = fold.result()
    const body = whole({ ...reply, native: [], parts: [] }, { ...profile, usage })
    return { ...(isObject(body) ? body : {}), ...profile.fields, ...statusBy(body, reply.parts), output }
  }

  /** A refusal in words is a finished answer on this wire, and `whole` tells by the parts. */
  function statusBy(body: Json, written: readonly Part[]): JsonObject {
    if (!written.some((part) => part.type === 'refusal') || !isObject(body) || body.status !== 'incomplete') return {}
    return { status: 'completed', incomplete_details: null, completed_at: profile.createdAt }
  }

  function opened(events: () => Json[], begins: boolean): Json[] {
    if (sequence > 0 || !begins) return events()
    const response = { ...finished(), status: 'in_progress', completed_at: null, incomplete_details: null, usage: null }
    const first = { ...response, error: null, output: [] }
    return [
      event('response.created', { response: first }),
      event('response.in_progress', { response: first }),
      ...events(),
    ]
  }

  function event(type: string, fields: JsonObject): Json {
    return { type, ...fields, sequence_number: sequence++ }
  }

  function openMessage(part: Part): Json[] {
    if (message) return []
    const item = itemFor(part, false)
    if (!item) return []
    message = { ...item, content: [] }
    return [event('response.output_item.added', { output_index: output.length, item: announced(item) })]
  }

  function contentAdded(part: Part): Json {
    const blank = part.type === 'refusal' ? { type: 'refusal', refusal: '' } : textContent('', [])
    return event('response.content_part.added', { ...placeOf(part), part: blank })
  }

  function closeContent(part: Part): Json[] {
    const item = itemFor(part, false)
    const [content] = item ? objectsIn(item, 'content') : []
    if (!message || !content || !Array.isArray(message.content)) return []
    const place = placeOf(part)
    const isText = content.type === 'output_text'
    const annotations = Array.isArray(content.annotations) ? content.annotations : []
    const done = isText
      ? event('response.output_text.done', { ...place, text: content.text ?? '', logprobs: [] })
      : event('response.refusal.done', { ...place, refusal: content.refusal ?? '' })
    message.content.push(content)
    return [
      done,
      ...annotations.map((annotation, annotation_index) =>
        event('response.output_text.annotation.added', { ...place, annotation_index, annotation }),
      ),
      event('response.content_part.done', { ...place, part: content }),
    ]
  }

  function closeMessage(): Json[] {
    if (!message) return []
    const item = message
    message = undefined
    const index = output.push(item) - 1
    return [event('response.output_item.done', { output_index: index, item })]
  }

  function itemFor(part: Part, asSummary: boolean): Item | undefined {
    const shown = part.type === 'reasoning' ? { ...part, hidden: asSummary } : part
    return itemsOf([shown], profile.replyId, output.length)[0]
  }

  function placeOf(part: Part): JsonObject {
    const item = message ?? itemFor(part, hidden)
    const place = { item_id: (item && stringIn(item, 'id')) ?? '', output_index: output.length }
    if (part.type === 'tool-call') return place
    if (hidden && part.type === 'reasoning') return { ...place, summary_index: 0 }
    return { ...place, content_index: message && Array.isArray(message.content) ? message.content.length : 0 }
  }

  function summaryPlace(item: Item): JsonObject {
    return { item_id: stringIn(item, 'id') ?? '', output_index: output.length, summary_index: 0 }
  }

  /** The ends of what came in pieces. */
  function grown(part: Part, item: Item, index: number): Json[] {
    const place = { item_id: stringIn(item, 'id') ?? '', output_index: index }
    if (part.type === 'tool-call') {
      const text = stringIn(item, 'arguments') ?? ''
      return [event('response.function_call_arguments.done', { ...place, name: item.name ?? '', arguments: text })]
    }
    const text = part.type === 'reasoning' ? part.text : ''
    if (!hidden) return [event('response.reasoning_text.done', { ...place, content_index: 0, text })]
    const spot = { ...place, summary_index: 0 }
    return [
      event('response.reasoning_summary_text.done', { ...spot, text }),
      event('response.reasoning_summary_part.done', { ...spot, part: summary(text) }),
    ]
  }

  function wholeInput(item: Item, index: number): Json[] {
    const place = { item_id: stringIn(item, 'id') ?? '', output_index: index }
    const input = stringIn(item, 'input') ?? ''
    return [
      event('response.custom_tool_call_input.delta', { ...place, delta: input }),
      event('response.custom_tool_call_input.done', { ...place, input }),
    ]
  }
}

/** The text of a free-form call is inside the JSON of its arguments, so it is written when that is whole. */
function isGrowing(part: Part): boolean {
  return part.type === 'reasoning' || (part.type === 'tool-call' && part.kind === undefined)
}

function deltaKind(part: Part, hidden: boolean): { type: string; extra?: JsonObject } | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'response.output_text', extra: { logprobs: [] } }
    case 'refusal':
      return { type: 'response.refusal' }
    case 'reasoning':
      return { type: hidden ? 'response.reasoning_summary_text' : 'response.reasoning_text' }
    case 'tool-call':
      return part.kind === undefined ? { type: 'response.function_call_arguments' } : undefined
    default:
      return undefined
  }
}

function textContent(text: string, annotations: Json[]): JsonObject {
  return { type: 'output_text', annotations, logprobs: [], text }
}

function summary(text: string): JsonObject {
  return { type: 'summary_text', text }
}

function failedWith({ code, message }: Issue): JsonObject {
  return { status: 'failed', completed_at: null, error: { code: code ?? 'server_error', message } }
}
