// Media on the wire: what a target accepts, and data URLs in both directions.

import type { MediaPart } from '../../core/message.ts'

/** Whether one of the patterns (`image/png`, `image/*`) matches the media type. */
export function acceptsMedia(patterns: readonly string[], mediaType: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('/*') ? mediaType.startsWith(pattern.slice(0, -1)) : pattern === mediaType,
  )
}

export function dataUrl(mediaType: string, base64: string): string {
  return `data:${mediaType};base64,${base64}`
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

/** The media type that the name of a file or a URL shows, if it does. */
export function typeByName(name: string): string | undefined {
  const ending = /\.([a-z0-9]+)(?:[?#]|$)/i.exec(name)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(types, ending) ? types[ending] : undefined
}

/** The type of an image that a request gives by its URL alone. */
export function imageType(url: string, fallback: string): string {
  const type = typeByName(url)
  return type?.startsWith('image/') ? type : fallback
}

/** Reads a URL in a request: a data URL becomes its bytes. */
export function mediaFromUrl(url: string, fallbackType: string): MediaPart {
  const match = /^data:([^;,]*)(?:;[^,]*)?;base64,/.exec(url)
  if (!match) return { type: 'media', mediaType: fallbackType, data: { kind: 'url', url } }
  return {
    type: 'media',
    mediaType: match[1] || fallbackType,
    data: { kind: 'base64', base64: url.slice(match[0].length) },
  }
}
