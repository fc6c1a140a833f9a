// Content of chat messages from users and tools, as parts.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, TextPart, UserMessage } from '../../core/message.ts'
import { mediaFromUrl } from '../shared/media.ts'
import { protocolId } from './types.ts'
import { unreadable } from '../shared/transcript.ts'

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
      const sound = isObject(part.input_audio) ? part.input_audio : {}
      if (typeof sound.data !== 'string') return undefined
      const mediaType = sound.format === 'mp3' ? 'audio/mpeg' : `audio/${String(sound.format ?? 'wav')}`
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

const types: Record<string, string> = {
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
  webp: 'image/webp',
}

function typeByName(name: string): string | undefined {
  const ending = /\.([a-z0-9]+)(?:[?#]|$)/i.exec(name)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(types, ending) ? types[ending] : undefined
}
