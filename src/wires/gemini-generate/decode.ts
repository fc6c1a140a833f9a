// A stream of generateContent. There is no last event: a chunk with a `finishReason` makes the answer complete, and a
// stream that ends without one was cut off. Errors come as chunks, sometimes wrapped in a list.

import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin } from '../../core/message.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import { readFailure } from '../shared/failure.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { splitText } from '../shared/text.ts'
import { partReader } from './read-parts.ts'
import { badFinish, stopReason } from './stop.ts'
import { readUsage } from './usage.ts'
import { aboutTheAnswer, listOf, protocolId } from './types.ts'

export function decoder(given: Origin, options?: DecoderOptions): Decoder {
  let origin = given
  let events: ReplyEvent[] = []
  let started = false
  let ended: { raw: string; message?: string; blocked: boolean } | undefined
  let failure: Failure | undefined
  let usage: JsonObject | undefined
  const about = new Map<string, Json[]>()
  const reader = partReader((event) => events.push(event), options)

  return {
    push(chunk) {
      for (const item of listOf(chunk)) if (isObject(item)) readChunk(item)
      return taken()
    },
    end(cause) {
      start()
      const { stop, failure: wrong } = outcome(cause)
      finishParts()
      events.push({
        type: 'reply-end',
        origin,
        stop,
        native: reader.native,
        ...(usage && { usage: readUsage(usage) }),
        ...(wrong && { failure: wrong }),
      })
      return taken()
    },
    get done() {
      return ended !== undefined || failure !== undefined
    },
  }

  function taken(): ReplyEvent[] {
    const all = events
    events = []
    return all
  }

  function start(): void {
    if (started) return
    started = true
    events.push({ type: 'reply-start', origin })
  }

  function readChunk(chunk: JsonObject): void {
    const { responseId, modelVersion, usageMetadata, promptFeedback } = chunk
    if (typeof responseId === 'string' && responseId !== '') origin = { ...origin, replyId: responseId }
    if (typeof modelVersion === 'string' && origin.model === '') origin = { ...origin, model: modelVersion }
    start()
    if (chunk.error !== undefined && chunk.error !== null) {
      failure = readFailure({ body: chunk, provider: origin.provider })
      return
    }
    // The last counts hold; on most chunks Vertex has only the kind of traffic in this place.
    if (isObject(usageMetadata) && typeof usageMetadata.promptTokenCount === 'number') usage = usageMetadata
    if (isObject(promptFeedback) && typeof promptFeedback.blockReason === 'string') {
      const message = promptFeedback.blockReasonMessage
      ended = { raw: promptFeedback.blockReason, blocked: true, ...(typeof message === 'string' && { message }) }
    }
    const candidate = listOf(chunk.candidates).find((item) => isObject(item) && (item.index ?? 0) === 0)
    if (isObject(candidate)) readCandidate(candidate)
  }

  function readCandidate(candidate: JsonObject): void {
    const { content, finishReason, finishMessage } = candidate
    let head = true
    for (const part of isObject(content) ? listOf(content.parts) : []) if (reader.read(part, head)) head = false
    for (const key of aboutTheAnswer) {
      const value = candidate[key]
      if (value === undefined || value === null) continue
      const values = about.get(key)
      if (values) values.push(value)
      else about.set(key, [value])
    }
    if (typeof finishReason === 'string' && finishReason !== 'FINISH_REASON_UNSPECIFIED') {
      ended = {
        raw: finishReason,
        blocked: false,
        ...(typeof finishMessage === 'string' && { message: finishMessage }),
      }
    }
  }

  function outcome(cause: EndCause | undefined): Outcome {
    if (failure) return { stop: { reason: 'failed', ...(failure.code && { raw: failure.code }) }, failure }
    if (ended) {
      const { raw, message, blocked } = ended
      const reason = blocked ? 'refusal' : stopReason(raw)
      if (reason === 'failed') return { stop: { reason, raw }, failure: badFinish(raw, message) }
      return { stop: { reason: reason === 'done' && reader.calls > 0 ? 'tool-calls' : reason, raw } }
    }
    return stopAfterInterruption(cause)
  }

  function finishParts(): void {
    const citations = [...(about.get('groundingMetadata') ?? []), ...(about.get('citationMetadata') ?? [])]
    const cited = reader.close(citations)
    for (const [key, values] of about) {
      if (cited && (key === 'groundingMetadata' || key === 'citationMetadata')) continue
      const data = values.length === 1 ? values[0] : values
      reader.add({ type: 'opaque', kind: `${protocolId}/${key}`, ...(data !== undefined && { data }) })
    }
    // Only where the model said nothing: the provider's words about a refusal are not the model's.
    const refused = ended !== undefined && (ended.blocked || stopReason(ended.raw) === 'refusal')
    if (refused && ended?.message !== undefined && reader.count === 0) {
      reader.add({ type: 'refusal', text: ended.message })
    }
  }
}

/** Two texts of one answer stay two: the end of the first and the head of the second travel in one chunk. */
export function split(whole: Json, piece = Number.POSITIVE_INFINITY): Json[] {
  if (Array.isArray(whole)) return whole
  if (!isObject(whole)) return [whole]
  const [first, ...others] = listOf(whole.candidates)
  if (!isObject(first) || !hasParts(first)) return [whole]
  const { content, index = 0, ...said } = first
  const { parts: all, ...role } = content
  const { candidates: _, usageMetadata, promptFeedback, ...frame } = whole

  const chunks: Json[][] = [[]]
  for (const part of all) {
    const [head, ...tail] = cut(part, piece)
    if (head !== undefined) chunks.at(-1)?.push(head)
    for (const more of tail) chunks.push([more])
  }
  return chunks.map((parts, place): Json => {
    const last = place === chunks.length - 1
    const candidate = { content: { ...role, parts }, ...(last && said), index }
    return {
      candidates: last ? [candidate, ...others] : [candidate],
      ...(last && usageMetadata !== undefined && { usageMetadata }),
      ...(last && promptFeedback !== undefined && { promptFeedback }),
      ...frame,
    }
  })
}

function hasParts(candidate: JsonObject): candidate is JsonObject & { content: JsonObject & { parts: Json[] } } {
  return isObject(candidate.content) && Array.isArray(candidate.content.parts)
}

/** A signature belongs to its text as it is, so that text is not cut. */
function cut(part: Json, piece: number): Json[] {
  if (!isObject(part) || typeof part.text !== 'string' || part.text.length <= piece) return [part]
  if (!Object.keys(part).every((key) => key === 'text' || key === 'thought')) return [part]
  return [...splitText(part.text, piece)].map((text) => ({ ...part, text }))
}
