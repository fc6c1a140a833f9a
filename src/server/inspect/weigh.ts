// How many tokens a piece of a body has, by estimate. Images and files are sent as base64 text, but do not count as
// text: otherwise everything else would seem to have no tokens.

import { estimateTokens } from '../../context/count.ts'
import { estimateFile } from '../../context/files.ts'
import type { Json } from '../../core/json.ts'

/** The server's assumption for an image of unknown size. */
const imageTokensAtMost = 1600
const shortest = 200
const dataUrl = /^data:([\w/+.-]+);base64,/

export function weigh(value: Json): number {
  const json = JSON.stringify(value)
  // Calling back for each value takes ten times as long.
  if (!mayHaveMedia.test(json)) return estimateTokens(json)
  let media = 0
  const text = JSON.stringify(value, (_, inner: unknown) => {
    const tokens = typeof inner === 'string' ? mediaTokens(inner) : undefined
    if (tokens === undefined) return inner
    media += tokens
    return ''
  })
  return estimateTokens(text) + media
}

/** Undefined for anything that is not an image or a file. */
function mediaTokens(text: string): number | undefined {
  const header = dataUrl.exec(text.slice(0, 100))
  // A short text is data only if it begins as a known file does and is base64 to its end.
  if (!header && text.length < shortest && !(typeOf(text) && /^[A-Za-z0-9+/]+=*$/.test(text))) return undefined
  if (!header && text.length >= shortest && !/^[A-Za-z0-9+/]{60}/.test(text)) return undefined
  const base64 = header ? text.slice(header[0].length) : text
  const mediaType = header?.[1] ?? typeOf(base64)
  if (mediaType === undefined) return undefined
  if (!mediaType.startsWith('image/')) return estimateFile(mediaType, base64.length)
  return imageTokens(base64)
}

/** By the first bytes, in base64. */
function typeOf(base64: string): string | undefined {
  return starts.find(([start]) => base64.startsWith(start))?.[1]
}

const starts: readonly [string, string][] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
]

/** What counts as media begins in one of these ways. */
const mayHaveMedia = /"(?:data:|iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|JVBERi0)/

/** The rule of the server for images of unknown providers: 750 pixels a token, scaled down to 1568 on the longer side. */
function imageTokens(base64: string): number {
  const size = safely(() => pixelsOf(base64))
  if (!size) return imageTokensAtMost
  const scale = Math.min(1, 1568 / Math.max(size.width, size.height))
  return Math.min(imageTokensAtMost, Math.ceil((size.width * size.height * scale ** 2) / 750))
}

/** Of PNG and JPEG, from the beginning of the file. */
function pixelsOf(base64: string): { width: number; height: number } | undefined {
  const bytes = Uint8Array.from(atob(base64.slice(0, 65_536)), (letter) => letter.charCodeAt(0))
  const view = new DataView(bytes.buffer)
  if (base64.startsWith('iVBOR')) return { width: view.getUint32(16), height: view.getUint32(20) }
  if (!base64.startsWith('/9j/')) return undefined
  for (let at = 2; at + 9 < bytes.length; at += 2 + view.getUint16(at + 2)) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
  }
  return undefined
}

/** Input from elsewhere may be truncated. */
function safely<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
