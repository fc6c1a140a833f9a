// Media on this wire. Images take a URL or the data; files and sound take the data alone, in fields of their own; only
// user messages may hold them, unless the host says otherwise (C12).

import type { Note } from '../../core/context.ts'
import type { MediaPart } from '../../core/message.ts'
import { dataUrl, takesMedia } from '../shared/media.ts'
import type { Target } from '../wire.ts'
import { mediaStandIn } from '../shared/injected-text.ts'
import { textPart, type ContentPart } from './types.ts'

/** Undefined where the target does not take it: then the caller puts text in its place. */
export function mediaContent(
  part: MediaPart,
  target: Target,
  taken = target.capabilities.media,
): ContentPart | undefined {
  const { data, mediaType, name } = part
  if (target.quirks.stringContent || data.kind === 'blob' || !takesMedia(taken, mediaType)) return undefined
  if (data.kind === 'url' && !target.capabilities.mediaUrls) return undefined
  const [family] = mediaType.split('/')

  if (data.kind === 'file') {
    // The wire has no file id for an image (checked 2026-11).
    const fits = data.provider === target.provider && family !== 'image'
    return fits ? { type: 'file', file: { file_id: data.fileId } } : undefined
  }
  const url = data.kind === 'url' ? data.url : dataUrl(mediaType, data.base64)
  if (family === 'image') return { type: 'image_url', image_url: { url } }
  if (family === 'video') return { type: 'video_url', video_url: { url } }
  if (data.kind === 'url') return undefined
  if (family !== 'audio') return { type: 'file', file: { filename: name ?? 'file', file_data: url } }
  const format = audioFormats[mediaType]
  return format === undefined ? undefined : { type: 'input_audio', input_audio: { data: data.base64, format } }
}

/** The wire knows two formats of sound. */
const audioFormats: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}

export function standIn(part: MediaPart, at: string, notes: Note[]): { type: 'text'; text: string } {
  notes.push({ kind: 'dropped', what: part.mediaType, why: 'the model does not take it; a line of text says so', at })
  return textPart(mediaStandIn(part.mediaType, part.name))
}

export function mediaFollows(part: MediaPart): string {
  return `[${part.mediaType}${part.name ? ` ${JSON.stringify(part.name)}` : ''}, shown below the tool results]`
}
