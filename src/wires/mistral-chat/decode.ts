// Mistral's chunks in, reply events out, and a complete reply split into such chunks.
//
// Content comes as a string or as a list of chunks, and one stream changes from one to the other. A thinking chunk has
// `closed: true` on every delta, even on the first of many (checked 2026-11): only the next chunk ends it.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, StopReason } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { decoding, endReply, startReply, takeEvents } from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { splitText } from '../shared/text.ts'
import { addDelta, assembling, endMessage, type Assembly } from './assemble.ts'
import { numberIn } from '../shared/json-fields.ts'

interface State extends Assembly {
  ended: boolean
  finish: string | undefined
  usage: Usage | undefined
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = {
    ...assembling(decoding(origin, options)),
    ended: false,
    finish: undefined,
    usage: undefined,
  }
  return {
    push(chunk) {
      if (!state.ended && isObject(chunk)) read(state, chunk)
      return takeEvents(state)
    },
    end(cause) {
      if (state.ended) return []
      state.ended = true
      startReply(state)
      const whole = state.finish !== undefined && state.failure === undefined
      const { native, calls } = endMessage(state, whole)
      const outcome = whole ? finished(state.finish ?? '', calls > 0) : unfinished(state, cause)
      return endReply(state, { ...outcome, native, usage: state.usage })
    },
    get done() {
      return state.finish !== undefined && state.usage !== undefined
    },
  }
}

function read(state: State, chunk: JsonObject): void {
  if (!state.started) learnOrigin(state, chunk)
  startReply(state)
  if (isError(chunk)) {
    state.failure ??= readFailure({ body: chunk, provider: state.origin.provider })
    return
  }
  const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : []
  const choice = choices.find((candidate) => candidate.index === undefined || candidate.index === 0)
  if (choice && isObject(choice.delta)) addDelta(state, choice.delta)
  if (choice && typeof choice.finish_reason === 'string') state.finish = choice.finish_reason
  if (isObject(chunk.usage)) state.usage = readUsage(chunk.usage)
}

function learnOrigin(state: State, { id, model }: JsonObject): void {
  state.origin = {
    ...state.origin,
    model: state.origin.model || (typeof model === 'string' ? model : ''),
    ...(typeof id === 'string' && { replyId: id }),
  }
}

function unfinished({ failure }: State, cause: EndCause | undefined): Outcome {
  return failure ? { stop: { reason: 'failed' }, failure } : stopAfterInterruption(cause)
}

const reasons: Record<string, StopReason> = {
  stop: 'done',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'refusal',
  error: 'failed',
}

function finished(raw: string, hasCalls: boolean): Outcome {
  const reason = reasons[raw] ?? 'done'
  if (reason === 'failed') {
    const message = 'The provider ended the reply with finish_reason "error".'
    return { stop: { reason, raw }, failure: { kind: 'malformed-reply', message } }
  }
  if (reason === 'tool-calls' && !hasCalls) return { stop: { reason: 'done', raw } }
  return { stop: { reason: reason === 'done' && hasCalls ? 'tool-calls' : reason, raw } }
}

function isError(chunk: JsonObject): boolean {
  if (chunk.choices !== undefined) return false
  return chunk.object === 'error' || chunk.error !== undefined || chunk.detail !== undefined
}

function readUsage(usage: JsonObject): Usage {
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  return {
    input: numberIn(usage.prompt_tokens),
    output: numberIn(usage.completion_tokens),
    // `num_cached_tokens` until early 2026, `prompt_tokens_details` since.
    cacheRead: numberIn(prompt.cached_tokens) || numberIn(usage.num_cached_tokens),
    cacheWrite: 0,
    reasoning: numberIn(completion.reasoning_tokens),
    raw: usage,
  }
}

/** Calls are complete, as the service sends them; text and thinking arrive in pieces. */
export function split(whole: Json, piece = 40): Json[] {
  if (!isObject(whole) || !Array.isArray(whole.choices)) return [whole]
  const choice = whole.choices.find(isObject)
  const message = choice && isObject(choice.message) ? choice.message : {}
  const { choices: _, usage, ...head } = whole
  const chunk = (delta: JsonObject, rest: JsonObject = {}, finish: Json = null): JsonObject => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...rest,
  })

  const { content, tool_calls: calls, ...others } = message
  const opening = typeof content === 'string' ? { content: '' } : content === null ? { content } : {}
  const chunks = [chunk({ ...others, ...opening })]
  for (const delta of contentDeltas(content, piece)) chunks.push(chunk(delta))
  if (Array.isArray(calls)) for (const call of withPositions(calls)) chunks.push(chunk({ tool_calls: [call] }))
  const finish = choice?.finish_reason ?? null
  chunks.push(chunk({}, { ...(usage !== undefined && { usage }) }, finish))
  return chunks
}

/** The calls of a complete message are all separate, whatever their index. */
function withPositions(calls: readonly Json[]): Json[] {
  const indexes = new Set(calls.map((call) => (isObject(call) ? call.index : undefined)))
  if (indexes.size === calls.length) return [...calls]
  return calls.map((call, index) => (isObject(call) ? { ...call, index } : call))
}

const emptyChunks: Record<string, JsonObject> = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: [] },
}

function* contentDeltas(content: Json | undefined, piece: number): Generator<JsonObject> {
  if (typeof content === 'string') for (const text of splitText(content, piece)) yield { content: text }
  if (!Array.isArray(content)) return
  let before: Json | undefined
  for (const chunk of content) {
    const type = isObject(chunk) ? chunk.type : undefined
    const cut = isObject(chunk) ? [...chunkPieces(chunk, piece)] : [chunk]
    for (const [index, part] of cut.entries()) {
      // Two adjacent ones of the same type would be merged: an empty one in the same delta marks the start of a new
      // one.
      const border = index === 0 && typeof type === 'string' && type === before ? emptyChunks[type] : undefined
      yield { content: border ? [border, part] : [part] }
    }
    before = type
  }
}

function* chunkPieces(chunk: JsonObject, piece: number): Generator<JsonObject> {
  if (chunk.type === 'text' && typeof chunk.text === 'string') {
    if (chunk.text === '') yield chunk
    for (const text of splitText(chunk.text, piece)) yield { ...chunk, text }
  } else if (chunk.type === 'thinking' && Array.isArray(chunk.thinking) && chunk.thinking.length > 0) {
    for (const item of chunk.thinking) {
      const text = isObject(item) && item.type === 'text' && typeof item.text === 'string' ? item.text : ''
      if (text === '') yield { ...chunk, thinking: [item] }
      for (const part of splitText(text, piece)) yield { ...chunk, thinking: [{ ...(item as JsonObject), text: part }] }
    }
  } else yield chunk
}
