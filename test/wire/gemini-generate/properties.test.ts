import assert from 'node:assert/strict'
import test from 'node:test'
import fc, { runs } from '../../property.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Message, Part } from '../../../src/core/message.ts'
import { pair } from '../../../src/context/pair.ts'
import { geminiGenerate } from '../../../src/wires/gemini-generate/index.ts'
import { anyHistory, loopHistory } from '../../arbitrary.ts'
import { onePixel, user } from '../../histories.ts'
import { jsonObject, portable, replyOf } from '../gemini-replies.ts'
import { chunk, contentsOf, decoded, sent } from './target.ts'

const models = ['gemini-3.8-flash', 'gemini-3-flash-preview', 'gemini-2.5-flash']

test('no history, however broken, makes a body that Google would refuse', () => {
  fc.assert(
    fc.property(anyHistory, fc.constantFrom(...models), (history, model) => {
      const { body } = sent(pair(history).messages, { model })
      assert.deepEqual(geminiGenerate.refuse(body, { model }), [])
    }),
    { numRuns: runs(400) },
  )
})

test('the contents of a shorter history begin those of a longer one', () => {
  fc.assert(
    fc.property(loopHistory, (history) => {
      const whole = contentsOf(sent(history))
      for (const [cut, message] of history.entries()) {
        if (message.role !== 'assistant') continue
        const shorter = kept(history.slice(0, cut))
        assert.deepEqual(whole.slice(0, shorter.length), shorter)
      }
    }),
    { numRuns: runs(200) },
  )
})

/** Without what the wire wants at the very end. */
function kept(history: Message[]): Json[] {
  const encoded = sent(history)
  const contents = contentsOf(encoded)
  return encoded.notes.some((note) => note.rule === 'G-5') ? contents.slice(0, -1) : contents
}

const words = fc.oneof(fc.string({ minLength: 1, maxLength: 30 }), fc.constantFrom('🙂🙂', ' ', '\n', '漢字'))

const carried: fc.Arbitrary<Part> = fc.oneof(
  { weight: 3, arbitrary: words.map((text): Part => ({ type: 'text', text })) },
  { weight: 2, arbitrary: words.map((text): Part => ({ type: 'reasoning', text })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ callId: fc.uuid(), name: fc.constantFrom('clock', 'add'), input: jsonObject })
      .map((call): Part => ({ type: 'tool-call', ...call })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ name: fc.constantFrom('code_execution', 'GOOGLE_SEARCH_WEB'), input: jsonObject, output: jsonObject })
      .map((tool): Part => ({ type: 'server-tool', ...tool })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Part>(onePixel, {
      type: 'opaque',
      kind: 'gemini-generate/hologram',
      data: { hologram: { depth: 3 } },
    }),
  },
)

const anyCarried = replyOf(carried, 'done', 'length', 'refusal', 'paused')

const profile = {
  model: 'gemini-3.5-flash',
  replyId: 'r1',
  createdAt: 0,
  usage: { input: 10, output: 5, cacheRead: 2, cacheWrite: 0, reasoning: 1 },
}

test('what the emulator sends is decoded as it was meant, in pieces of any size', () => {
  fc.assert(
    fc.property(anyCarried, fc.integer({ min: 1, max: 40 }), (reply, piece) => {
      const whole = geminiGenerate.whole(reply, profile)
      const read = decoded(geminiGenerate.split(whole, piece))
      assert.deepEqual(read.reply.parts.map(portable), reply.parts)
      assert.equal(read.reply.stop.reason, reply.stop.reason)
      assert.deepEqual(read.reply, decoded(geminiGenerate.split(whole)).reply)
      assert.deepEqual({ ...read.usage, raw: undefined }, { ...profile.usage, raw: undefined })
    }),
    { numRuns: runs(400) },
  )
})

const signature = fc.constantFrom('AAEC', 'AwQFBg==')
const nativePart: fc.Arbitrary<Json> = fc.oneof(
  words.map((text): Json => ({ text })),
  words.map((text): Json => ({ text, thought: true })),
  fc
    .tuple(fc.oneof(words, fc.constant('')), signature)
    .map(([text, thoughtSignature]): Json => ({ text, thoughtSignature })),
  fc
    .tuple(fc.uuid(), jsonObject, signature)
    .map(([id, args, thoughtSignature]): Json => ({ functionCall: { id, name: 'clock', args }, thoughtSignature })),
  fc.constant<Json>({ hologram: { depth: 3 } }),
)

test('a reply of the same provider is sent back exactly, whatever pieces it arrived in', () => {
  fc.assert(
    fc.property(
      fc.array(nativePart, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 20 }),
      (parts, piece) => {
        const whole = chunk(parts, { finishReason: 'STOP' })
        const { reply } = decoded(geminiGenerate.split(whole, piece))
        assert.deepEqual(reply.native, parts)
        const content = contentsOf(sent([user('hi'), reply]))[1]
        assert.deepEqual(content, { role: 'model', parts })
        assert.deepEqual(decoded(geminiGenerate.split(geminiGenerate.whole(reply, profile), piece)).reply.native, parts)
      },
    ),
    { numRuns: runs(400) },
  )
})
