// Messages of users and tools, read as parts, and messages of other formats written in this one.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import {
  callsOf,
  type MediaPart,
  type Message,
  type Reply,
  type TextPart,
  type ToolMessage,
  type UserMessage,
} from '../../core/message.ts'
import { mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import { dataUrl, mediaFromUrl, typeByName } from '../shared/media.ts'
import { unreadable } from '../shared/transcript.ts'
import { messageFromParts } from './emulate.ts'
import { protocolId, textPart } from './types.ts'
import { objectIn, objectsIn, textIn } from '../shared/json-fields.ts'

/** A list that can be added to. */
export function userParts(content: Json | undefined, at: string, provider: string): UserMessage['parts'] {
  return listOf(content, at).map((part, i) => {
    if (!isObject(part)) throw unreadable(protocolId, `${at}[${i}]`, 'an object')
    const read = textOf(part) ?? mediaOf(part, provider)
    if (read) return read
    return {
      type: 'opaque',
      kind: `${protocolId}/${typeof part.type === 'string' ? part.type : 'content'}`,
      data: part,
    }
  })
}

export function textsOf(content: Json | undefined, at: string): TextPart[] {
  return listOf(content, at).map((part, i) => {
    const text = isObject(part) ? textOf(part) : undefined
    if (!text) throw unreadable(protocolId, `${at}[${i}]`, 'a text part')
    return text
  })
}

/** A tool result: an unknown part is kept as the text of its JSON. */
export function outputOf(content: Json | undefined, at: string): (TextPart | MediaPart)[] {
  return listOf(content, at).map((part) => {
    const read = isObject(part) ? (textOf(part) ?? mediaOf(part, '')) : undefined
    return read ?? { type: 'text', text: JSON.stringify(part) }
  })
}

function listOf(content: Json | undefined, at: string): Json[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw unreadable(protocolId, at, 'a string, a list or null')
  return content
}

function textOf(part: JsonObject): TextPart | undefined {
  return part.type === 'text' && typeof part.text === 'string' ? { type: 'text', text: part.text } : undefined
}

function mediaOf(part: JsonObject, provider: string): MediaPart | undefined {
  switch (part.type) {
    case 'image_url':
      return fromUrl(part.image_url, 'image/jpeg')
    case 'video_url':
      return fromUrl(part.video_url, 'video/mp4')
    case 'input_audio': {
      const sound = objectIn(part.input_audio)
      if (typeof sound.data !== 'string') return undefined
      const mediaType = sound.format === 'mp3' ? 'audio/mpeg' : `audio/${textIn(sound.format) || 'wav'}`
      return { type: 'media', mediaType, data: { kind: 'base64', base64: sound.data } }
    }
    case 'file':
      return isObject(part.file) ? fileOf(part.file, provider) : undefined
    default:
      return undefined
  }
}

function fromUrl(value: Json | undefined, fallback: string): MediaPart | undefined {
  const url = isObject(value) ? value.url : value
  return typeof url === 'string' ? mediaFromUrl(url, typeByName(url) ?? fallback) : undefined
}

function fileOf(file: JsonObject, provider: string): MediaPart | undefined {
  const name = typeof file.filename === 'string' ? { name: file.filename } : {}
  const mediaType = typeByName(name.name ?? '') ?? 'application/pdf'
  if (typeof file.file_data === 'string') return { ...mediaFromUrl(file.file_data, mediaType), ...name }
  if (typeof file.file_id !== 'string') return undefined
  return { type: 'media', mediaType, ...name, data: { kind: 'file', fileId: file.file_id, provider } }
}

// Writes messages from other formats in this one. Nothing is repaired here: that is for a request.

/** `all` is the whole conversation: a result names its call like the reply before it. */
export function writeMessages(run: readonly Message[], all: readonly Message[]): Json[] {
  const ids = wireIds(all)
  return run.flatMap((message): Json[] => {
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: message.parts.map((part) => part.text).join('\n\n') }]
      case 'user':
        return [{ role: 'user', content: contentOf(userContent(message)) }]
      case 'assistant':
        return [isNative(message) ? (message.native[0] as JsonObject) : messageFromParts(readable(message))]
      case 'tool':
        return results(message, ids)
    }
  })
}

/** Not if a host without free-form tools made function calls in their place. */
function isNative(reply: Reply): boolean {
  const [native] = reply.native
  if (reply.origin.protocol !== protocolId || !isObject(native)) return false
  const customCalls = objectsIn(native.tool_calls).filter((call) => isObject(call.custom))
  return customCalls.length === callsOf(reply).filter(({ kind }) => kind === 'free-form').length
}

/** The written id of a call: the host's own in native data, otherwise ours. */
function wireIds(messages: readonly Message[]): Map<string, string> {
  const ids = new Map<string, string>()
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    const isOwn = isNative(message) || message.source?.format === protocolId
    for (const part of message.parts) {
      if (part.type === 'tool-call') ids.set(part.callId, (isOwn ? part.alias : undefined) ?? part.callId)
    }
  }
  return ids
}

/** A summary has no field in this format, so it is written in the text. */
function readable(reply: Reply): Reply['parts'] {
  return reply.parts.map((part) =>
    part.type === 'compaction' ? { type: 'text', text: `${summaryLabel}\n${part.text ?? ''}` } : part,
  )
}

function userContent(message: UserMessage): JsonObject[] {
  return message.parts.map((part) => {
    switch (part.type) {
      case 'text':
        return textPart(part.text)
      case 'media':
        return mediaContent(part)
      case 'compaction':
        return textPart(`${summaryLabel}\n${part.text ?? ''}`)
      case 'opaque':
        return isObject(part.data) ? part.data : { type: part.kind, data: part.data ?? null }
    }
  })
}

function results(message: ToolMessage, ids: ReadonlyMap<string, string>): JsonObject[] {
  return message.parts.map((result) => {
    const output = result.output.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    const text = result.failed && !output.startsWith('Error: ') ? `Error: ${output}` : output
    const media = result.output.flatMap((part) => (part.type === 'media' ? [mediaContent(part)] : []))
    const content = contentOf(text === '' && media.length > 0 ? media : [textPart(text), ...media])
    return { role: 'tool', tool_call_id: ids.get(result.callId) ?? result.callId, content }
  })
}

function contentOf(parts: readonly JsonObject[]): Json {
  const [only] = parts
  if (parts.length === 0) return ''
  return parts.length === 1 && only?.type === 'text' && typeof only.text === 'string' ? only.text : [...parts]
}

function mediaContent({ data, mediaType, name }: MediaPart): JsonObject {
  if (data.kind === 'file') return { type: 'file', file: { file_id: data.fileId, ...(name && { filename: name }) } }
  if (data.kind === 'blob') return textPart(mediaStandIn(mediaType, name))
  const url = data.kind === 'url' ? data.url : dataUrl(mediaType, data.base64)
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  if (mediaType.startsWith('video/')) return { type: 'video_url', video_url: { url } }
  if (mediaType.startsWith('audio/') && data.kind === 'base64') {
    const format = mediaType === 'audio/mpeg' ? 'mp3' : mediaType.slice('audio/'.length)
    return { type: 'input_audio', input_audio: { data: data.base64, format } }
  }
  return { type: 'file', file: { filename: name ?? 'file', file_data: url } }
}
