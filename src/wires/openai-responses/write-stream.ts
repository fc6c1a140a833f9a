// A reply as the events of a response, while it is streaming: one response id, numbered events, items that are closed
// in order, and the complete output at the end.

import { createFold } from '../../core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { partsInOrder, shownUsage, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import type { Issue } from '../wire.ts'
import { asksForSummary, callEvents, cutOff, emptied, itemsOf, statusOf, terminalTypes, whole } from './emulate.ts'
import { objectFields, protocolId, stringField, typeOf, type Item } from './types.ts'

interface Writing {
  readonly profile: StreamProfile
  readonly fold: ReturnType<typeof createFold>
  readonly output: Item[]
  sequence: number
  /** The last item while its end is not written: contents may follow, or it turns out to be cut off. */
  last: Item | undefined
  /** Whether the reasoning that is written now is a summary. */
  hidden: boolean
}

export function writer(profile: StreamProfile): StreamWriter {
  const state: Writing = {
    profile,
    fold: createFold({ protocol: protocolId, provider: '', model: profile.model }),
    output: [],
    sequence: 0,
    last: undefined,
    hidden: false,
  }
  const parts = partsInOrder({
    open: (part) => openPart(state, part),
    more: (part, text) => morePart(state, part, text),
    close: (part) => closePart(state, part),
  })
  return {
    push(replyEvent) {
      state.fold.push(replyEvent)
      const first = replyEvent.type === 'part-start' ? begin(state) : []
      return [...first, ...parts.push(replyEvent)]
    },
    end() {
      const events = [...begin(state), ...parts.end()]
      if (state.last && finishedResponse(state).status === 'incomplete') state.last = cutOff(state.last)
      events.push(...closeLast(state))
      const response = finishedResponse(state)
      const status = stringField(response, 'status') ?? ''
      return [...events, event(state, terminalTypes.get(status) ?? 'response.completed', { response })]
    },
    fail: (issue) => [
      ...begin(state),
      event(state, 'response.failed', { response: { ...finishedResponse(state), ...failedWith(issue) } }),
    ],
  }
}

function openPart(state: Writing, part: Part): Json[] {
  if (part.type === 'text' || part.type === 'refusal') return [...openMessage(state, part), contentAdded(state, part)]
  const closed = closeLast(state)
  state.hidden = part.type === 'reasoning' && (part.hidden === true || asksForSummary(state.profile.fields))
  const item = itemFor(state, part, state.hidden)
  if (!item || !isGrowing(part)) return closed
  const output_index = state.output.length
  const started = [event(state, 'response.output_item.added', { output_index, item: emptied(item) })]
  if (part.type === 'reasoning') {
    const place = placeOf(state, part)
    // The official client adds pieces only to a part that was announced.
    started.push(
      state.hidden
        ? event(state, 'response.reasoning_summary_part.added', { ...place, part: summary('') })
        : event(state, 'response.content_part.added', { ...place, part: reasoningContent('') }),
    )
  }
  return [...closed, ...started]
}

function morePart(state: Writing, part: Part, text: string): Json[] {
  const kind = deltaKind(part, state.hidden)
  return kind ? [event(state, `${kind.type}.delta`, { ...placeOf(state, part), delta: text, ...kind.extra })] : []
}

function closePart(state: Writing, part: Part): Json[] {
  if (part.type === 'text' || part.type === 'refusal') return closeContent(state, part)
  const item = itemFor(state, part, state.hidden)
  if (!item) return []
  state.last = item
  const output_index = state.output.length
  if (isGrowing(part)) return endGrowing(state, part, item, output_index)
  const added = event(state, 'response.output_item.added', { output_index, item: emptied(item) })
  if (typeOf(item) === 'custom_tool_call') return [added, ...wholeInput(state, item, output_index)]
  const events = callEvents(item, { item_id: item.id ?? '', output_index })
  return [added, ...events.map(({ type, ...fields }) => event(state, String(type), fields))]
}

function finishedResponse({ profile, fold, output }: Writing): JsonObject {
  const { reply, usage: reported } = fold.result()
  const usage = shownUsage(reply, reported, profile)
  const body = whole({ ...reply, native: [], parts: [] }, { ...profile, usage })
  return { ...(isObject(body) ? body : {}), ...profile.fields, ...statusOf(reply, profile), output }
}

/** The first events, once. */
function begin(state: Writing): Json[] {
  if (state.sequence > 0) return []
  const blank = { status: 'in_progress', completed_at: null, incomplete_details: null, usage: null }
  const response = { ...finishedResponse(state), ...blank, error: null, output: [] }
  return [event(state, 'response.created', { response }), event(state, 'response.in_progress', { response })]
}

