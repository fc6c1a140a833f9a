// Reads the events of one streamed reply.
//
// Events are routed by `output_index`: some servers change `item_id` with every event (checked 2026-11). A finished
// item is read from `response.output_item.done`, because the announced one may have half of the ciphertext, and the one
// in `response.completed` is encrypted again.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Part, Stop, StopReason } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import {
  decoderOf,
  createDecoding,
  endReply,
  startReply,
  takeEvents,
  type Outcome,
  stopAfterInterruption,
} from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import {
  announce,
  closeItem,
  contentKinds,
  contentPart,
  deltaKinds,
  finishItem,
  isSame,
  itemToClose,
  nativeItems,
  readText,
  type State,
} from './decode-items.ts'
import { countIn } from '../shared/json-fields.ts'
import { numberField, objectField, objectFields, stringField } from './types.ts'

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = {
    ...createDecoding(origin, options),
    items: [],
    response: {},
    terminal: undefined,
    queued: false,
  }
  const isDuplicate = duplicates()
  return decoderOf({
    push(chunk) {
      if (!isObject(chunk) || isDone(state) || isDuplicate(chunk)) return []
      if (isObject(chunk.response)) learnOrigin(state, chunk.response)
      startReply(state)
      read(state, chunk)
      return takeEvents(state)
    },
    end(cause) {
      startReply(state)
      const finished = state.terminal !== undefined && state.failure === undefined
      for (const item of state.items) if (!item.final) finishItem(state, item, finished)
      const native = nativeItems(state)
      return endReply(state, { ...outcome(state, cause), native, usage: readUsage(state.response.usage) })
    },
    isDone: () => isDone(state),
  })
}

function isDone({ terminal, failure }: State): boolean {
  return terminal !== undefined || failure !== undefined
}

function learnOrigin(state: State, response: JsonObject): void {
  state.response = response
  // A server may give each event another id (checked 2026-11): the last one can be continued.
  const { origin } = state
  const replyId = stringField(response, 'id') ?? origin.replyId
  const model = origin.model || stringField(response, 'model') || ''
  state.origin = { ...origin, model, ...(replyId !== undefined && { replyId }) }
}

function read(state: State, chunk: JsonObject): void {
  const type = typeof chunk.type === 'string' ? chunk.type : ''
  const delta = deltaKinds.get(type)
  state.queued = type === 'response.queued'
  if (delta) {
    readText(state, chunk, delta.kind, stringField(chunk, delta.field) ?? '', delta.whole === true)
    return
  }
  switch (type) {
    case 'response.output_item.added':
      return readItemAdded(state, chunk)
    case 'response.output_item.done':
      return readItemDone(state, chunk)
    case 'response.content_part.added':
    case 'response.content_part.done':
      return readContentPart(state, chunk)
    case 'response.output_text.annotation.added':
      return readAnnotation(state, chunk)
    case 'response.completed':
    case 'response.incomplete':
    case 'response.cancelled':
    case 'response.failed':
      return readTerminal(state, objectField(chunk, 'response') ?? {}, type)
    case 'error': {
      const { type: _, sequence_number: __, ...flat } = chunk
      return fail(state, objectField(chunk, 'error') ?? flat, numberField(chunk, 'status'))
    }
    case '':
      if (chunk.error !== undefined && chunk.error !== null) fail(state, chunk.error, numberField(chunk, 'status'))
  }
}

function readItemAdded(state: State, chunk: JsonObject): void {
  const item = objectField(chunk, 'item')
  if (!item) return
  // Repeated by a server that does not number its events.
  const isKnown = state.items.some(
    ({ index, added, final }) => index === chunk.output_index && !final && isSame(added, item),
  )
  if (!isKnown) announce(state, numberField(chunk, 'output_index') ?? state.items.length, item)
}

function readItemDone(state: State, chunk: JsonObject): void {
  const item = objectField(chunk, 'item')
  if (!item) return
  const isFinished = state.items.some(
    ({ index, final }) => index === chunk.output_index && final && isSame(final, item),
  )
  if (!isFinished) closeItem(state, itemToClose(state, chunk, item), item)
}

