// Short ways to encode for this wire in a test.

import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Reply } from '../../../src/core/message.ts'
import { geminiInteractions } from '../../../src/wires/gemini-interactions/index.ts'
import type { Encoded } from '../../../src/wires/wire.ts'
import { gemini, type Gemini } from '../gemini.ts'

export type { Asking } from '../gemini.ts'

export const { sent, origin, decoded }: Gemini = gemini(geminiInteractions)

export function stepsOf(encoded: Encoded): JsonObject[] {
  return encoded.body.input as JsonObject[]
}

/** A reply that this provider gave on this wire. */
export function native(...steps: Json[]): Reply {
  return decoded(geminiInteractions.split({ id: 'v1_a', status: 'completed', steps })).reply
}