function event(state: Writing, type: string, fields: JsonObject): Json {
  return { type, ...fields, sequence_number: state.sequence++ }
}

function openMessage(state: Writing, part: Part): Json[] {
  if (state.last && typeOf(state.last) === 'message') return []
  const closed = closeLast(state)
  const item = itemFor(state, part, false)
  if (!item) return closed
  state.last = { ...item, content: [] }
  const output_index = state.output.length
  return [...closed, event(state, 'response.output_item.added', { output_index, item: emptied(item) })]
}

function contentAdded(state: Writing, part: Part): Json {
  const blank = part.type === 'refusal' ? { type: 'refusal', refusal: '' } : textContent('', [])
  return event(state, 'response.content_part.added', { ...placeOf(state, part), part: blank })
}

function closeContent(state: Writing, part: Part): Json[] {
  const item = itemFor(state, part, false)
  const [content] = item ? objectFields(item, 'content') : []
  const { last } = state
  if (!last || !content || !Array.isArray(last.content)) return []
  const place = placeOf(state, part)
  const annotations = Array.isArray(content.annotations) ? content.annotations : []
  const doneEvent =
    content.type === 'output_text'
      ? event(state, 'response.output_text.done', { ...place, text: content.text ?? '', logprobs: [] })
      : event(state, 'response.refusal.done', { ...place, refusal: content.refusal ?? '' })
  last.content.push(content)
  return [
    doneEvent,
    ...annotations.map((annotation, annotation_index) =>
      event(state, 'response.output_text.annotation.added', { ...place, annotation_index, annotation }),
    ),
    event(state, 'response.content_part.done', { ...place, part: content }),
  ]
}

function closeLast(state: Writing): Json[] {
  const { last: item } = state
  if (!item) return []
  state.last = undefined
  const output_index = state.output.push(item) - 1
  return [event(state, 'response.output_item.done', { output_index, item })]
}

function itemFor({ profile, output }: Writing, part: Part, asSummary: boolean): Item | undefined {
  const announcedPart = part.type === 'reasoning' ? { ...part, hidden: asSummary } : part
  return itemsOf([announcedPart], profile.replyId, { before: output.length, token: profile.token })[0]
}

function placeOf(state: Writing, part: Part): JsonObject {
  const { last, hidden, output } = state
  const item = last ?? itemFor(state, part, hidden)
  const place = { item_id: (item && stringField(item, 'id')) ?? '', output_index: output.length }
  if (part.type === 'tool-call') return place
  if (hidden && part.type === 'reasoning') return { ...place, summary_index: 0 }
  return { ...place, content_index: last && Array.isArray(last.content) ? last.content.length : 0 }
}

/** The ends of what arrived in pieces. */
function endGrowing(state: Writing, part: Part, item: Item, index: number): Json[] {
  const place = { item_id: stringField(item, 'id') ?? '', output_index: index }
  if (part.type === 'tool-call') {
    const text = stringField(item, 'arguments') ?? ''
    return [event(state, 'response.function_call_arguments.done', { ...place, name: item.name ?? '', arguments: text })]
  }
  const text = part.type === 'reasoning' ? part.text : ''
  if (!state.hidden) {
    const spot = { ...place, content_index: 0 }
    return [
      event(state, 'response.reasoning_text.done', { ...spot, text }),
      event(state, 'response.content_part.done', { ...spot, part: reasoningContent(text) }),
    ]
  }
  const spot = { ...place, summary_index: 0 }
  return [
    event(state, 'response.reasoning_summary_text.done', { ...spot, text }),
    event(state, 'response.reasoning_summary_part.done', { ...spot, part: summary(text) }),
  ]
}

function wholeInput(state: Writing, item: Item, index: number): Json[] {
  const place = { item_id: stringField(item, 'id') ?? '', output_index: index }
  const input = stringField(item, 'input') ?? ''
  return [
    event(state, 'response.custom_tool_call_input.delta', { ...place, delta: input }),
    event(state, 'response.custom_tool_call_input.done', { ...place, input }),
  ]
}

/** The text of a free-form call is inside the JSON of its arguments, so it is written when that is complete. */
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

function reasoningContent(text: string): JsonObject {
  return { type: 'reasoning_text', text }
}

function summary(text: string): JsonObject {
  return { type: 'summary_text', text }
}

function failedWith({ code, message }: Issue): JsonObject {
  return { status: 'failed', completed_at: null, error: { code: code ?? 'server_error', message } }
}
