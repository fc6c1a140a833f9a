// What every part of the encoder has at hand, and what it makes.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { NameMap } from '../shared/names.ts'
import type { Target } from '../wire.ts'
import type { Chunk, WireCall } from './types.ts'

/** One piece of a turn: a chunk of content, a call, or a message that is sent as it is. */
export type Item = { chunk: Chunk } | { call: WireCall } | { message: JsonObject }

export interface Writer {
  target: Target
  notes: Note[]
  names: Pick<NameMap, 'toWire'>
  idOf(callId: string): string
}
