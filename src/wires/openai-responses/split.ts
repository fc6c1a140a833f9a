// Splits a complete response into the events that would have streamed it, so that there is one way of decoding.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { splitText } from '../shared/text.ts'
import { objectsIn, stringIn, typeOf, type Item } from './types.ts'

const defaultPiece = 40

export function split(whole: Json, piece: number = defaultPiece): Json[] {
  if (!isObject(whole) || !Array.isArray(whole.output)) return [whole]
  const events: JsonObject[] = []
  const emit = (type: string, fields: JsonObject) => {
    events.push({ type, ...fields, sequence_number: events.length })
  }
  const status = stringIn(whole, 'status')
  const begun: JsonObject = { ...whole, status: 'in_progress', completed_at: null, output: [], usage: null }
  emit('response.created', { response: begun })
  if (status === 'queued') {
    emit('response.queued', { response: whole })
    return events
  }
  emit('response.in_progress', { response: begun })
  for (const [index, item] of objectsIn(whole, 'output').entries()) splitItem(item, index, Math.max(1, piece), emit)
  emit(terminalTypes.get(status ?? '') ?? 'response.completed', { response: whole })
  return events
}

export const terminalTypes = new Map([
  ['incomplete', 'response.incomplete'],
  ['failed', 'response.failed'],
  ['cancelled', 'response.cancelled'],
])

type Emit = (type: string, fields: JsonObject) => void

function splitItem(item: Item, index: number, piece: number, emit: Emit): void {
  const place = { item_id: stringIn(item, 'id') ?? '', output_index: index }
  emit('response.output_item.added', { output_index: index, item: announced(item) })
  switch (typeOf(item)) {
    case 'message':
      for (const [at, content] of objectsIn(item, 'content').entries()) {
        splitContent(content, { ...place, content_index: at }, piece, emit)
      }
      break
    case 'reasoning':
      splitReasoning(item, place, piece, emit)
      break
    case 'function_call':
      emitText(stringIn(item, 'arguments') ?? '', 'response.function_call_arguments', 'arguments', place, piece, emit)
      break
    case 'custom_tool_call':
      emitText(stringIn(item, 'input') ?? '', 'response.custom_tool_call_input', 'input', place, piece, emit)
  }
  emit('response.output_item.done', { output_index: index, item })
}

/** The announced item: nothing that is still to be streamed, and no ciphertext. */
export function announced(item: Item): Item {
  const { encrypted_content: _, ...rest } = item
  switch (typeOf(item)) {
    case 'message':
      return { ...rest, status: 'in_progress', content: [] }
    case 'reasoning':
      return { ...rest, summary: [], ...('content' in rest && { content: [] }) }
    case 'function_call':
      return { ...rest, status: 'in_progress', arguments: '' }
    case 'custom_tool_call':
      return { ...rest, status: 'in_progress', input: '' }
    default:
      return item
  }
}

function splitContent(content: JsonObject, place: JsonObject, piece: number, emit: Emit): void {
  if (content.type === 'refusal') {
    emit('response.content_part.added', { ...place, part: { ...content, refusal: '' } })
    emitText(stringIn(content, 'refusal') ?? '', 'response.refusal', 'refusal', place, piece, emit)
  } else if (content.type === 'output_text') {
    const annotations = Array.isArray(content.annotations) ? content.annotations : []
    emit('response.content_part.added', { ...place, part: { ...content, text: '', annotations: [] } })
    emitText(stringIn(content, 'text') ?? '', 'response.output_text', 'text', place, piece, emit, { logprobs: [] })
    for (const [at, annotation] of annotations.entries()) {
      emit('response.output_text.annotation.added', { ...place, annotation_index: at, annotation })
    }
  }
  emit('response.content_part.done', { ...place, part: content })
}

function splitReasoning(item: Item, place: JsonObject, piece: number, emit: Emit): void {
  for (const [at, part] of objectsIn(item, 'summary').entries()) {
    const spot = { ...place, summary_index: at }
    emit('response.reasoning_summary_part.added', { ...spot, part: { ...part, text: '' } })
    emitText(stringIn(part, 'text') ?? '', 'response.reasoning_summary_text', 'text', spot, piece, emit)
    emit('response.reasoning_summary_part.done', { ...spot, part })
  }
  for (const [at, part] of objectsIn(item, 'content').entries()) {
    const spot = { ...place, content_index: at }
    emitText(stringIn(part, 'text') ?? '', 'response.reasoning_text', 'text', spot, piece, emit)
  }
}

function emitText(
  text: string,
  type: string,
  field: string,
  place: JsonObject,
  piece: number,
  emit: Emit,
  extra: JsonObject = {},
): void {
  for (const delta of splitText(text, piece)) emit(`${type}.delta`, { ...place, delta, ...extra })
  emit(`${type}.done`, { ...place, [field]: text, ...extra })
}
