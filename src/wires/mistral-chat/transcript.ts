// Messages of Mistral's chat, alone or inside a request body. They look like OpenAI's, but are recognised by the
// thinking chunk, whose text is a list, and by results with the name of their tool and an id of nine letters or digits.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { UserMessage } from '../../core/message.ts'
import { dataUrl, mediaFromUrl, typeByName } from '../shared/media.ts'
import { messageFromParts } from './emulate.ts'
import { mistralChat } from './index.ts'
import { callIdGrammar, protocolId, textChunk, type Chunk } from './types.ts'
import { mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import { checkChunks, chunkContent, chunkParts, listIn, messageListFormat } from '../message-list/transcript.ts'
import type { TranscriptFormat } from '../shared/transcript.ts'

export const mistralChatFormat: TranscriptFormat = messageListFormat({
  id: protocolId,
  provider: 'mistral',
  wire: mistralChat,
  callIds: callIdGrammar,
  recognise,
  whole: (message) => ({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
  checkAnswer: checkChunks(protocolId),
  parts: (message, at) => chunkParts(message, protocolId, at, readChunk),
  resultName: ({ name }) => (typeof name === 'string' ? name : undefined),
  resultText: (part) => JSON.stringify(part),
  content: (parts) => chunkContent(parts.map(writeChunk)),
  resultOf: ({ name }, callId) => ({ tool_call_id: callId, name }),
  message: messageFromParts,
})

const bodySigns = ['random_seed', 'safe_prompt', 'prompt_mode']

function recognise(json: Json): boolean {
  if (isObject(json) && (bodySigns.some((field) => json[field] !== undefined) || json.tool_choice === 'any')) {
    return Array.isArray(json.messages)
  }
  return (listIn(json)?.messages ?? []).some((message) => isObject(message) && isSpecific(message))
}

function isSpecific(message: JsonObject): boolean {
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
