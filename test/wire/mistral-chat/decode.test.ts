import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold, type Folded } from '../../../src/core/fold.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Origin } from '../../../src/core/message.ts'
import { mistralChat } from '../../../src/wires/mistral-chat/index.ts'
import type { DecoderOptions, EndCause } from '../../../src/wires/wire.ts'

const origin: Origin = { protocol: 'mistral-chat', provider: 'mistral', model: '' }

function read(chunks: Json[], cause?: EndCause, options?: DecoderOptions): Folded {
  const decoder = mistralChat.decoder(origin, options)
  const events = [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end(cause)]
  assert.equal(events[0]?.type, 'reply-start')
  assert.equal(events.filter((event) => event.type === 'reply-end').length, 1)
  assert.equal(events.at(-1)?.type, 'reply-end')
  return fold(events, origin)
}

function chunk(delta: JsonObject, finish: string | null = null, rest: JsonObject = {}): JsonObject {
  return {
    id: 'r1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'mistral-small-latest',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...rest,
  }
}

const usage = {
  prompt_tokens: 30,
  completion_tokens: 9,
  total_tokens: 39,
  prompt_tokens_details: { cached_tokens: 16 },
}

test('streamed text becomes one part, with usage, reply id and model', () => {
  const { reply, usage: counted } = read([
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo' }, 'stop', { usage }),
  ])
  assert.deepEqual(reply, {
    role: 'assistant',
    parts: [{ type: 'text', text: 'Hello', from: 0 }],
    native: [{ role: 'assistant', content: 'Hello' }],
    origin: { protocol: 'mistral-chat', provider: 'mistral', model: 'mistral-small-latest', replyId: 'r1' },
    stop: { reason: 'done', raw: 'stop' },
  })
  assert.deepEqual(counted, { input: 30, output: 9, cacheRead: 16, cacheWrite: 0, reasoning: 0, raw: usage })
})

test('thinking chunks, then text as chunk and as string, keep their order in parts and in the native message', () => {
  const thought = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }], closed: true })
  const { reply } = read([
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
    chunk({ content: [thought(', so')] }),
    chunk({ content: [thought('.'), { type: 'text', text: '14' }] }),
    chunk({ content: '4' }, 'stop', { usage }),
  ])
  assert.deepEqual(reply.parts, [
    { type: 'reasoning', text: 'Hm, so.', from: 0 },
    { type: 'text', text: '144', from: 0 },
  ])
  assert.deepEqual(reply.native, [{ role: 'assistant', content: [thought('Hm, so.'), { type: 'text', text: '144' }] }])
})

test('calls come whole, in pieces by index, or by id without an index', () => {
  const whole = read([
    chunk(
      {
        content: null,
        tool_calls: [
          { id: 'gSIMJiOkT', function: { name: 'weather', arguments: '{"at": "Rome"}' } },
          { id: 'aaaaaaaa1', function: { name: 'clock', arguments: '' } },
        ],
      },
      'tool_calls',
      { usage },
    ),
  ])
  assert.deepEqual(whole.reply.parts, [
    { type: 'tool-call', callId: 'gSIMJiOkT', alias: 'gSIMJiOkT', name: 'weather', input: { at: 'Rome' }, from: 0 },
    { type: 'tool-call', callId: 'aaaaaaaa1', alias: 'aaaaaaaa1', name: 'clock', input: {}, from: 0 },
  ])
  assert.equal(whole.reply.stop.reason, 'tool-calls')

  const pieces = read([
    chunk({
      content: '',
      tool_calls: [{ id: 'chatcmpl-1', type: 'function', function: { name: 'a', arguments: '' }, index: 0 }],
    }),
    chunk({ content: '', tool_calls: [{ type: 'function', function: { name: '', arguments: '{"q": ' }, index: 0 }] }),
    chunk({ tool_calls: [{ id: 'chatcmpl-2', type: 'function', function: { name: 'b', arguments: '{}' }, index: 1 }] }),
    chunk({ tool_calls: [{ function: { arguments: '1}' }, index: 0 }] }),
    chunk({}, 'stop', { usage }),
  ])
  assert.deepEqual(
    pieces.reply.parts.map((part) => part.type === 'tool-call' && [part.name, part.input]),
    [
      ['a', { q: 1 }],
      ['b', {}],
    ],
  )
  assert.deepEqual(pieces.reply.native, [
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'chatcmpl-1', type: 'function', function: { name: 'a', arguments: '{"q": 1}' }, index: 0 },
        { id: 'chatcmpl-2', type: 'function', function: { name: 'b', arguments: '{}' }, index: 1 },
      ],
    },
  ])
  assert.deepEqual(pieces.reply.stop, { reason: 'tool-calls', raw: 'stop' })

  const nameless = read([
    chunk({ tool_calls: [{ function: { name: 'a', arguments: '{"x"' } }] }),
    chunk({ tool_calls: [{ function: { arguments: ':2}' } }] }),
    chunk({ tool_calls: [{ function: { name: 'a', arguments: { x: 3 } } }] }),
    chunk({}, 'tool_calls'),
  ])
  assert.deepEqual(
    nameless.reply.parts.map((part) => part.type === 'tool-call' && [part.callId, part.alias, part.input]),
    [
      ['call-0', undefined, { x: 2 }],
      ['call-1', undefined, { x: 3 }],
    ],
  )
})

