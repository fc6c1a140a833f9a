import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { runs } from '../../property.ts'
import { pair } from '../../../src/context/pair.ts'
import { fold } from '../../../src/core/fold.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Message, Part, Reply } from '../../../src/core/message.ts'
import { bedrockConverse } from '../../../src/wires/bedrock-converse/index.ts'
import type { Target } from '../../../src/wires/wire.ts'
import { frameAwsEvent, unframeAwsEvents } from '../../../src/transport/aws-events.ts'
import { anyHistory, loopHistory } from '../../arbitrary.ts'
import { encoded, takes } from './target.ts'

const changes = fc.constantFrom<Partial<Target>>(
  {},
  takes({ tools: false }),
  takes({ media: [], resultMedia: [], callIdLength: 9 }),
  takes({ cacheMarks: true }),
)

test('no history, paired, makes a body that is refused', () => {
  fc.assert(
    fc.property(anyHistory, changes, (history, change) => {
      const { messages, places } = pair(history)
      const cacheAfter = messages.map((_, index) => index).slice(-2)
      const { body } = encoded(messages, change, { places, cacheAfter, system: [{ type: 'text', text: 'be kind' }] })
      assert.deepEqual(bedrockConverse.refuse(body), [])
    }),
    { numRuns: runs(300) },
  )
})

test('the same history gives the same bytes', () => {
  fc.assert(
    fc.property(loopHistory, changes, (history: Message[], change) => {
      const bytes = (messages: Message[]) => JSON.stringify(encoded(messages, change).body)
      assert.equal(bytes(history), bytes(structuredClone(history)))
    }),
    { numRuns: runs(100) },
  )
})

const text = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
const input = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
  noNullPrototype: true,
}) as fc.Arbitrary<Json>
const part: fc.Arbitrary<Part> = fc.oneof(
  text.map((words): Part => ({ type: 'text', text: words })),
  text.map((words): Part => ({ type: 'reasoning', text: words })),
  input.map((given): Part => ({ type: 'tool-call', callId: '', name: 'clock', input: given })),
)
const carried: fc.Arbitrary<Reply> = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => ({
  role: 'assistant',
  parts: parts.map((one, n) => (one.type === 'tool-call' ? { ...one, callId: `call-${n}` } : one)),
  native: [],
  origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
  stop: { reason: parts.some((one) => one.type === 'tool-call') ? 'tool-calls' : 'done' },
}))

test('a reply in pieces of any size, in frames cut anywhere, is read as the same reply', () => {
  fc.assert(
    fc.property(carried, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 200 }), (reply, piece, size) => {
      const usage = { input: 5, output: 7, cacheRead: 2, cacheWrite: 1, reasoning: 0 }
      const profile = { model: 'm', replyId: 'r', createdAt: 1, usage }
      const origin = { protocol: 'bedrock-converse', provider: 'bedrock', model: 'm' }
      const decoder = bedrockConverse.decoder(origin)
      const sent = Buffer.concat(
        bedrockConverse.split(bedrockConverse.whole(reply, profile), piece).map((chunk) => frameAwsEvent(chunk as {})),
      )
      const unframer = unframeAwsEvents(1 << 20)
      const chunks: Json[] = []
      for (let at = 0; at < sent.length; at += size) chunks.push(...unframer.push(sent.subarray(at, at + size)))
      const read = fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
      assert.deepEqual(read.reply.parts.map(portable), reply.parts.map(portable))
      assert.equal(read.reply.stop.reason, reply.stop.reason)
      assert.deepEqual({ ...read.usage, raw: undefined }, { ...usage, raw: undefined })
      const again = bedrockConverse.whole(read.reply, profile) as { output: { message: { content: Json } } }
      assert.deepEqual(again.output.message.content, read.reply.native)
    }),
    { numRuns: runs(200) },
  )
})

function portable(one: Part): object {
  const { from: _, alias: __, callId: ___, ...rest } = one as Part & { from?: number; alias?: string; callId?: string }
  return rest
}
