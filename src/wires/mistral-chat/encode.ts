// A context as the body of a Mistral chat request. It follows three rules that other chat wires do not have: system
// messages only at the top, an assistant message between a tool's and a user's, and never an assistant message last.

import type { Context } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Reply, ToolResultPart, MediaPart } from '../../core/message.ts'
import { type Dialect, type Item, type ResultContent, textPart, type Encoding } from '../message-list/dialect.ts'
import { encodeMessageList } from '../message-list/encode.ts'
import { sendableCalls } from '../message-list/encode-reply.ts'
import type { Turn } from '../shared/turns.ts'
import type { Encoded, Target } from '../wire.ts'
import { encodeOptions } from './options.ts'
import { callIdGrammar, protocolId, toolNameLength, toolNamePattern, type Chunk } from './types.ts'
import { dataUrl, acceptsMedia } from '../shared/media.ts'

export function encode(context: Context, target: Target): Encoded {
  return encodeMessageList(context, target, dialect)
}

const dialect: Dialect = {
  id: protocolId,
  path: '/chat/completions',
  callIds: callIdGrammar,
  toolNames: { pattern: toolNamePattern, length: toolNameLength },
  rules: { midSystem: 'T-1', resultMedia: 'T-9', callId: 'T-5', callName: 'T-12' },
  turnRules: ({ quirks, capabilities }) => ({
    join: quirks.alternate || capabilities.alternation ? ['user', 'assistant'] : [],
    startWithUser: true,
    endWithUser: 'T-3',
    bridgeAfterTool: true,
  }),
  joinsTexts: false,
  media: mediaChunk,
  ownContent: ({ kind, data }) => (isOwn(kind) && data !== undefined ? { part: data as Chunk } : undefined),
  ownReplyContent: ({ kind, data }) => (isOwn(kind) && isObject(data) ? { part: data } : undefined),
  arguments: { write: (input) => JSON.stringify(input), isValid: (value) => value !== undefined },
  callIndex: true,
  call: (id, name, input) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }),
  result: resultMessage,
  replay,
  writeTurn,
  options: encodeOptions,
}

function isOwn(kind: string): boolean {
  return kind.startsWith(`${protocolId}/`)
}

function resultMessage(result: ToolResultPart, { text, media }: ResultContent, encoding: Encoding): JsonObject {
  return {
    role: 'tool',
    tool_call_id: encoding.idOf(result.callId),
    name: encoding.names.toWire(result.name),
    content: media.length > 0 ? [...(text === '' ? [] : [textPart(text)]), ...media] : text,
  }
}

/** Refused in a request (recorded), and in no official type; the `index` of a call is accepted (checked 2026-11). */
const replyOnly: ReadonlySet<string> = new Set(['index', 'reasoning_content'])

function replay(reply: Reply, native: JsonObject, at: string, encoding: Encoding): JsonObject | undefined {
  const message: JsonObject = { role: 'assistant' }
  for (const [field, value] of Object.entries(native)) {
    if (!replyOnly.has(field) && value !== null && value !== undefined) message[field] = value
  }
  const calls = sendableCalls(reply, native, at, encoding)
  if (calls.length > 0) return { ...message, tool_calls: calls }
  delete message.tool_calls
  const { content } = message
  const isEmpty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0)
  return isEmpty ? undefined : message
}

function writeTurn(turn: Turn<Item>, target: Target): JsonObject[] {
  const [only] = turn.items
  if (turn.items.length === 1 && only && 'message' in only) return [only.message]
  if (turn.role === 'tool') return turn.items.flatMap((item) => ('message' in item ? [item.message] : []))

  const chunks: Chunk[] = []
  const calls: JsonObject[] = []
  for (const item of turn.items) {
    for (const piece of 'message' in item ? splitMessage(item.message) : [item]) {
      if ('part' in piece) chunks.push(piece.part)
      else if ('call' in piece) calls.push(piece.call)
    }
  }
  return [{ role: turn.role, content: contentOf(chunks, target), ...(calls.length > 0 && { tool_calls: calls }) }]
}

/** A native reply, as pieces, if it has to be merged with its neighbour. */
function splitMessage(message: JsonObject): Item[] {
  const items: Item[] = []
  if (typeof message.content === 'string' && message.content !== '') items.push({ part: textPart(message.content) })
  if (Array.isArray(message.content)) for (const chunk of message.content) items.push({ part: chunk as Chunk })
  if (Array.isArray(message.tool_calls)) for (const call of message.tool_calls) items.push({ call: call as JsonObject })
  return items
}

function contentOf(chunks: readonly Chunk[], target: Target): string | Chunk[] {
  const texts = chunks.flatMap((chunk) => (chunk.type === 'text' && typeof chunk.text === 'string' ? [chunk.text] : []))
  const plain = texts.length === chunks.length && (chunks.length <= 1 || target.quirks.stringContent)
  return plain ? texts.join('\n') : [...chunks]
}

// Media on Mistral's wire: images, documents and audio are three kinds of chunk, each with a URL that may contain the
// data.

/** Undefined if the target does not support it: then the caller writes text instead. */
function mediaChunk(
  part: MediaPart,
  target: Target,
  supported: readonly string[] = target.capabilities.media,
): Chunk | undefined {
  const { data, mediaType, name } = part
  if (target.quirks.stringContent || data.kind === 'blob' || !acceptsMedia(supported, mediaType)) return undefined
  if (data.kind === 'file')
    return data.provider === target.provider ? { type: 'file', file_id: data.fileId } : undefined
  if (data.kind === 'url' && !target.capabilities.mediaUrls) return undefined

  const url = data.kind === 'url' ? data.url : dataUrl(mediaType, data.base64)
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: url }
  if (mediaType.startsWith('audio/')) {
    return { type: 'input_audio', input_audio: data.kind === 'url' ? data.url : data.base64 }
  }
  return { type: 'document_url', document_url: url, ...(name && { document_name: name }) }
}
