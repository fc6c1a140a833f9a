// Mistral's chunks in, reply events out, and a whole reply cut into such chunks.
//
// Content comes as a string or as a list of chunks, and one stream changes from one to the other. A thinking chunk says
// `closed: true` on every delta, also on the first of many (checked 2026-11): only what follows it ends it.

import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, StopReason } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import { readFailure } from '../shared/failure.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { splitText } from '../shared/text.ts'
import { assembling } from './assemble.ts'

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const message = assembling(options)
  let from = origin
  let started = false
  let ended = false
  let finish: string | undefined
  let usage: Usage | undefined
  let failure: Failure | undefined

  function push(chunk: Json): ReplyEvent[] {
    if (ended || !isObject(chunk)) return []
    const events: ReplyEvent[] = []
    if (!started) events.push(start(chunk))
    if (isError(chunk)) {
      failure ??= readFailure({ body: chunk, provider: origin.provider })
      return events
    }
    const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : []
    const choice = choices.find((candidate) => candidate.index === undefined || candidate.index === 0)
    if (choice && isObject(choice.delta)) events.push(...message.add(choice.delta))
    if (choice && typeof choice.finish_reason === 'string') finish = choice.finish_reason
    if (isObject(chunk.usage)) usage = readUsage(chunk.usage)
    return events
  }

  function start(chunk: JsonObject): ReplyEvent {
    started = true
    from = {
      ...origin,
      model: origin.model || (typeof chunk.model === 'string' ? chunk.model : ''),
      ...(typeof chunk.id === 'string' && { replyId: chunk.id }),
    }
    return { type: 'reply-start', origin: from }
  }

  function end(cause?: EndCause): ReplyEvent[] {
    if (ended) return []
    ended = true
    const events: ReplyEvent[] = started ? [] : [{ type: 'reply-start', origin: from }]
    const whole = finish !== undefined && failure === undefined
    const assembled = message.end(whole)
    const outcome = whole ? finished(finish ?? '', assembled.calls > 0) : broken(cause)
    events.push(...assembled.events, {
      type: 'reply-end',
      origin: from,
      stop: outcome.stop,
      native: assembled.native ? [assembled.native] : [],
      ...(usage && { usage }),
      ...(outcome.failure && { failure: outcome.failure }),
    })
    return events
  }

  function broken(cause: EndCause | undefined): Outcome {
    if (failure) return { stop: { reason: 'failed' }, failure }
    return stopAfterInterruption(cause)
  }

  return {
    push,
    end,
    get done() {
      return finish !== undefined && usage !== undefined
    },
  }
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
    input: count(usage.prompt_tokens),
    output: count(usage.completion_tokens),
    // `num_cached_tokens` until early 2026, `prompt_tokens_details` since.
    cacheRead: count(prompt.cached_tokens) || count(usage.num_cached_tokens),
    cacheWrite: 0,
    reasoning: count(completion.reasoning_tokens),
    raw: usage,
  }
}

function count(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}

/** Calls come whole, as the service sends them; text and thinking come in pieces. */
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

/** The calls of a whole message are as many as they are, whatever index each of them has. */
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
      // Two neighbours of one type would run together: an empty one in the same delta says that a new one begins.
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
