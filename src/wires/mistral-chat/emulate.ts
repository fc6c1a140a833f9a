// What Mistral would have sent: a reply, complete or as the chunks of a stream, and its errors.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Reply, StopReason } from '../../core/message.ts'
import { assistantMessage } from '../message-list/emulate.ts'
import { splitText } from '../shared/text.ts'
import type { Issue, WholeProfile } from '../wire.ts'
import { emptyChunks } from './decode.ts'
import { callIdGrammar, type Chunk, protocolId, textChunk, thinkingChunk } from './types.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const { usage } = profile
  return {
    id: profile.replyId,
    object: 'chat.completion',
    created: profile.createdAt,
    model: profile.model,
    choices: [
      {
        index: 0,
        message: messageOf(reply),
        finish_reason: finishReasons[reply.stop.reason] ?? 'stop',
      },
    ],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cacheRead },
    },
  }
}

export function messageOf(reply: Reply): JsonObject {
  return assistantMessage(reply, protocolId, callIdGrammar, messageFromParts)
}

const finishReasons: Partial<Record<StopReason, string>> = {
  done: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  failed: 'error',
}

/** An assistant message in the service's form; what this wire does not support is left out. */
export function messageFromParts(reply: Reply, idOf: (callId: string) => string): JsonObject {
  const chunks: Chunk[] = []
  const calls: JsonObject[] = []
  for (const part of reply.parts) {
    if (part.type === 'text' || part.type === 'refusal') chunks.push(textChunk(part.text))
    else if (part.type === 'reasoning') chunks.push(thinkingChunk(part.text))
    else if (part.type === 'opaque' && part.kind.startsWith(`${protocolId}/`) && isObject(part.data))
      chunks.push(part.data)
    else if (part.type === 'tool-call') {
      const args = part.malformed ?? JSON.stringify(part.input)
      calls.push({ id: idOf(part.callId), function: { name: part.name, arguments: args }, index: calls.length })
    }
  }
  const [only] = chunks
  const content = chunks.length === 0 ? '' : chunks.length === 1 && only?.type === 'text' ? (only.text ?? '') : chunks
  return { role: 'assistant', tool_calls: calls.length > 0 ? calls : null, content }
}

/** A body that does not match the schema gets 422 with a list of places; everything else one message with a code. */
export function errorBody(issue: Issue): Json {
  if (issue.status === 422) {
    const loc = (issue.param ?? 'body').split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    return { detail: [{ type: issue.type ?? 'value_error', loc, msg: issue.message }] }
  }
  return {
    object: 'error',
    message: issue.message,
    type: issue.type ?? 'invalid_request_error',
    param: issue.param ?? null,
    code: issue.code ?? null,
  }
}

/** Calls are complete, as the service sends them; text and thinking arrive in pieces. */
export function split(body: Json, piece = 40): Json[] {
  if (!isObject(body) || !Array.isArray(body.choices)) return [body]
  const choice = body.choices.find(isObject)
  const message = choice && isObject(choice.message) ? choice.message : {}
  const { choices: _, usage, ...head } = body
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

function* contentDeltas(content: Json | undefined, piece: number): Generator<JsonObject> {
  if (typeof content === 'string') for (const text of splitText(content, piece)) yield { content: text }
  if (!Array.isArray(content)) return
  let previous: Json | undefined
  for (const chunk of content) {
    const type = isObject(chunk) ? chunk.type : undefined
    const pieces = isObject(chunk) ? [...chunkPieces(chunk, piece)] : [chunk]
    for (const [index, part] of pieces.entries()) {
      // Two adjacent ones of the same type would be merged: an empty one in the same delta marks the start of a new
      // one.
      const border = index === 0 && typeof type === 'string' && type === previous ? emptyChunks[type] : undefined
      yield { content: border ? [border, part] : [part] }
    }
    previous = type
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
