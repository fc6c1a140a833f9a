// What the two framings have in common: text in, JSON chunks out.

import { SynapseError } from '../core/error.ts'
import type { Json } from '../core/json.ts'

export interface Unframer {
  /** Takes the text as it comes, cut anywhere, and gives the chunks that are now complete. */
  push(text: string): Json[]
  /** To be called at the end of the body: what is left without its last line break. */
  flush(): Json[]
  /** The sender said that nothing more comes. */
  readonly done: boolean
  /** What makes the rest unreadable; the chunks given so far are good. */
  readonly trouble: SynapseError | undefined
}

export function notJson(text: string): SynapseError {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return new SynapseError({
    kind: 'malformed-reply',
    message: `The reply holds something that is not JSON: ${shown}`,
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

/** Undefined where the text is not JSON, which no JSON is. */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
