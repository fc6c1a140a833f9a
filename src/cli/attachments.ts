// What goes along with a question: `-f` text files as fragments before it, `-a` images, PDFs and audio. The type of a
// file is read from its first bytes: names can be wrong.

import { basename } from 'node:path'
import { badInput } from '../core/error.ts'
import type { MediaPart, TextPart, UserMessage } from '../core/message.ts'
import { bytesOf, contentOf, mostOfQuestion } from './text-file.ts'

export function withFiles(
  question: string,
  fragments: readonly string[],
  attachments: readonly string[],
): UserMessage['parts'] {
  const text: TextPart[] = question === '' ? [] : [{ type: 'text', text: question }]
  return [...fragments.map(fragment), ...attachments.map(attachment), ...text]
}

function fragment(file: string): TextPart {
  const content = contentOf(file, mostOfQuestion)
  if (content.includes('\u0000')) throw badInput(`${file} is not text. Give images and PDFs with -a.`)
  return { type: 'text', text: `${basename(file)}:\n\n${content.trimEnd()}` }
}

function attachment(file: string): MediaPart {
  if (/^https?:\/\//i.test(file))
    return { type: 'media', mediaType: typeByName(file), data: { kind: 'url', url: file } }
  const bytes = bytesOf(file, mostOfQuestion)
  const mediaType = sniff(bytes)
  if (mediaType === undefined) {
    throw badInput(`${file} is not an image, PDF or audio file. Give text files with -f.`)
  }
  return {
    type: 'media',
    mediaType,
    name: basename(file),
    data: { kind: 'base64', base64: bytes.toString('base64') },
  }
}

/** The media type from the first bytes, of types that some model accepts. */
function sniff(bytes: Buffer): string | undefined {
  const begins = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text
  if (begins('\u0089PNG\r\n\u001A\n')) return 'image/png'
  if (begins('\u00FF\u00D8\u00FF')) return 'image/jpeg'
  if (begins('GIF87a') || begins('GIF89a')) return 'image/gif'
  if (begins('RIFF') && begins('WEBP', 8)) return 'image/webp'
  if (begins('RIFF') && begins('WAVE', 8)) return 'audio/wav'
  if (begins('%PDF-')) return 'application/pdf'
  if (begins('ID3') || begins('\u00FF\u00FB') || begins('\u00FF\u00F3')) return 'audio/mpeg'
  if (begins('fLaC')) return 'audio/flac'
  if (begins('OggS')) return 'audio/ogg'
  if (begins('ftypavif', 4)) return 'image/avif'
  if (begins('ftypheic', 4) || begins('ftypheix', 4)) return 'image/heic'
  if (begins('ftyp', 4)) return 'video/mp4'
  return undefined
}

const types: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
}

/** A URL is passed to the provider unchanged, so only its name shows the type. */
function typeByName(url: string): string {
  const ending = /\.([a-z]+)$/i.exec(URL.parse(url)?.pathname ?? '')?.[1]?.toLowerCase()
  const type = ending === undefined ? undefined : types[ending]
  if (type) return type
  throw badInput(`The type of ${url} is unknown: the URL must end in ${Object.keys(types).join(', ')}.`)
}
