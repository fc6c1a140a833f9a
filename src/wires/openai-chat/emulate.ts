// What the API would have sent: a reply, complete or as the chunks of a stream, and its errors.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { type Part, type Reply, type StopReason, textOf, type ToolCallPart } from '../../core/message.ts'
import { textOfCall } from '../../core/tool-kinds.ts'
import { dataUrl } from '../shared/media.ts'
import { splitText } from '../shared/text.ts'
import type { WholeProfile } from '../wire.ts'
import { foreignCall, protocolId } from './types.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const [native] = reply.native
  const isNative = reply.origin.protocol === protocolId
  // OpenAI's clients expect the field, and have null where nothing was refused.
  const message = isNative && isObject(native) ? native : { refusal: null, ...messageFromParts(reply.parts) }
  const refused = typeof message.refusal === 'string' && message.refusal !== ''
  const raw = isNative ? reply.stop.raw : undefined
  return {
    id: profile.replyId,
    object: 'chat.completion',
    created: profile.createdAt,
    model: profile.model,
    // OpenRouter's client requires the field, which is text in OpenAI's API.
    system_fingerprint: 'fp_synapse',
    choices: [{ index: 0, message, logprobs: null, finish_reason: raw ?? finishReason(reply.stop.reason, refused) }],
    usage: {
      prompt_tokens: profile.usage.input,
      completion_tokens: profile.usage.output,
      total_tokens: profile.usage.input + profile.usage.output,
      prompt_tokens_details: {
        cached_tokens: profile.usage.cacheRead,
        ...(profile.usage.cacheWrite > 0 && { cache_write_tokens: profile.usage.cacheWrite }),
      },
      completion_tokens_details: { reasoning_tokens: profile.usage.reasoning },
    },
  }
}

/** What the wire supports: text, reasoning under its most common name, a refusal, images, calls, server tools. */
export function messageFromParts(parts: readonly Part[]): JsonObject {
  const text = textOf(parts)
  const message: JsonObject = { role: 'assistant', content: text === '' ? null : text }
  const reasoning: string[] = []
  const refusals: string[] = []
  const lists: { [field: string]: Json[] } = {}
  const add = (field: string, entry: Json) => (lists[field] ??= []).push(entry)

  for (const part of parts) {
    switch (part.type) {
      case 'text':
        for (const citation of part.citations ?? []) add('annotations', citation)
        break
      case 'reasoning':
        reasoning.push(part.text)
        break
      case 'refusal':
        refusals.push(part.text)
        break
      case 'tool-call':
        add('tool_calls', callOf(part))
        break
      case 'media':
        if (part.data.kind === 'base64' || part.data.kind === 'url') {
          const url = part.data.kind === 'url' ? part.data.url : dataUrl(part.mediaType, part.data.base64)
          add('images', { type: 'image_url', image_url: { url } })
        }
        break
      case 'server-tool':
        add('executed_tools', {
          type: part.name,
          index: lists.executed_tools?.length ?? 0,
          ...(part.input !== undefined && { arguments: JSON.stringify(part.input) }),
          ...(part.output !== undefined && { output: part.output }),
        })
        break
      case 'opaque':
        if (part.kind.startsWith(foreignCall) && isObject(part.data)) add('tool_calls', part.data)
        break
      default:
        break
    }
  }
  if (reasoning.length > 0) message.reasoning_content = reasoning.join('')
  if (refusals.length > 0) message.refusal = refusals.join('')
  return { ...message, ...lists }
}

function callOf(part: ToolCallPart): JsonObject {
  const { callId: id, name, kind, malformed, input } = part
  if (kind === 'free-form') return { id, type: 'custom', custom: { name, input: textOfCall(part) } }
  return { id, type: 'function', function: { name, arguments: malformed ?? JSON.stringify(input) } }
}

/**
 * Splits a complete reply into the chunks that would have carried it, so that there is one way of decoding. Growing
 * fields are split into pieces; every other field is sent once, unchanged.
 */
