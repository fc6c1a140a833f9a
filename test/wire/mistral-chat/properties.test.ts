// What only a reply of Mistral has: references next to text and thoughts, in any order. The rest is in
// every-wire.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { runs } from '../../property.ts'
import { fold } from '../../../src/core/fold.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Part, Reply } from '../../../src/core/message.ts'
import { mistralChat } from '../../../src/wires/mistral-chat/index.ts'

const text = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
const input = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
  noNullPrototype: true,
}) as fc.Arbitrary<Json>
const said: fc.Arbitrary<Part> = fc.oneof(
  text.map((words): Part => ({ type: 'text', text: words })),
  text.map((words): Part => ({ type: 'reasoning', text: words })),
  fc.constant<Part>({
    type: 'opaque',
    kind: 'mistral-chat/reference',
    data: { type: 'reference', reference_ids: [1] },
  }),
)
const carried: fc.Arbitrary<Reply> = fc
  .record({
    said: fc.array(said, { maxLength: 4 }),
    calls: fc.array(fc.record({ name: fc.constantFrom('a', 'b'), input, broken: fc.boolean() }), { maxLength: 3 }),
    length: fc.boolean(),
  })
  .map(({ said: parts, calls, length }) => ({
    role: 'assistant',
    parts: [
      ...parts,
      ...calls.map(({ name, input: given, broken }, n): Part => ({
        type: 'tool-call',
        callId: `call-${n}`,
        name,
        ...(broken ? { input: {}, malformed: '{"a": ' } : { input: given }),
      })),
    ],
    native: [],
    origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
    stop: { reason: length ? 'length' : calls.length > 0 ? 'tool-calls' : 'done' },
  }))

test('a reply that is sent whole or in pieces of any size is read as the same reply', () => {
  fc.assert(
    fc.property(carried, fc.integer({ min: 1, max: 12 }), (reply, piece) => {
      const usage = { input: 5, output: 7, cacheRead: 2, cacheWrite: 0, reasoning: 0 }
      const profile = { model: 'm', replyId: 'r', createdAt: 1, usage }
      const origin = { protocol: 'mistral-chat', provider: 'mistral', model: 'm' }
      const decoder = mistralChat.decoder(origin, { callId: (n) => `call-${n}` })
      const chunks = mistralChat.split(mistralChat.whole(reply, profile), piece)
      const read = fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
      assert.deepEqual(read.reply.parts.map(portable), reply.parts)
      assert.equal(read.reply.stop.reason, reply.stop.reason)
      assert.equal(read.usage?.cacheRead, 2)

      const again = mistralChat.whole(read.reply, profile)
      assert.deepEqual((again as { choices: { message: Json }[] }).choices[0]?.message, read.reply.native[0])
    }),
    { numRuns: runs(300) },
  )
})

function portable(part: Part): Part {
  const { from: _, alias: __, ...rest } = part as Part & { from?: number; alias?: string }
  return rest
}