function readContentPart(state: State, chunk: JsonObject): void {
  const part = objectField(chunk, 'part') ?? {}
  const kind = contentKinds.get(stringField(part, 'type') ?? '')
  if (kind) readText(state, chunk, kind, stringField(part, kind === 'refusal' ? 'refusal' : 'text') ?? '', true)
}

function readAnnotation(state: State, chunk: JsonObject): void {
  const part = contentPart(state, chunk, 'text')
  const { annotation } = chunk
  if (annotation !== undefined && annotation !== null) part.annotations.push(annotation)
}

function readTerminal(state: State, response: JsonObject, type: string): void {
  const items = objectFields(response, 'output')
  if (items.length > state.items.filter((item) => item.final).length) {
    for (const [index, item] of items.entries()) {
      const existing = state.items.find((other) => other.index === index)
      if (!existing?.final) closeItem(state, itemToClose(state, { output_index: index }, item), item)
    }
  }
  const status = stringField(response, 'status') ?? type.slice('response.'.length)
  state.terminal = { ...response, status }
  if (status === 'failed') fail(state, objectField(response, 'error') ?? { message: 'The response failed.' }, undefined)
}

function fail(state: State, error: Json, status: number | undefined): void {
  state.failure = readFailure({
    body: isObject(error) ? { error } : error,
    ...(status !== undefined && { status }),
    provider: state.origin.provider,
  })
}

function outcome({ failure, terminal, items, queued }: State, cause: EndCause | undefined): Outcome {
  if (failure) return { stop: { reason: 'failed', raw: stringField(terminal ?? {}, 'status') ?? 'error' }, failure }
  const parts = items.flatMap((item) => item.parts.map(({ part }) => part))
  if (terminal) return { stop: readStop(terminal, parts) }
  return queued && !cause ? { stop: { reason: 'paused', raw: 'queued' } } : stopAfterInterruption(cause)
}

/** Why a reply ended. The wire has no reason for tool calls: they are a completed response with a call in it. */
function readStop(response: JsonObject, parts: readonly Part[]): Stop {
  const status = stringField(response, 'status') ?? 'completed'
  if (status === 'incomplete') {
    const raw = stringField(objectField(response, 'incomplete_details') ?? {}, 'reason') ?? status
    return { reason: incompleteReasons.get(raw) ?? 'interrupted', raw }
  }
  if (status === 'cancelled') return { reason: 'cancelled', raw: status }
  if (status === 'queued' || status === 'in_progress') return { reason: 'paused', raw: status }
  if (parts.some((part) => part.type === 'tool-call')) return { reason: 'tool-calls', raw: status }
  if (parts.some((part) => part.type === 'refusal')) return { reason: 'refusal', raw: status }
  return { reason: 'done', raw: status }
}

const incompleteReasons = new Map<string, StopReason>([
  ['max_output_tokens', 'length'],
  ['max_messages', 'length'],
  ['length', 'length'],
  ['content_filter', 'refusal'],
  ['steered', 'paused'],
])

/**
 * Tokens as the Responses wire counts them: cached and written tokens are shares of `input_tokens`. At xAI the cached
 * ones can exceed the input; then the input does not include them.
 */
export function readUsage(raw: Json | undefined): Usage | undefined {
  if (!isObject(raw)) return undefined
  const details = objectField(raw, 'input_tokens_details') ?? {}
  const cacheRead = countIn(details.cached_tokens)
  const cacheWrite = countIn(details.cache_write_tokens)
  const input = countIn(raw.input_tokens)
  return {
    input: cacheRead > input ? input + cacheRead : input,
    output: countIn(raw.output_tokens),
    cacheRead,
    cacheWrite,
    reasoning: countIn(objectField(raw, 'output_tokens_details')?.reasoning_tokens),
    raw,
  }
}

/**
 * Whether an event was already seen, by its `sequence_number`. A server that gives one number to events of two types
 * does not number them properly, and is not checked again.
 */
function duplicates(): (chunk: JsonObject) => boolean {
  const types: (string | undefined)[] = []
  let counts = true
  return (chunk) => {
    const number = chunk.sequence_number
    if (!counts || typeof number !== 'number' || number < 0) return false
    const type = typeof chunk.type === 'string' ? chunk.type : ''
    const previous = types[number]
    types[number] = type
    if (previous !== undefined && previous !== type) counts = false
    return counts && previous !== undefined
  }
}
