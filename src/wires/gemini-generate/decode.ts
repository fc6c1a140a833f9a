// A stream of generateContent. There is no last event: a chunk with a `finishReason` completes the answer, and a stream
// without one was cut off. Errors come as chunks, sometimes wrapped in a list.

import type { Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, StopReason } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import {
  addPart,
  decoderOf,
  createDecoding,
  endReply,
  startReply,
  takeEvents,
  failedWith,
  type Outcome,
  stopAfterInterruption,
} from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { countIn, valuesIn } from '../shared/json-fields.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { closeContent, type Content, emptyContent, nativeParts, readPart } from './read-reply.ts'
import { aboutTheAnswer, protocolId } from './types.ts'

interface State extends Content {
  /** Metadata of candidates, by field. */
  readonly about: Map<string, Json[]>
  /** How the provider ended the reply. */
  finish: { raw: string; message?: string; blocked: boolean } | undefined
  usage: JsonObject | undefined
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = {
    ...emptyContent(createDecoding(origin, options)),
    about: new Map(),
    finish: undefined,
    usage: undefined,
  }
  return decoderOf({
    push(chunk) {
      for (const item of valuesIn(chunk)) if (isObject(item)) read(state, item)
      return takeEvents(state)
    },
    end(cause) {
      startReply(state)
      const { usage } = state
      const ended = outcome(state, cause)
      finishParts(state)
      return endReply(state, { ...ended, native: nativeParts(state), usage: usage && readUsage(usage) })
    },
    isDone: () => state.finish !== undefined || state.failure !== undefined,
  })
}

function read(state: State, chunk: JsonObject): void {
  const { responseId, modelVersion, usageMetadata, promptFeedback } = chunk
  if (typeof responseId === 'string' && responseId !== '') state.origin = { ...state.origin, replyId: responseId }
  if (typeof modelVersion === 'string' && state.origin.model === '') {
    state.origin = { ...state.origin, model: modelVersion }
  }
  startReply(state)
  if (chunk.error !== undefined && chunk.error !== null) {
    state.failure = readFailure({ body: chunk, provider: state.origin.provider })
    return
  }
  // The last counts apply; on most chunks Vertex has only the kind of traffic here.
  if (isObject(usageMetadata) && typeof usageMetadata.promptTokenCount === 'number') state.usage = usageMetadata
  if (isObject(promptFeedback) && typeof promptFeedback.blockReason === 'string') {
    state.finish = { ...finishWith(promptFeedback.blockReason, promptFeedback.blockReasonMessage), blocked: true }
  }
  const candidate = valuesIn(chunk.candidates).find((item) => isObject(item) && (item.index ?? 0) === 0)
  if (isObject(candidate)) readCandidate(state, candidate)
}

function readCandidate(state: State, candidate: JsonObject): void {
  const { content, finishReason, finishMessage } = candidate
  let head = true
  for (const part of isObject(content) ? valuesIn(content.parts) : []) if (readPart(state, part, head)) head = false
  for (const key of aboutTheAnswer) {
    const value = candidate[key]
    if (value === undefined || value === null) continue
    const values = state.about.get(key)
    if (values) values.push(value)
    else state.about.set(key, [value])
  }
  if (typeof finishReason === 'string' && finishReason !== 'FINISH_REASON_UNSPECIFIED') {
    state.finish = { ...finishWith(finishReason, finishMessage), blocked: false }
  }
}

function finishWith(raw: string, message: Json | undefined): { raw: string; message?: string } {
  return { raw, ...(typeof message === 'string' && { message }) }
}

function finishParts(state: State): void {
  const { about, finish } = state
  const citations = [...(about.get('groundingMetadata') ?? []), ...(about.get('citationMetadata') ?? [])]
  const cited = closeContent(state, citations)
  for (const [key, values] of about) {
    if (cited && (key === 'groundingMetadata' || key === 'citationMetadata')) continue
    const data = values.length === 1 ? values[0] : values
    addPart(state, { type: 'opaque', kind: `${protocolId}/${key}`, ...(data !== undefined && { data }) })
  }
  // Only if the model produced nothing: the provider's text about a refusal is not the model's.
  const refused = finish !== undefined && (finish.blocked || stopReason(finish.raw) === 'refusal')
  if (refused && finish.message !== undefined && state.parts === 0) {
    addPart(state, { type: 'refusal', text: finish.message })
  }
}

function outcome({ failure, finish, calls }: State, cause: EndCause | undefined): Outcome {
  if (failure) return failedWith(failure)
  if (!finish) return stopAfterInterruption(cause)
  const { raw, message, blocked } = finish
  const reason = blocked ? 'refusal' : stopReason(raw)
  if (reason === 'failed') return { stop: { reason, raw }, failure: badFinish(raw, message) }
  return { stop: { reason: reason === 'done' && calls > 0 ? 'tool-calls' : reason, raw } }
}

function stopReason(finish: string): StopReason {
  return reasons[finish] ?? 'failed'
}

/** Checked 2026-11. A reply with any other reason has no usable answer. */
export const reasons: Partial<Record<string, StopReason>> = {
  STOP: 'done',
  MAX_TOKENS: 'length',
  CONTINUATION: 'paused',
  SAFETY: 'refusal',
  RECITATION: 'refusal',
  LANGUAGE: 'refusal',
  BLOCKLIST: 'refusal',
  PROHIBITED_CONTENT: 'refusal',
  SPII: 'refusal',
  MODEL_ARMOR: 'refusal',
  IMAGE_SAFETY: 'refusal',
  IMAGE_PROHIBITED_CONTENT: 'refusal',
  IMAGE_RECITATION: 'refusal',
}

/** A malformed call, an invented tool: the same request often succeeds the next time. */
function badFinish(finish: string, message: string | undefined): Failure {
  const detail = message === undefined ? '' : `: ${message}`
  return { kind: 'malformed-reply', message: `The model's answer ended with ${finish}${detail}`, code: finish }
}

// Tokens on this wire: the prompt count includes the cached part, but not what server tools added to the prompt, and
// thoughts are counted separately from the candidates (checked 2026-11: the four add up to the total).

function readUsage(raw: JsonObject): Usage {
  const thoughts = countIn(raw.thoughtsTokenCount)
  return {
    input: countIn(raw.promptTokenCount) + countIn(raw.toolUsePromptTokenCount),
    output: countIn(raw.candidatesTokenCount) + thoughts,
    cacheRead: countIn(raw.cachedContentTokenCount),
    cacheWrite: 0,
    reasoning: thoughts,
    raw,
  }
}
