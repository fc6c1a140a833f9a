import assert from 'node:assert/strict'
import test from 'node:test'
import fc, { runs } from '../../property.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Message, Part } from '../../../src/core/message.ts'
import { pair } from '../../../src/context/pair.ts'
import { geminiInteractions } from '../../../src/wires/gemini-interactions/index.ts'
import { anyHistory, loopHistory } from '../../arbitrary.ts'
import { onePixel, user } from '../../histories.ts'
import { jsonObject, portable, replyOf } from '../gemini-replies.ts'
import { decoded, sent, stepsOf } from './target.ts'

const models = ['gemini-3.8-flash', 'gemini-2.5-flash']

test('no history, however broken, makes a body that Google would refuse', () => {
  fc.assert(
    fc.property(anyHistory, fc.constantFrom(...models), (history, model) => {
      assert.deepEqual(geminiInteractions.refuse(sent(pair(history).messages, { model }).body), [])
    }),
    { numRuns: runs(400) },
  )
})

test('in a chain no history makes one either, wherever the chain ends', () => {
  fc.assert(
    fc.property(loopHistory, fc.nat(), (history, n) => {
      const replies = history.flatMap((message, index) => (message.role === 'assistant' ? [index + 1] : []))
      const covers = replies[n % replies.length] ?? 0
      const state = { kind: 'interaction' as const, id: 'v1_a', covers }
      const { body } = sent(history, { context: { state } })
      assert.deepEqual(geminiInteractions.refuse(body), [])
      assert.equal(body.previous_interaction_id, 'v1_a')
    }),
    { numRuns: runs(200) },
  )
})

test('the steps of a shorter history begin those of a longer one', () => {
  fc.assert(
    fc.property(loopHistory, (history) => {
      const whole = stepsOf(sent(history))
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
  const steps = stepsOf(encoded)
  return encoded.notes.some((note) => note.rule === 'G-5') ? steps.slice(0, -1) : steps
}

const words = fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom('🙂🙂', ' ', '\n', '漢字'))

const carried: fc.Arbitrary<Part> = fc.oneof(
  { weight: 3, arbitrary: words.map((text): Part => ({ type: 'text', text })) },
  { weight: 1, arbitrary: words.map((text): Part => ({ type: 'text', text, citations: [{ type: 'url_citation' }] })) },
  {
    weight: 2,
    arbitrary: words.map((text): Part => ({ type: 'reasoning', text, ...(text === '' && { hidden: true }) })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ callId: fc.uuid(), name: fc.constantFrom('clock', 'add'), input: jsonObject })
      .map((call): Part => ({ type: 'tool-call', ...call })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ name: fc.constantFrom('google_search', 'code_execution'), input: jsonObject, output: jsonObject })
      .map((tool): Part => ({ type: 'server-tool', ...tool })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Part>(
      onePixel,
      { type: 'opaque', kind: 'gemini-interactions/hologram', data: { type: 'hologram', depth: 3 } },
      { type: 'opaque', kind: 'gemini-interactions/content.smell', data: { type: 'smell' } },
    ),
  },
)

const anyCarried = replyOf(carried, 'done', 'length', 'paused')

const profile = {
  model: 'gemini-3.5-flash',
  replyId: 'v1_a',
  createdAt: 0,
  usage: { input: 10, output: 5, cacheRead: 2, cacheWrite: 0, reasoning: 1 },
}

test('what the emulator sends is decoded as it was meant, in pieces of any size', () => {
  fc.assert(
    fc.property(anyCarried, fc.integer({ min: 1, max: 40 }), (reply, piece) => {
      const whole = geminiInteractions.whole(reply, profile)
      const read = decoded(geminiInteractions.split(whole, piece))
      assert.deepEqual(read.reply.parts.map(portable), reply.parts)
      assert.equal(read.reply.stop.reason, reply.stop.reason)
      assert.deepEqual(read.reply, decoded(geminiInteractions.split(whole)).reply)
      assert.deepEqual({ ...read.usage, raw: undefined }, { ...profile.usage, raw: undefined })
    }),
    { numRuns: runs(400) },
  )
})

const nativeStep: fc.Arbitrary<Json> = fc.oneof(
  fc
    .array(words, { minLength: 1, maxLength: 3 })
    .map((texts): Json => ({ type: 'model_output', content: texts.map((text) => ({ type: 'text', text })) })),
  fc.constant<Json>({ type: 'thought', signature: 'AAEC' }),
  words.map((text): Json => ({ type: 'thought', signature: 'AAEC', summary: [{ type: 'text', text }] })),
  fc
    .tuple(fc.uuid(), jsonObject)
    .map(([id, input]): Json => ({ type: 'function_call', id, name: 'clock', arguments: input, signature: 'AAEC' })),
  fc.constant<Json>({ type: 'google_search_result', call_id: 's', result: [{ a: 1 }], signature: '' }),
  fc.constant<Json>({ type: 'hologram', depth: 3 }),
)

test('a reply of the same provider is sent back exactly, whatever pieces it arrived in', () => {
  fc.assert(
    fc.property(
      fc.array(nativeStep, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 20 }),
      (steps, piece) => {
        const whole = { id: 'v1_a', status: 'completed', steps }
        const { reply } = decoded(geminiInteractions.split(whole, piece))
        assert.deepEqual(reply.native, steps)
        assert.deepEqual(stepsOf(sent([user('hi'), reply])).slice(1, 1 + steps.length), steps)
        assert.deepEqual(
          decoded(geminiInteractions.split(geminiInteractions.whole(reply, profile), piece)).reply.native,
          steps,
        )
      },
    ),
    { numRuns: runs(400) },
  )
})
