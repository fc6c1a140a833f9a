// Messages as Ollama's own chat has them, alone or inside a request body. What gives them away: arguments that are an
// object, `tool_name` on results, `images` beside the content, `thinking` as a string. Calls may have no ids at all.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Message, Reply, ToolMessage, UserMessage } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import { messageFromParts } from './emulate.ts'
import { ollamaChat } from './index.ts'
import { callIdGrammar, protocolId } from './types.ts'
import { mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import type { CallRegistry } from '../shared/call-registry.ts'
import { callsIn, listIn, readList, readReply } from '../shared/message-list.ts'
import { replyAsText, outputAsText } from '../shared/as-text.ts'
import { unreadable, writeBySource, type Transcript, type TranscriptFormat } from '../shared/transcript.ts'

export const ollamaChatFormat: TranscriptFormat = { id: protocolId, recognise, read, write }

const bodySigns = ['options', 'keep_alive', 'think', 'truncate', 'format']

function recognise(json: Json): boolean {
  const list = listIn(json)
  if (!list || !list.messages.every((message) => isObject(message) && typeof message.role === 'string')) return false
  const messages = list.messages.filter(isObject)
  if (messages.some(({ content }) => Array.isArray(content) || isObject(content))) return false
  if (isObject(json) && typeof json.model === 'string' && bodySigns.some((field) => json[field] !== undefined))
    return true
  return messages.some(isTelling)
}

function isTelling(message: JsonObject): boolean {
  if (typeof message.tool_name === 'string') return true
  if (Array.isArray(message.images) && message.images.every((image) => typeof image === 'string')) return true
  if (message.role === 'assistant' && typeof message.thinking === 'string') return true
  return callsIn(message).some(
    (call) => isObject(call.function) && isObject(call.function.arguments) && call.type === undefined,
  )
}

function read(json: Json): Transcript {
  return readList(json, protocolId, readMessage)
}

/** The server takes roles in capitals as well. */
function readMessage(value: JsonObject, at: string, model: string, book: CallRegistry): Message {
  const role = typeof value.role === 'string' ? value.role.toLowerCase() : undefined
  if (value.content !== undefined && value.content !== null && typeof value.content !== 'string') {
    throw unreadable(protocolId, `${at}.content`, 'a string')
  }
  const text = value.content ?? ''
  switch (role) {
    case 'system':
      return { role: 'system', parts: [{ type: 'text', text }] }
    case 'user':
      return { role: 'user', parts: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...imagesOf(value)] }
    case 'assistant':
      return readAnswer(value, model, book)
    case 'tool':
      return readResult(value, text, book)
    default:
      throw unreadable(protocolId, `${at}.role`, 'system, user, assistant or tool')
  }
}

function readAnswer(message: JsonObject, model: string, book: CallRegistry): Reply {
  const origin = { protocol: protocolId, provider: 'ollama', model }
  return readReply(ollamaChat, origin, message, { message, done: true }, book)
}

function readResult(value: JsonObject, text: string, book: CallRegistry): ToolMessage {
  const id = typeof value.tool_call_id === 'string' && value.tool_call_id !== '' ? value.tool_call_id : undefined
  const named = [value.tool_name, value.name].find((name) => typeof name === 'string')
  const call = book.answer(id, typeof named === 'string' ? named : undefined)
  const name = typeof named === 'string' ? named : (call?.name ?? 'tool')
  const output = [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...imagesOf(value)]
  return { role: 'tool', parts: [{ type: 'tool-result', callId: call?.callId ?? id ?? '', name, output }] }
}

function imagesOf(value: JsonObject): MediaPart[] {
  const images = Array.isArray(value.images) ? value.images.filter((image) => typeof image === 'string') : []
  return images.map((base64) => ({ type: 'media', mediaType: typeOf(base64), data: { kind: 'base64', base64 } }))
}

/** The wire does not say what kind of image it is; its first bytes do. */
function typeOf(base64: string): string {
  if (base64.startsWith('/9j/')) return 'image/jpeg'
  if (base64.startsWith('R0lGOD')) return 'image/gif'
  return base64.startsWith('UklGR') ? 'image/webp' : 'image/png'
}

function write(messages: Message[]): Json {
  const idOf = wireIds(messages, callIdGrammar, (reply) => reply.origin.protocol === protocolId)
  return writeBySource(messages, protocolId, (run) => run.flatMap((message) => writeMessage(message, idOf)))
}

function writeMessage(message: Message, idOf: (callId: string) => string): Json[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.parts.map((part) => part.text).join('\n\n') }]
    case 'user':
      return [{ role: 'user', ...contentOf(message.parts) }]
    case 'assistant': {
      const [native] = message.native
      return [
        message.origin.protocol === protocolId && isObject(native)
          ? native
          : messageFromParts(replyAsText(message), idOf),
      ]
    }
    default:
      return message.parts.map((part) => ({
        role: 'tool',
        tool_name: part.name,
        tool_call_id: idOf(part.callId),
        ...contentOf(outputAsText(part)),
      }))
  }
}

function contentOf(parts: UserMessage['parts']): JsonObject {
  const lines: string[] = []
  const images: string[] = []
  for (const part of parts) {
    if (part.type === 'text') lines.push(part.text)
    else if (part.type === 'compaction') lines.push(`${summaryLabel}\n${part.text ?? ''}`)
    else if (part.type === 'opaque') lines.push(JSON.stringify(part.data ?? part.kind))
    else if (part.data.kind === 'base64' && part.mediaType.startsWith('image/')) images.push(part.data.base64)
    else lines.push(part.data.kind === 'url' ? part.data.url : mediaStandIn(part.mediaType, part.name))
  }
  return { content: lines.join('\n'), ...(images.length > 0 && { images }) }
}