test('an index that starts again at 0 with another id is another call', () => {
  const { reply } = read([
    chunk({ tool_calls: [{ id: 'one', index: 0, function: { name: 'a', arguments: '{"n":1}' } }] }),
    chunk({ tool_calls: [{ id: 'two', index: 0, function: { name: 'a', arguments: '{"n":2}' } }] }),
    chunk({}, 'tool_calls'),
  ])
  assert.deepEqual(
    reply.parts.map((part) => part.type === 'tool-call' && part.input),
    [{ n: 1 }, { n: 2 }],
  )
})

test('a name that was changed for the wire is changed back; a call id may come from the caller', () => {
  const { reply } = read(
    [chunk({ tool_calls: [{ id: 'x', function: { name: 'fs_read', arguments: '{' } }] }, 'tool_calls')],
    undefined,
    { toolNames: { fs_read: 'fs.read' }, callId: (position, alias) => `ours-${position}-${alias}` },
  )
  assert.deepEqual(reply.parts, [
    { type: 'tool-call', callId: 'ours-0-x', alias: 'x', name: 'fs.read', input: {}, malformed: '{', from: 0 },
  ])
})

test('an unknown chunk is kept complete, in its position', () => {
  const reference = { type: 'reference', reference_ids: [1, 2] }
  const { reply } = read([
    chunk({ content: [{ type: 'text', text: 'See ' }] }),
    chunk({ content: [reference] }),
    chunk({ content: [{ type: 'text', text: '.' }] }, 'stop'),
  ])
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'See ', from: 0 },
    { type: 'opaque', kind: 'mistral-chat/reference', data: reference, from: 0 },
    { type: 'text', text: '.', from: 0 },
  ])
  assert.deepEqual(reply.native, [
    { role: 'assistant', content: [{ type: 'text', text: 'See ' }, reference, { type: 'text', text: '.' }] },
  ])
})

const stops: [string, string][] = [
  ['stop', 'done'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'done'],
  ['error', 'failed'],
  ['something new', 'done'],
]
for (const [raw, reason] of stops) {
  test(`finish_reason "${raw}" without calls means ${reason}`, () => {
    const { reply, failure } = read([chunk({ content: 'x' }, raw)])
    assert.deepEqual(reply.stop, { reason, raw })
    assert.equal(failure?.kind, reason === 'failed' ? 'malformed-reply' : undefined)
  })
}

