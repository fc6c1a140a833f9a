// Media on Mistral's wire: images, documents and sound are three kinds of chunk, each with a URL that may carry the data.

import type { Note } from '../../core/context.ts'
import type { MediaPart } from '../../core/message.ts'
import { dataUrl, takesMedia } from '../shared/media.ts'
import type { Target } from '../wire.ts'
import { mediaStandIn } from '../shared/injected-text.ts'
import type { Chunk } from './types.ts'

/** Undefined where the target does not take it: then the caller puts text in its place. */
export function mediaChunk(part: MediaPart, target: Target, taken = target.capabilities.media): Chunk | undefined {
  const { data, mediaType, name } = part
  if (target.quirks.stringContent || data.kind === 'blob' || !takesMedia(taken, mediaType)) return undefined
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

export function standIn(part: MediaPart, at: string, notes: Note[]): { type: 'text'; text: string } {
  notes.push({ kind: 'dropped', what: part.mediaType, why: 'the model does not take it; a line of text says so', at })
  return { type: 'text', text: mediaStandIn(part.mediaType, part.name) }
}

export function mediaFollows(part: MediaPart): string {
  return `[${part.mediaType}${part.name ? ` ${JSON.stringify(part.name)}` : ''}, shown below the tool results]`
}
