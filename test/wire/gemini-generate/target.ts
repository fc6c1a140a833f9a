// Short ways to encode for this wire in a test.

import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Reply } from '../../../src/core/message.ts'
import { geminiGenerate } from '../../../src/wires/gemini-generate/index.ts'
import type { Encoded } from '../../../src/wires/wire.ts'
import { gemini, type Gemini } from '../gemini.ts'

export type { Asking } from '../gemini.ts'

export const { sent, origin, decoded }: Gemini = gemini(geminiGenerate)

export function contentsOf(encoded: Encoded): JsonObject[] {
  return encoded.body.contents as JsonObject[]
}

/** A chunk of a stream with these parts. */
export function chunk(parts: Json[], rest: JsonObject = {}): Json {
  return { candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }], responseId: 'r1' }
}

/** A reply that this provider gave on this wire. */
export function native(parts: Json[], model = 'gemini-3.5-flash'): Reply {
  const { reply } = decoded([chunk(parts, { finishReason: 'STOP' })])
  return { ...reply, origin: { ...reply.origin, model } }
}