test('a stream that ends early keeps its content; an open part is not native', () => {
  const { reply, failure } = read([
    chunk({ content: 'Let me' }),
    chunk({ tool_calls: [{ id: 'one', index: 0, function: { name: 'a', arguments: '{}' } }] }),
    chunk({ tool_calls: [{ id: 'two', index: 1, function: { name: 'b', arguments: '{"x": "y' } }] }),
  ])
  assert.deepEqual(reply.stop, { reason: 'interrupted' })
  assert.equal(failure?.kind, 'malformed-reply')
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'Let me', from: 0 },
    { type: 'tool-call', callId: 'one', alias: 'one', name: 'a', input: {}, from: 0 },
    { type: 'tool-call', callId: 'two', alias: 'two', name: 'b', input: {}, malformed: '{"x": "y' },
  ])
  assert.deepEqual(reply.native, [
    {
      role: 'assistant',
      content: 'Let me',
      tool_calls: [{ id: 'one', index: 0, function: { name: 'a', arguments: '{}' } }],
    },
  ])
})

test('thinking that was cut off is a part but not native', () => {
  const { reply } = read([chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'so' }] }] })], {
    reason: 'cancelled',
  })
  assert.deepEqual(reply.parts, [{ type: 'reasoning', text: 'so' }])
  assert.deepEqual(reply.stop, { reason: 'cancelled' })
  assert.deepEqual(reply.native, [])
})

test('the cause of an early end is kept', () => {
  const failure = { kind: 'timeout' as const, message: 'too slow' }
  const folded = read([chunk({ content: 'a' })], { reason: 'interrupted', failure })
  assert.deepEqual([folded.reply.stop, folded.failure], [{ reason: 'interrupted' }, failure])
})

test('an error object inside the stream fails the reply, classified', () => {
  const body = { object: 'error', message: 'Rate limit exceeded', type: 'rate_limited', param: null, code: '1300' }
  const { reply, failure } = read([chunk({ content: 'a' }), body])
  assert.equal(reply.stop.reason, 'failed')
  assert.equal(failure?.kind, 'rate-limit')
  assert.deepEqual(failure?.raw, body)
})

test('odd chunks do no harm: no choices, null, repeated usage, a second choice', () => {
  const decoder = mistralChat.decoder(origin)
  const events = [
    null,
    3,
    { choices: [] },
    { choices: [{ index: 1, delta: { content: 'other' } }] },
    chunk({ content: 'a', role: 'assistant', p: 'abc' }),
    chunk({}, 'stop', { usage }),
  ].flatMap((odd) => decoder.push(odd))
  assert.equal(decoder.done, true)
  events.push(...decoder.push({ ...chunk({}), choices: [], usage }), ...decoder.end(), ...decoder.end())
  const { reply, usage: counted } = fold(events, origin)
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'a', from: 0 }])
  assert.equal(counted?.input, 30)
})

test('nothing at all is an interrupted reply without text', () => {
  const { reply } = read([])
  assert.deepEqual([reply.parts, reply.native, reply.stop], [[], [], { reason: 'interrupted' }])
})

test('usage is read from the fields of each age', () => {
  const counted = (given: JsonObject) => read([chunk({ content: 'a' }, 'stop', { usage: given })]).usage
  assert.equal(counted({ prompt_tokens: 5, completion_tokens: 1, num_cached_tokens: 3 })?.cacheRead, 3)
  assert.equal(counted({ prompt_tokens: 5, completion_tokens: 1 })?.cacheRead, 0)
  assert.equal(counted({ completion_tokens_details: { reasoning_tokens: 8 } })?.reasoning, 8)
})

test('a complete body is read by the same decoder, however it is split', () => {
  const message = {
    role: 'assistant',
    tool_calls: [{ id: 'wyFNfgjhN', type: 'function', function: { name: 'a', arguments: '{"x": 1}' }, index: 0 }],
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'one two' }], closed: true },
      { type: 'text', text: 'first' },
      { type: 'text', text: 'second 🙂' },
      { type: 'reference', reference_ids: [1] },
      { type: 'reference', reference_ids: [2] },
    ],
  }
  const body = {
    id: 'r',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    usage,
    choices: [{ index: 0, finish_reason: 'tool_calls', message }],
  }
  for (const piece of [1, 2, 3, 5, 100]) {
    const { reply } = read(mistralChat.split(body, piece))
    assert.deepEqual(reply.native, [message])
    assert.deepEqual(
      reply.parts.map((part) => part.type),
      ['reasoning', 'text', 'text', 'opaque', 'opaque', 'tool-call'],
    )
  }
})
