// Messages as Mistral's chat has them, alone or inside a request body. They look like OpenAI's; what gives them away is
// the thinking chunk, whose text is a list, and results that name their tool beside an id of nine letters or digits.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Message, Reply, TextPart, ToolMessage, UserMessage } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import { dataUrl, mediaFromUrl } from '../shared/media.ts'
import { messageFromParts } from './emulate.ts'
import { mistralChat } from './index.ts'
import { callIdGrammar, protocolId, textChunk, type Chunk } from './types.ts'
import { mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import type { CallRegistry } from '../shared/call-registry.ts'
import { listIn, readList, readReply } from '../shared/message-list.ts'
import { replyAsText, outputAsText } from '../shared/as-text.ts'
import { unreadable, writeBySource, type Transcript, type TranscriptFormat } from '../shared/transcript.ts'

export const mistralChatFormat: TranscriptFormat = { id: protocolId, recognise, read, write }

const bodySigns = ['random_seed', 'safe_prompt', 'prompt_mode']

function recognise(json: Json): boolean {
  if (isObject(json) && (bodySigns.some((field) => json[field] !== undefined) || json.tool_choice === 'any')) {
    return Array.isArray(json.messages)
  }
  return (listIn(json)?.messages ?? []).some((message) => isObject(message) && isTelling(message))
}

function isTelling(message: JsonObject): boolean {
  if (message.role === 'tool') {
    const { tool_call_id: id, name } = message
    return typeof name === 'string' && typeof id === 'string' && callIdGrammar.fits.test(id)
  }
  if (message.role === 'assistant' && typeof message.prefix === 'boolean') return true
  const chunks = Array.isArray(message.content) ? message.content.filter(isObject) : []
  return chunks.some(
    (chunk) =>
      (chunk.type === 'thinking' && Array.isArray(chunk.thinking)) ||
      (chunk.type === 'image_url' && typeof chunk.image_url === 'string') ||
      (chunk.type === 'document_url' && typeof chunk.document_url === 'string') ||
      (chunk.type === 'reference' && Array.isArray(chunk.reference_ids)),
  )
}

function read(json: Json): Transcript {
  return readList(json, protocolId, readMessage)
}

function readMessage(value: JsonObject, at: string, model: string, book: CallRegistry): Message {
  switch (value.role) {
    case 'system':
      return { role: 'system', parts: userParts(value.content, `${at}.content`).filter((part) => part.type === 'text') }
    case 'user':
      return { role: 'user', parts: userParts(value.content, `${at}.content`) }
    case 'assistant':
      return readAnswer(value, at, model, book)
    case 'tool':
      return readResult(value, at, book)
    default:
      throw unreadable(protocolId, `${at}.role`, 'system, user, assistant or tool')
  }
}

function readAnswer(message: JsonObject, at: string, model: string, book: CallRegistry): Reply {
  const { content } = message
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
    throw unreadable(protocolId, `${at}.content`, 'a string, a list or null')
  }
  const whole = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
  return readReply(mistralChat, { protocol: protocolId, provider: 'mistral', model }, message, whole, book)
}

function readResult(value: JsonObject, at: string, book: CallRegistry): ToolMessage {
  const id = typeof value.tool_call_id === 'string' ? value.tool_call_id : undefined
  const named = typeof value.name === 'string' ? value.name : undefined
  const call = book.answer(id, named)
  const output = userParts(value.content, `${at}.content`).map((part): TextPart | MediaPart =>
    part.type === 'text' || part.type === 'media' ? part : { type: 'text', text: JSON.stringify(part) },
  )
  const name = named ?? call?.name ?? 'tool'
  return { role: 'tool', parts: [{ type: 'tool-result', callId: call?.callId ?? id ?? '', name, output }] }
}

function userParts(content: Json | undefined, at: string): UserMessage['parts'] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw unreadable(protocolId, at, 'a string, a list or null')
  return content.map((chunk, index) => {
    if (!isObject(chunk)) throw unreadable(protocolId, `${at}[${index}]`, 'an object')
    return readChunk(chunk)
  })
}

function readChunk(chunk: JsonObject): UserMessage['parts'][number] {
  if (chunk.type === 'text' && typeof chunk.text === 'string') return { type: 'text', text: chunk.text }
  if (chunk.type === 'image_url') {
    const url = isObject(chunk.image_url) ? chunk.image_url.url : chunk.image_url
    if (typeof url === 'string') return mediaFromUrl(url, typeByName(url) ?? 'image/jpeg')
  }
  if (chunk.type === 'document_url' && typeof chunk.document_url === 'string') {
    const name = typeof chunk.document_name === 'string' ? { name: chunk.document_name } : {}
    return { ...mediaFromUrl(chunk.document_url, typeByName(chunk.document_url) ?? 'application/pdf'), ...name }
  }
  if (chunk.type === 'input_audio' && typeof chunk.input_audio === 'string') {
    const isUrl = /^https?:/.test(chunk.input_audio)
    if (isUrl) return { type: 'media', mediaType: 'audio/mpeg', data: { kind: 'url', url: chunk.input_audio } }
    return { type: 'media', mediaType: 'audio/mpeg', data: { kind: 'base64', base64: chunk.input_audio } }
  }
  const type = typeof chunk.type === 'string' ? chunk.type : 'chunk'
  return { type: 'opaque', kind: `${protocolId}/${type}`, data: chunk }
}

const types: Record<string, string> = {
  gif: 'image/gif',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  pdf: 'application/pdf',
  png: 'image/png',
  webp: 'image/webp',
}

function typeByName(url: string): string | undefined {
  const ending = /\.([a-z0-9]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(types, ending) ? types[ending] : undefined
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
      return [{ role: 'user', content: contentOf(message.parts.map(writeChunk)) }]
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
        tool_call_id: idOf(part.callId),
        name: part.name,
        content: contentOf(outputAsText(part).map(writeChunk)),
      }))
  }
}

function writeChunk(part: UserMessage['parts'][number]): Chunk {
  switch (part.type) {
    case 'text':
      return textChunk(part.text)
    case 'compaction':
      return textChunk(`${summaryLabel}\n${part.text ?? ''}`)
    case 'opaque':
      return isObject(part.data) ? part.data : { type: part.kind, data: part.data ?? null }
    default: {
      const { data, mediaType, name } = part
      if (data.kind === 'file') return { type: 'file', file_id: data.fileId }
      if (data.kind === 'blob') return textChunk(mediaStandIn(mediaType, name))
      if (mediaType.startsWith('audio/'))
        return { type: 'input_audio', input_audio: data.kind === 'url' ? data.url : data.base64 }
      const url = data.kind === 'url' ? data.url : dataUrl(mediaType, data.base64)
      if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: url }
      return { type: 'document_url', document_url: url, ...(name && { document_name: name }) }
    }
  }
}

function contentOf(chunks: readonly Chunk[]): Json {
  const [only] = chunks
  if (chunks.length === 0) return ''
  return chunks.length === 1 && only?.type === 'text' && typeof only.text === 'string' ? only.text : [...chunks]
}
