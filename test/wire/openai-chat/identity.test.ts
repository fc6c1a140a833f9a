import assert from 'node:assert/strict'
import test from 'node:test'
import fc, { character } from '../../property.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Part, Reply } from '../../../src/core/message.ts'
import { openaiChat } from '../../../src/wires/openai-chat/index.ts'
import { onePixel } from '../../histories.ts'
import { decoded } from './target.ts'

const profile = {
  model: 'gpt-4o',
  replyId: 'chatcmpl-9',
  createdAt: 1_790_000_000,
  usage: { input: 10, output: 5, cacheRead: 4, cacheWrite: 2, reasoning: 1 },
}

function emulated(reply: Reply, piece: number) {
  return decoded(openaiChat.split(openaiChat.whole(reply, profile), piece))
}

const words = fc.string({ unit: character, minLength: 1, maxLength: 40 }).filter((text) => text.isWellFormed())
const input = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true }) as fc.Arbitrary<Json>

/** What this wire can carry: each kind of text once, in its order, then pictures, then calls. */
const carried: fc.Arbitrary<Part[]> = fc
  .record({
    reasoning: fc.option(words),
    text: fc.option(words),
    refusal: fc.option(words),
    pixel: fc.boolean(),
    calls: fc.uniqueArray(
      fc.record({
        callId: fc.string({ minLength: 1, maxLength: 12 }),
        name: fc.constantFrom('clock', 'fs.read'),
        input,
        text: fc.option(fc.string({ unit: character, maxLength: 40 }), { freq: 3 }),
        broken: fc.option(fc.constantFrom('{"a": ', '[1]', 'no'), { freq: 4 }),
      }),
      { maxLength: 3, selector: (call) => call.callId },
    ),
  })
  .map(({ reasoning, text, refusal, pixel, calls }) => [
    ...(reasoning === null ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === null ? [] : [{ type: 'text' as const, text }]),
    ...(refusal === null ? [] : [{ type: 'refusal' as const, text: refusal }]),
    ...(pixel ? [onePixel] : []),
    ...calls.map(({ callId, name, input: value, text: freeText, broken }) => {
      const call = { type: 'tool-call' as const, callId, name }
      if (freeText !== null) return { ...call, kind: 'free-form' as const, input: { input: freeText } }
      return { ...call, ...(broken === null ? { input: value } : { input: {}, malformed: broken }) }
    }),
  ])

test('a reply built from parts is read back unchanged, whatever the size of the pieces', () => {
  fc.assert(
    fc.property(carried, fc.integer({ min: 1, max: 30 }), (parts, piece) => {
      const reply = built(parts)
      const back = emulated(reply, piece)
      assert.deepEqual(back.reply.parts.map(portable), parts)
      assert.equal(back.reply.stop.reason, reply.stop.reason)
      assert.equal(back.failure, undefined)
    }),
  )
})

function built(parts: Part[]): Reply {
  const called = parts.some((part) => part.type === 'tool-call')
  const refused = parts.some((part) => part.type === 'refusal')
  return {
    role: 'assistant',
    parts,
    native: [],
    origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
    stop: { reason: called ? 'tool-calls' : refused ? 'refusal' : 'done' },
  }
}

function portable(part: Part): Part {
  const { from: _from, ...rest } = part as Part & { from?: number }
  if (rest.type !== 'tool-call') return rest
  const { alias: _alias, ...call } = rest
  return call
}

/** A message as hosts write it, with fields that have no name here. */
const message = fc
  .record(
    {
      content: fc.oneof(
        words,
        fc.constant(''),
        fc.constant(null),
        fc.constant([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ]),
      ),
      refusal: fc.constantFrom(null, 'No.'),
      reasoning_content: fc.oneof(words, fc.constant('')),
      reasoning: fc.oneof(words, fc.constant(null)),
      reasoning_details: fc.constant([
        { type: 'reasoning.text', text: 'a', index: 0 },
        { type: 'reasoning.text', text: 'b', index: 0 },
        { type: 'reasoning.encrypted', data: 'c', index: 0 },
      ]),
      annotations: fc.constantFrom([], [{ type: 'url_citation' }]),
      executed_tools: fc.constant([
        { index: 0, type: 'search', output: 'x' },
        { index: 0, type: 'search', output: 'y' },
      ]),
      audio: fc.constantFrom(null, { id: 'audio_1', data: 'UklGRg==', transcript: 'hi', expires_at: 3 }),
      tool_calls: fc.constantFrom(
        null,
        [],
        [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{ }' }, extra_content: { x: 1 } }],
        [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":"' } },
          { id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
          { id: 'b', type: 'custom', custom: { name: 'sh', input: 'ls -l' } },
        ],
      ),
      function_call: fc.constantFrom(null, { name: 'f', arguments: '{}' }),
      hologram: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: [] },
  )
  .map((fields) => JSON.parse(JSON.stringify({ role: 'assistant', ...fields })) as JsonObject)

test("a provider's own message is restored exactly, whatever the size of the pieces", () => {
  fc.assert(
    fc.property(
      message,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('stop', 'length', 'tool_calls'),
      (native, piece, raw) => {
        const first = decoded([{ choices: [{ index: 0, message: native, finish_reason: raw }] }]).reply
        assert.deepEqual(first.native, [native])
        const again = emulated(first, piece).reply
        assert.deepEqual(again.native, [native])
        assert.deepEqual(again.parts, first.parts)
        assert.deepEqual(again.stop, first.stop)
      },
    ),
  )
})

test('an emulated reply says what it cost', () => {
  const { usage, reply } = emulated(built([{ type: 'text', text: 'Hi' }]), 1)
  const { raw: _raw, ...counted } = usage ?? {}
  assert.deepEqual(counted, profile.usage)
  assert.equal(reply.origin.replyId, 'chatcmpl-9')
})

test('a whole reply is cut as the wire would send it', () => {
  const whole = openaiChat.whole(
    built([
      { type: 'text', text: 'Let me see' },
      { type: 'tool-call', callId: 'c1', name: 'clock', input: { zone: 'UTC' } },
    ]),
    profile,
  )
  const deltas = openaiChat.split(whole, 8).map((chunk) => {
    const [choice] = (chunk as { choices: { delta: Json; finish_reason: string | null }[] }).choices
    return choice ? [choice.delta, choice.finish_reason] : 'usage'
  })
  assert.deepEqual(deltas, [
    [{ role: 'assistant', content: '', refusal: null }, null],
    [{ content: 'Let me s' }, null],
    [{ content: 'ee' }, null],
    [{ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'clock', arguments: '' } }] }, null],
    [{ tool_calls: [{ index: 0, function: { arguments: '{"zone":' } }] }, null],
    [{ tool_calls: [{ index: 0, function: { arguments: '"UTC"}' } }] }, null],
    [{}, 'tool_calls'],
    'usage',
  ])
})

test('anything other than a complete reply is passed on unchanged', () => {
  for (const json of [null, 'x', { error: { message: 'no' } }, { choices: [] }]) {
    assert.deepEqual(openaiChat.split(json, 3), [json])
  }
})
