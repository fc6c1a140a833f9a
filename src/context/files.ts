// The tokens of attached files that are not images, by their size. Providers send each page of a PDF as text and as an
// image: one page of Claude is 1,500 to 3,000 tokens, one of Gemini a fixed number (documentation of both, 2026-11).

import type { MediaPart } from '../core/message.ts'

/** A page, or a file of unknown size. */
const pageTokens = 1600

export function fileTokens({ mediaType, data }: MediaPart, page: number = pageTokens): number {
  const tokens = data.kind === 'base64' ? estimateFile(mediaType, data.base64.length) : pageTokens
  return mediaType === 'application/pdf' ? Math.ceil((tokens / pageTokens) * page) : tokens
}

const textTypes =
  /^text\/|^application\/(?:[\w.-]+\+)?(?:x-)?(?:json|ndjson|xml|yaml|toml|javascript|typescript|sh|sql|python)$/

/** By the length of its base64. */
export function estimateFile(mediaType: string, base64Length: number): number {
  const bytes = base64Length * 0.75
  return textTypes.test(mediaType) ? Math.ceil(bytes / 4) : Math.max(pageTokens, Math.ceil(bytes / 50))
}
