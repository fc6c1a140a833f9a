// What every part of the encoder has at hand, and what it makes.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Target } from '../wire.ts'

/** One piece of a turn: text, an image, a call, fields of the message as they are, or a whole message. */
export type Item =
  | { text: string }
  | { image: string }
  | { call: JsonObject }
  | { fields: JsonObject }
  | { message: JsonObject }

export interface Writer {
  target: Target
  notes: Note[]
  idOf(callId: string): string
  /** Whether the call goes back as it came, without an id: its result has none either. */
  isIdless(callId: string): boolean
}
