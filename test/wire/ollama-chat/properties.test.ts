import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../property.ts'
import { pair } from '../../../src/context/pair.ts'
import { fold } from '../../../src/core/fold.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Message, Part, Reply } from '../../../src/core/message.ts'
import { ollamaChat } from '../../../src/wires/ollama-chat/index.ts'
import type { Quirks } from '../../../src/wires/wire.ts'
import { anyHistory, keptHistory } from '../../arbitrary.ts'
import { encoded } from './target.ts'

const quirks = fc.constantFrom<Quirks>({}, { flattenToolHistory: true }, { alternate: true }, { bridgeAfterTool: true })

/** Where neighbours are joined, a reply that cannot be sent joins the messages around it. */
const steady = quirks.filter((odd) => !odd.alternate)

test('no history, paired, makes a body that is refused', () => {
  fc.assert(
    fc.property(anyHistory, quirks, (history, odd) => {
      const { messages, places } = pair(history)
      const { body } = encoded(messages, { quirks: odd }, { places, system: [{ type: 'text', text: 'be kind' }] })
      assert.deepEqual(ollamaChat.refuse(body), [])
    }),
    { numRuns: 300 },
  )
})

test('a longer history keeps the messages of a shorter one, and the same history gives the same bytes', () => {
  fc.assert(
    fc.property(keptHistory, steady, (history, odd) => {
      const wire = (messages: Message[]) => encoded(messages, { quirks: odd })
      const whole = wire(history)
      assert.equal(JSON.stringify(whole.body), JSON.stringify(wire(structuredClone(history)).body))
      for (const [cut, message] of history.entries()) {
        if (message.role !== 'assistant' || history[cut - 1]?.role === 'assistant') continue
        const kept = wire(history.slice(0, cut)).body.messages as Json[]
        assert.deepEqual((whole.body.messages as Json[]).slice(0, kept.length), kept)
      }
    }),
    { numRuns: 100 },
  )
})

const text = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
const input = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
  noNullPrototype: true,
}) as fc.Arbitrary<Json>
const said: fc.Arbitrary<Part[]> = fc
  .tuple(fc.option(text), fc.option(text))
  .map(([thought, words]): Part[] => [
    ...(thought === null ? [] : [{ type: 'reasoning' as const, text: thought }]),
    ...(words === null ? [] : [{ type: 'text' as const, text: words }]),
  ])
const carried: fc.Arbitrary<Reply> = fc
  .record({
    said,
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
      const usage = { input: 5, output: 7, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
      const profile = { model: 'm', replyId: 'r', createdAt: 1, usage }
      const origin = { protocol: 'ollama-chat', provider: 'ollama', model: 'm' }
      const decoder = ollamaChat.decoder(origin, { callId: (n) => `call-${n}` })
      const chunks = ollamaChat.split(ollamaChat.whole(reply, profile), piece)
      const read = fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
      assert.deepEqual(read.reply.parts.map(portable), reply.parts)
      assert.equal(read.reply.stop.reason, reply.stop.reason)
      assert.equal(read.usage?.output, 7)

      const again = ollamaChat.whole(read.reply, profile)
      assert.deepEqual((again as { message: Json }).message, read.reply.native[0])
    }),
    { numRuns: 300 },
  )
})

function portable(part: Part): Part {
  const { from: _, alias: __, ...rest } = part as Part & { from?: number; alias?: string }
  return rest
}
