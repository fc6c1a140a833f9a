// What the properties of both Gemini wires share.

import fc from '../property.ts'
import type { Json } from '../../src/core/json.ts'
import type { Part, Reply, StopReason } from '../../src/core/message.ts'

export const jsonObject = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), {
  maxKeys: 3,
  noNullPrototype: true,
}) as fc.Arbitrary<Json>

/** A reply that the emulator is to send, with some of these parts and one of these reasons. */
export function replyOf(part: fc.Arbitrary<Part>, ...reasons: StopReason[]): fc.Arbitrary<Reply> {
  return fc.tuple(fc.array(part, { maxLength: 6 }), fc.constantFrom(...reasons)).map(([parts, reason]) => ({
    role: 'assistant',
    parts,
    native: [],
    origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
    stop: { reason: reason === 'done' && parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : reason },
  }))
}

/** A part without what only its own reply knows. */
export function portable(part: Part): Part {
  const { from: _, alias: __, ...rest } = part as Part & { from?: number; alias?: string }
  return rest
}
