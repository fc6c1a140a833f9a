// The size and tokens of images, read from their first bytes: each provider has its own rule, and the same image may be
// 258 tokens for one and 4,000 for another.

import type { MediaPart, Message } from '../core/message.ts'
import { readImage } from '../wires/shared/image-header.ts'
import type { ImageTokens } from '../wires/wire.ts'
import { fileTokens } from './files.ts'
import { prefixes } from './prefix-memo.ts'

/** If nothing is known about the provider or the image, about the cost of the largest. */
const defaultMost = 1600
const defaultRule: ImageTokens = { pixels: 750, longer: 1568, most: defaultMost }

interface Pixels {
  width: number
  height: number
}

/** Undefined for anything that is not an image, is stored elsewhere, or cannot be read. */
export function pixelsOf(part: MediaPart): Pixels | undefined {
  if (part.data.kind !== 'base64' || !part.mediaType.startsWith('image/')) return undefined
  let pixels = knownPixels.get(part)
  if (pixels === undefined) {
    const { width, height } = readImage(part.data.base64) ?? {}
    pixels = width && height ? { width, height } : null
    knownPixels.set(part, pixels)
  }
  return pixels ?? undefined
}

const knownPixels = new WeakMap<MediaPart, Pixels | null>()

export function imageTokens(part: MediaPart, rule: ImageTokens = defaultRule): number {
  const { base = 0, pixels, tile, longer = Infinity, shorter = Infinity, most = Infinity } = rule
  if (!pixels && !tile) return base
  const size = pixelsOf(part)
  if (!size) return Math.min(most, defaultMost)
  const { width, height } = size
  const scale = Math.min(1, longer / Math.max(width, height), shorter / Math.min(width, height))
  const tokens = tile
    ? Math.ceil((width * scale) / tile.side) * Math.ceil((height * scale) / tile.side) * tile.tokens
    : (width * height * scale ** 2) / (pixels as number)
  return Math.min(most, Math.ceil(base + tokens))
}

/** The tokens of the images and PDFs of these messages by the provider's own rule, beyond what `estimateMessage` assumes. */
export function tokensBeyond(messages: readonly Message[], rule: ImageTokens | undefined): number {
  if (!rule) return 0
  let tokens = 0
  for (const part of allMediaIn(messages)) {
    if (part.mediaType.startsWith('image/')) tokens += imageTokens(part, rule) - imageTokens(part)
    else if (rule.page !== undefined) tokens += fileTokens(part, rule.page) - fileTokens(part)
  }
  return tokens
}

/** Lists without any media. */
const withoutMedia = prefixes<true>()

/** The media that a request with these messages would carry. */
export function allMediaIn(messages: readonly Message[]): MediaPart[] {
  const all: MediaPart[] = []
  for (let index = withoutMedia.longest(messages)?.shared ?? 0; index < messages.length; index++) {
    for (const part of mediaIn(messages[index] as Message)) all.push(part)
  }
  if (all.length === 0) withoutMedia.keep(messages, true)
  return all
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
