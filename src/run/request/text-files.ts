// Text files in a user message. Every model reads text, but few wires support text files: if the target does not accept
// the media type, the file goes into the prompt as text, with its name and in a fence.

import type { Message, Part, TextPart, UserMessage } from '../../core/message.ts'
import { acceptsMedia } from '../../wires/shared/media.ts'

/** Messages never change, so the text for one target is reused and prefixes stay equal. */
const inlined = new WeakMap<UserMessage, Map<string, UserMessage>>()

export function inlineTextFiles(message: Message, media: readonly string[]): Message {
  if (message.role !== 'user' || !message.parts.some((part) => part.type === 'media')) return message
  const key = media.join(' ')
  const known = inlined.get(message) ?? new Map<string, UserMessage>()
  inlined.set(message, known)
  let made = known.get(key)
  if (!made) {
    const parts = message.parts.map((part) => asText(part, media))
    made = parts.some((part, i) => part !== message.parts[i]) ? { ...message, parts } : message
    known.set(key, made)
  }
  return made
}

function asText<P extends Part>(part: P, media: readonly string[]): P | TextPart {
  if (part.type !== 'media' || part.data.kind !== 'base64' || acceptsMedia(media, part.mediaType)) return part
  const text = /^(?:image|audio|video)\/(?!svg)|^application\/pdf$/.test(part.mediaType)
    ? undefined
    : decoded(part.data.base64)
  return text === undefined ? part : { type: 'text', text: fenced(part.name ?? part.mediaType, text) }
}

/** Undefined for anything that is not UTF-8, or has a null character as binary files do. */
function decoded(base64: string): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'))
    return text.includes('\u0000') ? undefined : text
  } catch {
    return undefined
  }
}

/** The fence is longer than every fence in the text. */
function fenced(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${name}:\n${fence}\n${text.trimEnd()}\n${fence}`
}
