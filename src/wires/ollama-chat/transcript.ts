// Messages of Ollama's own chat, alone or inside a request body. They are recognised by arguments that are an object,
// `tool_name` on results, `images` next to the content, and `thinking` as a string. Calls may have no ids at all.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, UserMessage } from '../../core/message.ts'
import { messageFromParts } from './emulate.ts'
import { ollamaChat } from './index.ts'
import { callIdGrammar, protocolId } from './types.ts'
import { mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import { callsIn, listIn, messageListFormat } from '../message-list/transcript.ts'
import { unreadable, type TranscriptFormat } from '../shared/transcript.ts'

export const ollamaChatFormat: TranscriptFormat = messageListFormat({
  id: protocolId,
  provider: 'ollama',
  wire: ollamaChat,
  callIds: callIdGrammar,
  anyCase: true,
  recognise,
  whole: (message) => ({ message, done: true }),
  checkAnswer: (content, at) => void textOf(content, at),
  parts,
  resultName: ({ tool_name: named, name }) => [named, name].find((value) => typeof value === 'string'),
  resultText: (part) => JSON.stringify(part),
  content: contentOf,
  resultOf: ({ name }, callId) => ({ tool_name: name, tool_call_id: callId }),
  message: messageFromParts,
})

const bodySigns = ['options', 'keep_alive', 'think', 'truncate', 'format']

function recognise(json: Json): boolean {
  const list = listIn(json)
  if (!list || !list.messages.every((message) => isObject(message) && typeof message.role === 'string')) return false
  const messages = list.messages.filter(isObject)
  if (messages.some(({ content }) => Array.isArray(content) || isObject(content))) return false
  if (isObject(json) && typeof json.model === 'string' && bodySigns.some((field) => json[field] !== undefined))
    return true
  return messages.some(isSpecific)
}

function isSpecific(message: JsonObject): boolean {
  if (typeof message.tool_name === 'string') return true
  if (Array.isArray(message.images) && message.images.every((image) => typeof image === 'string')) return true
  if (message.role === 'assistant' && typeof message.thinking === 'string') return true
  return callsIn(message).some(
    (call) => isObject(call.function) && isObject(call.function.arguments) && call.type === undefined,
  )
}

function parts(message: JsonObject, at: string): UserMessage['parts'] {
  const text = textOf(message.content, `${at}.content`)
  const isEmpty = text === '' && message.role !== 'system'
  return [...(isEmpty ? [] : [{ type: 'text' as const, text }]), ...imagesOf(message)]
}

function textOf(content: Json | undefined, at: string): string {
  if (content === undefined || content === null) return ''
  if (typeof content !== 'string') throw unreadable(protocolId, at, 'a string')
  return content
}

function imagesOf(value: JsonObject): MediaPart[] {
  const images = Array.isArray(value.images) ? value.images.filter((image) => typeof image === 'string') : []
  return images.map((base64) => ({ type: 'media', mediaType: typeOf(base64), data: { kind: 'base64', base64 } }))
}

/** The wire does not name the type of an image; its first bytes show it. */
function typeOf(base64: string): string {
  if (base64.startsWith('/9j/')) return 'image/jpeg'
  if (base64.startsWith('R0lGOD')) return 'image/gif'
  return base64.startsWith('UklGR') ? 'image/webp' : 'image/png'
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
