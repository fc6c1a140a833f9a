// Writes messages from other formats in this one. Nothing is repaired here: that is for a request.

import type { Json, JsonObject } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { MediaPart, Message, Reply, ToolMessage, UserMessage } from '../../core/message.ts'
import { dataUrl } from '../shared/media.ts'
import { messageFromParts } from './emulate.ts'
import { protocolId, textPart } from './types.ts'
import { mediaStandIn, summaryLabel } from '../shared/injected-text.ts'

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

function isNative(reply: Reply): boolean {
  return reply.origin.protocol === protocolId && isObject(reply.native[0])
}

/** The written id of a call: the host's own in native data, otherwise ours. */
function wireIds(messages: readonly Message[]): Map<string, string> {
  const ids = new Map<string, string>()
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    const own = isNative(message) || message.source?.format === protocolId
    for (const part of message.parts) {
      if (part.type === 'tool-call') ids.set(part.callId, (own ? part.alias : undefined) ?? part.callId)
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
