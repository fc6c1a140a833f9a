// What all framings share: bytes or text in, JSON chunks out.

import { SynapseError } from '../core/error.ts'
import type { Json } from '../core/json.ts'

/** Fields, not getters: see `decoderOf`. */
export interface Unframer {
  /** Takes the text as it arrives, split anywhere, and returns the chunks that are now complete. */
  push(text: string): Json[]
  /** Call it at the end of the body: returns what is left without a final line break. */
  flush(): Json[]
  /** The sender has announced the end. */
  done: boolean
  /** What makes the rest unreadable; the chunks returned so far are valid. */
  trouble: SynapseError | undefined
}

/** The text of a body that arrives in pieces, which may end within a character. */
export interface TextReader {
  push(piece: Uint8Array): string
  flush(): string
}

/**
 * A `TextDecoder` takes twice as long for a piece if it may be continued. Most pieces end with the line break of an
 * event, so nothing of them is left, and the next one can be decoded by itself.
 */
export function textReader(): TextReader {
  // The first piece may begin with a byte order mark, which is dropped; in later ones it is a character.
  const continued = new TextDecoder()
  const single = new TextDecoder('utf-8', { ignoreBOM: true })
  let isWhole = false
  return {
    push(piece) {
      const { length } = piece
      if (length === 0) return ''
      const endsWhole = (piece[length - 1] as number) < 0x80
      const text = isWhole && endsWhole ? single.decode(piece) : continued.decode(piece, { stream: true })
      isWhole = endsWhole
      return text
    },
    flush: () => continued.decode(),
  }
}

export function notJson(text: string): SynapseError {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return new SynapseError({
    kind: 'malformed-reply',
    message: `The reply contains something that is not JSON: ${shown}`,
  })
}

export function tooLarge(what: string, limit: number): SynapseError {
  return new SynapseError({
    kind: 'limit',
    message: `${what} is larger than ${sizeText(limit)}, so reading it was stopped.`,
  })
}

export function sizeText(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round(bytes / (1024 * 1024))} MiB` : `${bytes} bytes`
}
