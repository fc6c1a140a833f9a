// A reply as one assistant message: its native data if this host wrote it, otherwise built from its parts. Content and
// calls stay together; reasoning is sent back only if the host accepts it, and never becomes text.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { OpaquePart, Reply } from '../../core/message.ts'
import { type Item, textPart, type Encoding } from '../message-list/dialect.ts'
import { sendableCalls } from '../message-list/encode-reply.ts'
import { cleanJson } from '../shared/clean-json.ts'
import type { Target } from '../wire.ts'
import { replayableDetails } from './read-reply.ts'
import { foreignCall, protocolId, reasoningFields, replyOnlyFields } from './types.ts'
import { objectIn } from '../shared/json-fields.ts'

export function replay(reply: Reply, native: JsonObject, at: string, encoding: Encoding): JsonObject | undefined {
  const message: JsonObject = { role: 'assistant' }
  const dropped: string[] = []
  for (const [field, value] of Object.entries(native)) {
    if (handled.has(field) || value === null || value === undefined) continue
    if (replyOnlyFields.has(field) || (field === 'images' && !takesImages(encoding.target))) {
      if (!isEmpty(value)) dropped.push(field)
    } else if (field === 'audio') {
      if (isObject(value) && typeof value.id === 'string') message.audio = { id: value.id }
    } else message[field] = value
  }
  if (dropped.length > 0) {
    const why = 'the wire sends it but does not accept it'
    encoding.notes.push({ kind: 'dropped', what: dropped.join(', '), why, at })
  }
  const calls = sendableCalls(reply, native, at, encoding)
  if (typeof native.content === 'string' || Array.isArray(native.content)) message.content = native.content
  else if (calls.length > 0 && native.content === null)
    message.content = encoding.target.quirks.stringContent ? '' : null
  const encoded = calls.length > 0 ? { ...message, tool_calls: calls } : withText(message, encoding)
  return encoded && { ...encoded, ...echoedReasoning(reply, calls.length > 0, at, encoding) }
}

/** A reply without calls must have content. */
function withText(message: JsonObject, encoding: Encoding): JsonObject | undefined {
  if (!isEmpty(message.content)) return message
  return typeof message.refusal === 'string' ? moveRefusal(message, encoding) : message.audio ? message : undefined
}

/** Images by the model: OpenRouter, whose replies also have `reasoning_details`, accepts them back. */
function takesImages(target: Target): boolean {
  return target.quirks.reasoningField === 'reasoning_details'
}

const handled: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'function_call', ...reasoningFields])

/** Content may be null only with calls (C6), so a refusal goes into it, as the wire's refusal part. */
function moveRefusal({ refusal, ...message }: JsonObject, encoding: Encoding): JsonObject {
  const content = encoding.target.quirks.stringContent ? refusal : [{ type: 'refusal', refusal }]
  return { ...message, content }
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Text first, then host-specific content, calls last. */
export function builtReply(items: readonly Item[], reply: Reply, at: string, encoding: Encoding): Item[] {
  if (items.length === 0) return []
  const calls: JsonObject[] = []
  const hostParts: JsonObject[] = []
  let text: string | undefined
  for (const item of items) {
    if ('call' in item) calls.push(item.call)
    else if (!('part' in item)) continue
    else if (!isText(item.part)) hostParts.push(item.part)
    else text = text === undefined ? item.part.text : `${text}\n\n${item.part.text}`
  }
  const empty = encoding.target.quirks.stringContent ? '' : null
  const content = hostParts.length > 0 ? [...(text ? [textPart(text)] : []), ...hostParts] : text || empty
  const message: JsonObject = { role: 'assistant', content }
  if (calls.length > 0) message.tool_calls = calls
  Object.assign(message, echoedReasoning(reply, calls.length > 0, at, encoding))
  return [{ message: cleanJson(message, at, encoding.notes) }]
}

function isText(part: JsonObject): part is { type: 'text'; text: string } {
  return part.type === 'text' && typeof part.text === 'string'
}

/** Unknown content is sent back to its host, and to no other. */
export function ownReplyContent({ kind, data }: OpaquePart, reply: Reply, target: Target): Item | undefined {
  if (!kind.startsWith(`${protocolId}/`) || kind.startsWith(foreignCall) || !isObject(data)) return undefined
  return reply.origin.provider === target.provider && !target.quirks.stringContent ? { part: data } : undefined
}

// Earlier reasoning, per host: most have no field for it or refuse it, some accept it back from the same model, and
// DeepSeek and Moonshot refuse a tool turn without it (D1). The field, and when it is wanted, are quirks.

/** The fields to add to the assistant message of this reply. */
function echoedReasoning(reply: Reply, hasCalls: boolean, at: string, encoding: Encoding): JsonObject {
  const { provider, model, quirks } = encoding.target
  const { reasoningField: field, echoReasoning: when } = quirks
  const thought = reply.parts.some((part) => part.type === 'reasoning')
  const drop = (why: string, what = 'reasoning') => {
    if (thought) encoding.notes.push({ kind: 'dropped', what, why, at })
  }

  if (!field || !when) {
    drop('the host does not accept it back')
    return {}
  }
  if (when === 'tool-turns' && !hasCalls) {
    drop('the host accepts it back only with tool calls')
    return {}
  }
  const isNative = reply.origin.protocol === protocolId && reply.origin.provider === provider
  const sameModel = reply.origin.model === model
  if (isNative && field === 'reasoning_details') return detailsBack(reply, sameModel, drop)

  if (isNative && (sameModel || when === 'tool-turns')) {
    const text = reasoningText(reply, field)
    if (text !== undefined) return { [field]: text }
  } else drop('it is valid only for the model that made it')
  if (when !== 'tool-turns' || field === 'reasoning_details') return {}
  const why = 'the host refuses a tool turn without the field'
  encoding.notes.push({ kind: 'added', what: `empty ${field}`, why, at, rule: 'D1' })
  return { [field]: '' }
}

function detailsBack(reply: Reply, sameModel: boolean, drop: (why: string, what?: string) => void): JsonObject {
  const native = nativeOf(reply)
  if (!Array.isArray(native.reasoning_details) || native.reasoning_details.length === 0) {
    return sameModel && typeof native.reasoning === 'string' ? { reasoning: native.reasoning } : {}
  }
  const replayable = replayableDetails(native.reasoning_details, sameModel)
  if (replayable.length < native.reasoning_details.length) {
    const what = `${native.reasoning_details.length - replayable.length} entries of reasoning_details`
    drop('encrypted and signed ones are valid only for the model that made them, and some are refused unsigned', what)
  }
  return replayable.length > 0 ? { reasoning_details: replayable } : {}
}

/** In the host's original form, whatever its field was: vLLM has renamed it. */
function reasoningText(reply: Reply, field: string): string | undefined {
  const native = nativeOf(reply)
  for (const name of [field, 'reasoning_content', 'reasoning']) {
    const text = native[name]
    if (typeof text === 'string' && text !== '') return text
  }
  const thoughts = reply.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('')
  return thoughts === '' ? undefined : thoughts
}

function nativeOf(reply: Reply): JsonObject {
  const [native] = reply.native
  return objectIn(native)
}
