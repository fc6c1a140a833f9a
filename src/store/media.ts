// Large media are moved from the message to blobs, and back before a request is encoded. Anything other than plain
// base64 stays in place, because it would come back as different text.

import { hash } from 'node:crypto'
import type { MediaPart, Message, Part } from '../core/message.ts'

/** Longer base64 is moved to blobs. */
const inlineLimit = 65_536

export interface Detached {
  message: Message
  /** What was moved, by its hash. */
  blobs: Map<string, Uint8Array>
  /** Blobs that the message itself names: the owner must already have them. */
  named: Set<string>
}

export function detachMedia(message: Message): Detached {
  const blobs = new Map<string, Uint8Array>()
  const named = new Set<string>()
  const detached = mapMedia(message, (part) => {
    if (part.data.kind === 'blob') named.add(part.data.sha256)
    if (part.data.kind !== 'base64' || part.data.base64.length <= inlineLimit) return part
    const bytes = Buffer.from(part.data.base64, 'base64')
    if (bytes.toString('base64') !== part.data.base64) return part
    const sha256 = hash('sha256', bytes)
    blobs.set(sha256, bytes)
    return { ...part, data: { kind: 'blob', sha256 } }
  })
  return { message: detached, blobs, named }
}

export function carriesMedia(message: Message): boolean {
  if (message.role === 'tool') return message.parts.some((result) => hasMedia(result.output))
  return message.role !== 'system' && hasMedia(message.parts)
}

/** The messages with their media restored. A missing blob stays a blob: the encoder notes it. */
export async function attachMedia(
  messages: readonly Message[],
  load: (sha256: string) => Promise<Uint8Array | undefined>,
): Promise<Message[]> {
  const hashes = new Set<string>()
  for (const message of messages) {
    mapMedia(message, (part) => {
      if (part.data.kind === 'blob') hashes.add(part.data.sha256)
      return part
    })
  }
  if (hashes.size === 0) return [...messages]
  const loaded = new Map<string, string>()
  for (const sha256 of hashes) {
    const bytes = await load(sha256)
    if (bytes) loaded.set(sha256, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'))
  }
  return messages.map((message) =>
    mapMedia(message, (part) => {
      const base64 = part.data.kind === 'blob' ? loaded.get(part.data.sha256) : undefined
      return base64 === undefined ? part : { ...part, data: { kind: 'base64', base64 } }
    }),
  )
}

function mapMedia(message: Message, change: (part: MediaPart) => MediaPart): Message {
  const changed = <P extends Part>(part: P): P | MediaPart => (part.type === 'media' ? change(part) : part)
  if (!carriesMedia(message)) return message
  if (message.role === 'tool') {
    return { ...message, parts: message.parts.map((result) => ({ ...result, output: result.output.map(changed) })) }
  }
  if (message.role === 'system') return message
  return message.role === 'user'
    ? { ...message, parts: message.parts.map(changed) }
    : { ...message, parts: message.parts.map(changed) }
}

function hasMedia(parts: readonly Part[]): boolean {
  return parts.some((part) => part.type === 'media')
}
