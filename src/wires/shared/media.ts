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
