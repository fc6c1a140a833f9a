// How large images are and how many tokens that is, read from their own first bytes: each provider has its own rule, and
// the same picture may be 258 tokens for one and 4,000 for another.

import type { MediaPart, Message } from '../core/message.ts'
import { readImage } from '../wires/shared/image-header.ts'
import type { ImageTokens } from '../wires/wire.ts'

/** Where nothing is known of the provider or of the image, this is about what the largest cost. */
const usualMost = 1600
const usualRule: ImageTokens = { pixels: 750, longer: 1568, most: usualMost }

interface Pixels {
  width: number
  height: number
}

/** Nothing for what is no image, lies elsewhere, or cannot be read. */
export function pixelsOf(part: MediaPart): Pixels | undefined {
  if (part.data.kind !== 'base64' || !part.mediaType.startsWith('image/')) return undefined
  let found = known.get(part)
  if (found === undefined) {
    const { width, height } = readImage(part.data.base64) ?? {}
    found = width && height ? { width, height } : null
    known.set(part, found)
  }
  return found ?? undefined
}

const known = new WeakMap<MediaPart, Pixels | null>()

export function imageTokens(part: MediaPart, rule: ImageTokens = usualRule): number {
  const { base = 0, pixels, tile, longer = Infinity, shorter = Infinity, most = Infinity } = rule
  const size = pixelsOf(part)
  if (!pixels && !tile) return base
  if (!size) return Math.min(most, usualMost)
  const { width, height } = size
  const scale = Math.min(1, longer / Math.max(width, height), shorter / Math.min(width, height))
  const along = (length: number) => Math.ceil((length * scale) / (tile?.side ?? 1))
  const tokens = tile ? along(width) * along(height) * tile.tokens : (width * height * scale ** 2) / (pixels ?? 1)
  return Math.min(most, Math.ceil(base + tokens))
}

/** What the images of these messages have by the provider's own rule, beyond what `estimateMessage` takes them to have. */
export function tokensBeyond(messages: readonly Message[], rule: ImageTokens | undefined): number {
  if (!rule) return 0
  let tokens = 0
  for (const message of messages) {
    for (const part of mediaIn(message)) {
      if (part.mediaType.startsWith('image/')) tokens += imageTokens(part, rule) - imageTokens(part)
    }
  }
  return tokens
}

const none: readonly MediaPart[] = []

/** The media that a request would carry. */
export function mediaIn(message: Message): readonly MediaPart[] {
  if (message.role !== 'user' && message.role !== 'tool') return none
  let found: MediaPart[] | undefined
  for (const part of message.parts) {
    if (part.type === 'media') (found ??= []).push(part)
    else if (part.type === 'tool-result') {
      for (const piece of part.output) if (piece.type === 'media') (found ??= []).push(piece)
    }
  }
  return found ?? none
}
