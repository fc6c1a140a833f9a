// Messages of Cohere's chat, alone or inside a request body. They are recognised by `tool_plan`, a tool choice in
// capitals, thinking that is a string without a signature, and documents as results. Messages without any of these look
// like those of other chats, and are not recognised.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { UserMessage } from '../../core/message.ts'
import { documentsLabel, mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import { objectsIn } from '../shared/json-fields.ts'
import { dataUrl, mediaFromUrl } from '../shared/media.ts'
import type { Transcript, TranscriptFormat } from '../shared/transcript.ts'
import { checkChunks, chunkContent, chunkParts, listIn, messageListFormat } from '../message-list/transcript.ts'
import { messageFromParts } from './emulate.ts'
import { cohereChat } from './index.ts'
import { callIdGrammar, protocolId, textBlock, type Block } from './types.ts'

const listFormat = messageListFormat({
  id: protocolId,
  provider: 'cohere',
  wire: cohereChat,
  callIds: callIdGrammar,
  recognise,
  whole: (message) => ({ message, finish_reason: 'COMPLETE' }),
  checkAnswer: checkChunks(protocolId),
  parts: (message, at) => chunkParts(message, protocolId, at, readBlock),
  resultText: (part) => (part.type === 'opaque' ? documentText(part.data ?? null) : (part.text ?? '')),
  content: (parts) => chunkContent(parts.map(writeBlock)),
  resultOf: (_, callId) => ({ tool_call_id: callId }),
  message: messageFromParts,
})

export const cohereChatFormat: TranscriptFormat = { ...listFormat, read }

/** Documents are a field of the body, which no other wire has. */
function read(json: Json): Transcript {
  const transcript = listFormat.read(json)
  const documents = isObject(json) && Array.isArray(json.documents) ? json.documents : []
  if (documents.length === 0) return transcript
  const text = [documentsLabel, ...documents.map(namedDocument)].join('\n')
  const what = 'documents to words in the system prompt'
  const why = 'other providers have no field for them'
  return {
    ...transcript,
    system: [...(transcript.system ?? []), { type: 'text', text }],
    notes: [...transcript.notes, { kind: 'changed', what, why, at: '$.documents' }],
  }
}

function namedDocument(document: Json): string {
  const text = documentText(document)
  return isObject(document) && typeof document.id === 'string' ? `${document.id}: ${text}` : text
}

const bodySigns = ['strict_tools', 'citation_options', 'safety_mode', 'documents']

function recognise(json: Json): boolean {
  const list = listIn(json)
  if (!list) return false
  if (isObject(json) && isSpecificBody(json)) return true
  const messages = objectsIn(list.messages)
  return messages.some(isSpecific) || (messages.some(thinksUnsigned) && !isForeign(json, messages))
}

/** Other wires sign the thinking in a list of blocks. */
function thinksUnsigned({ role, content }: JsonObject): boolean {
  const thoughts = objectsIn(content).filter(
    ({ type, thinking }) => type === 'thinking' && typeof thinking === 'string',
  )
  return role === 'assistant' && thoughts.length > 0 && thoughts.every(({ signature }) => signature === undefined)
}

/** A recorder may have removed the signatures: fields and blocks that this wire does not have decide. */
function isForeign(json: Json, messages: readonly JsonObject[]): boolean {
  if (isObject(json) && json.system !== undefined) return true
  return messages.some(({ content }) => objectsIn(content).some(({ type }) => !blockTypes.has(type)))
}

const blockTypes: ReadonlySet<unknown> = new Set(['text', 'thinking', 'image_url', 'document'])

function isSpecificBody(body: JsonObject): boolean {
  const { tool_choice: choice, response_format: format } = body
  if (choice === 'REQUIRED' || choice === 'NONE') return true
  if (isObject(format) && format.type === 'json_object' && isObject(format.json_schema)) return true
  return bodySigns.some((field) => body[field] !== undefined)
}

function isSpecific(message: JsonObject): boolean {
  if (message.role === 'tool') return objectsIn(message.content).some(({ type }) => type === 'document')
  if (message.role !== 'assistant') return false
  if (typeof message.tool_plan === 'string') return true
  const thinks = objectsIn(message.content).some(({ type, thinking }) => {
    return type === 'thinking' && typeof thinking === 'string'
  })
  return thinks && Array.isArray(message.tool_calls)
}

/** The text of a document, as the service would have shown it. */
function documentText(block: Json): string {
  const document = isObject(block) && isObject(block.document) ? block.document : block
  const data = isObject(document) ? (document.data ?? document) : document
  return typeof data === 'string' ? data : JSON.stringify(data)
}

function readBlock(block: JsonObject): UserMessage['parts'][number] {
  if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: block.text }
  if (block.type === 'image_url') {
    const url = isObject(block.image_url) ? block.image_url.url : block.image_url
    if (typeof url === 'string') return mediaFromUrl(url, 'image/jpeg')
  }
  const type = typeof block.type === 'string' ? block.type : 'block'
  return { type: 'opaque', kind: `${protocolId}/${type}`, data: block }
}

function writeBlock(part: UserMessage['parts'][number]): Block {
  switch (part.type) {
    case 'text':
      return textBlock(part.text)
    case 'compaction':
      return textBlock(`${summaryLabel}\n${part.text ?? ''}`)
    case 'opaque':
      return isObject(part.data) ? part.data : { type: part.kind, data: part.data ?? null }
    default: {
      const { data, mediaType, name } = part
      if (!mediaType.startsWith('image/') || data.kind === 'blob' || data.kind === 'file') {
        return textBlock(mediaStandIn(mediaType, name))
      }
      const url = data.kind === 'url' ? data.url : dataUrl(mediaType, data.base64)
      return { type: 'image_url', image_url: { url } }
    }
  }
}
