// What the two framings have in common: text in, JSON chunks out.

import { SynapseError } from '../core/error.ts'
import type { Json } from '../core/json.ts'

export interface Unframer {
  /** Takes the text as it arrives, split anywhere, and returns the chunks that are now complete. */
  push(text: string): Json[]
  /** Call it at the end of the body: returns what is left without a final line break. */
  flush(): Json[]
  /** The sender has announced the end. */
  readonly done: boolean
  /** What makes the rest unreadable; the chunks returned so far are valid. */
  readonly trouble: SynapseError | undefined
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

/** Undefined if the text is not JSON; no JSON value is undefined. */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