export function split(body: Json, piece = Number.POSITIVE_INFINITY): Json[] {
  if (!isObject(body) || !Array.isArray(body.choices)) return [body]
  if (!body.choices.some((choice) => isObject(choice) && isObject(choice.message))) return [body]

  const { choices, usage, object: _object, ...about } = body
  const { id, created, model } = about
  const head: JsonObject = { id, object: 'chat.completion.chunk', created, model }
  const chunks: Json[] = []
  for (const [position, choice] of choices.entries()) {
    if (!isObject(choice) || !isObject(choice.message)) continue
    const { message, finish_reason, index = position, ...rest } = choice
    for (const delta of deltas(message, piece)) {
      const first = chunks.length === 0 ? { ...about, ...head } : head
      chunks.push({ ...first, choices: [{ index, delta, finish_reason: null }] })
    }
    chunks.push({ ...head, choices: [{ index, delta: {}, ...rest, finish_reason: finish_reason ?? null }] })
  }
  if (usage !== undefined) chunks.push({ ...head, choices: [], usage })
  return chunks
}

const cutFields = ['reasoning_content', 'reasoning', 'content', 'refusal'] as const

function* deltas(message: JsonObject, piece: number): Generator<JsonObject> {
  const { role: _role, content, reasoning_details, tool_calls, function_call, ...rest } = message
  const opening = typeof content === 'string' ? { content: '' } : content === null ? { content } : {}
  const refusal = message.refusal === null && { refusal: null }
  yield { role: 'assistant', ...opening, ...refusal }
  for (const field of ['reasoning_content', 'reasoning'] as const) yield* splitField(message, field, piece)
  if (reasoning_details !== undefined) yield { reasoning_details }
  if (content !== undefined && content !== null && typeof content !== 'string') yield { content }
  for (const field of ['content', 'refusal'] as const) yield* splitField(message, field, piece)

  const once: JsonObject = {}
  for (const [field, value] of Object.entries(rest)) {
    const isCut = typeof value === 'string' && value !== '' && cutFields.some((name) => name === field)
    if (!isCut && !(field === 'refusal' && value === null)) once[field] = value
  }
  if (function_call === null) once.function_call = null
  if (tool_calls !== undefined && !(Array.isArray(tool_calls) && tool_calls.length > 0)) once.tool_calls = tool_calls
  if (Object.keys(once).length > 0) yield once

  if (Array.isArray(tool_calls)) {
    for (const [index, call] of tool_calls.entries()) if (isObject(call)) yield* callDeltas(call, index, piece)
  }
  if (isObject(function_call)) yield* legacyDeltas(function_call, piece)
}

function* splitField(message: JsonObject, field: (typeof cutFields)[number], piece: number): Generator<JsonObject> {
  const text = message[field]
  if (typeof text === 'string') for (const part of splitText(text, piece)) yield { [field]: part }
}

function* callDeltas(call: JsonObject, index: number, piece: number): Generator<JsonObject> {
  const { function: fn, custom } = call
  if (isObject(fn)) {
    yield { tool_calls: [{ ...call, index, function: { ...fn, arguments: '' } }] }
    for (const part of splitText(argumentText(fn.arguments), piece)) {
      yield { tool_calls: [{ index, function: { arguments: part } }] }
    }
  } else if (isObject(custom)) {
    yield { tool_calls: [{ ...call, index, custom: { ...custom, input: '' } }] }
    for (const part of splitText(argumentText(custom.input), piece))
      yield { tool_calls: [{ index, custom: { input: part } }] }
  } else {
    yield { tool_calls: [{ ...call, index }] }
  }
}

function* legacyDeltas(call: JsonObject, piece: number): Generator<JsonObject> {
  yield { function_call: { ...call, arguments: '' } }
  for (const part of splitText(argumentText(call.arguments), piece)) yield { function_call: { arguments: part } }
}

function argumentText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

function finishReason(reason: StopReason, hasRefusal: boolean): string {
  if (reason === 'length') return 'length'
  if (reason === 'tool-calls') return 'tool_calls'
  if (reason === 'refusal' && !hasRefusal) return 'content_filter'
  return reason === 'failed' ? 'error' : 'stop'
}
