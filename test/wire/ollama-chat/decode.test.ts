import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold, type Folded } from '../../../src/core/fold.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Origin } from '../../../src/core/message.ts'
import { ollamaChat } from '../../../src/wires/ollama-chat/index.ts'
import type { DecoderOptions, EndCause } from '../../../src/wires/wire.ts'

const origin: Origin = { protocol: 'ollama-chat', provider: 'ollama', model: '' }

/** Bytes as the server sends them: one JSON value per line. */
function read(ndjson: string, cause?: EndCause, options?: DecoderOptions): Folded {
  const decoder = ollamaChat.decoder(origin, options)
  const lines = ndjson.split('\n').filter((line) => line !== '')
  const events = [...lines.flatMap((line) => decoder.push(JSON.parse(line) as Json)), ...decoder.end(cause)]
  assert.equal(events[0]?.type, 'reply-start')
  assert.equal(events.at(-1)?.type, 'reply-end')
  return fold(events, origin)
}

function line(message: JsonObject, rest: JsonObject = {}): string {
  const at = '2026-11-15T12:00:00.000000Z'
  return `${JSON.stringify({ model: 'qwen3:8b', created_at: at, message: { role: 'assistant', ...message }, done: false, ...rest })}\n`
}

const numbers = {
  total_duration: 5,
  load_duration: 1,
  prompt_eval_count: 26,
  prompt_eval_duration: 1,
  eval_count: 9,
  eval_duration: 2,
}
const done = (reason = 'stop') => line({ content: '' }, { done: true, done_reason: reason, ...numbers })

test('lines of thinking and text become one part each, with usage and model', () => {
  const { reply, usage } = read(
    line({ content: '', thinking: 'The user' }) +
      line({ content: '', thinking: ' asks.' }) +
      line({ content: 'Hel' }) +
      line({ content: 'lo' }) +
      done(),
  )
  assert.deepEqual(reply, {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'The user asks.', from: 0 },
      { type: 'text', text: 'Hello', from: 0 },
    ],
    native: [{ role: 'assistant', content: 'Hello', thinking: 'The user asks.' }],
    origin: { protocol: 'ollama-chat', provider: 'ollama', model: 'qwen3:8b' },
    stop: { reason: 'done', raw: 'stop' },
  })
  assert.deepEqual(usage, { input: 26, output: 9, cacheRead: 0, cacheWrite: 0, reasoning: 0, raw: numbers })
})

test('calls with and without an id are kept unchanged, arguments as an object', () => {
  const calls = [
    { id: 'call_a1b2c3d4', function: { index: 0, name: 'weather', arguments: { city: 'Rome' } } },
    { function: { index: 1, name: 'clock', arguments: {} } },
  ]
  const { reply } = read(line({ content: '', tool_calls: calls }) + done())
  assert.deepEqual(reply.parts, [
    {
      type: 'tool-call',
      callId: 'call_a1b2c3d4',
      alias: 'call_a1b2c3d4',
      name: 'weather',
      input: { city: 'Rome' },
      from: 0,
    },
    { type: 'tool-call', callId: 'call-1', name: 'clock', input: {}, from: 0 },
  ])
  assert.deepEqual(reply.native, [{ role: 'assistant', content: '', tool_calls: calls }])
  assert.deepEqual(reply.stop, { reason: 'tool-calls', raw: 'stop' })
})

test('arguments as text are read, or kept as malformed', () => {
  const asks = (args: Json) => ({ function: { name: 'a', arguments: args } })
  const { reply } = read(
    line({ content: '', tool_calls: [asks('{"x":1}'), asks('{"x'), asks([1]), { function: { name: 'a' } }] }) + done(),
  )
  assert.deepEqual(
    reply.parts.map((part) => part.type === 'tool-call' && [part.input, part.malformed]),
    [
      [{ x: 1 }, undefined],
      [{}, '{"x'],
      [{}, '[1]'],
      [{}, undefined],
    ],
  )
})

test('a call that is sent twice is one call', () => {
  const calls = [{ id: 'call_1', function: { name: 'a', arguments: {} } }]
  const { reply } = read(line({ content: '', tool_calls: calls }) + line({ content: '', tool_calls: calls }) + done())
  assert.equal(reply.parts.length, 1)
})

test('names and ids are those of the caller', () => {
  const { reply } = read(line({ tool_calls: [{ function: { name: 'fs_read', arguments: {} } }] }) + done(), undefined, {
    toolNames: { fs_read: 'fs.read' },
    callId: (position) => `ours-${position}`,
  })
  assert.deepEqual(reply.parts, [{ type: 'tool-call', callId: 'ours-0', name: 'fs.read', input: {}, from: 0 }])
})

test('stop reasons', () => {
  assert.deepEqual(read(line({ content: 'a' }) + done('length')).reply.stop, { reason: 'length', raw: 'length' })
  assert.deepEqual(read(line({ content: '' }, { done: true, done_reason: 'load' })).reply.stop, {
    reason: 'done',
    raw: 'load',
  })
  assert.deepEqual(read(line({ content: 'a' }, { done: true })).reply.stop, { reason: 'done' })
})

test('a stream that ends early keeps its text', () => {
  const { reply, failure, usage } = read(line({ content: '', thinking: 'so' }) + line({ content: 'half' }))
  assert.deepEqual(reply.stop, { reason: 'interrupted' })
  assert.equal(failure?.kind, 'malformed-reply')
  assert.equal(usage, undefined)
  assert.deepEqual(reply.native, [{ role: 'assistant', content: 'half', thinking: 'so' }])
})

test('thinking that was cut off is a part but not native', () => {
  const { reply } = read(line({ content: '', thinking: 'so' }), { reason: 'cancelled' })
  assert.deepEqual(reply.parts, [{ type: 'reasoning', text: 'so' }])
  assert.deepEqual([reply.native, reply.stop], [[], { reason: 'cancelled' }])
})

test('an error line fails the reply, classified, and keeps the text before it', () => {
  const { reply, failure } = read(
    `${line({ content: 'half' })}{"error":"the input length exceeds the context length"}\n`,
  )
  assert.equal(reply.stop.reason, 'failed')
  assert.equal(failure?.kind, 'context-overflow')
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'half', from: 0 }])
  const alone = read('{"error":"an error was encountered while running the model","status":500}\n')
  assert.deepEqual([alone.failure?.status, alone.reply.native], [500, []])
})

test('odd lines do no harm, and nothing counts after the last', () => {
  const decoder = ollamaChat.decoder(origin)
  const events = [
    null,
    'x',
    {},
    { message: 3 },
    { message: { content: 5, tool_calls: 'x', future: { a: 1 } } },
  ].flatMap((odd) => decoder.push(odd))
  events.push(...decoder.push(JSON.parse(line({ content: 'a' }))), ...decoder.push(JSON.parse(done())))
  assert.equal(decoder.done, true)
  events.push(...decoder.push(JSON.parse(line({ content: 'b' }))), ...decoder.end(), ...decoder.end())
  const { reply } = fold(events, origin)
  assert.deepEqual(reply.native, [{ role: 'assistant', content: 'a', future: { a: 1 } }])
})

test('images in a reply are stored', () => {
  const { reply } = read(line({ content: 'here', images: ['AAAA'] }) + done())
  assert.deepEqual(reply.parts[1], { type: 'opaque', kind: 'ollama-chat/fields', data: { images: ['AAAA'] }, from: 0 })
})

test('a complete body is read by the same decoder, however it is split', () => {
  const message = {
    role: 'assistant',
    content: 'It is 🙂 noon.',
    thinking: 'a clock',
    tool_calls: [{ function: { name: 'a', arguments: { x: [1] } } }],
    images: ['AAAA'],
  }
  const body = { model: 'm', created_at: 't', message, done: true, done_reason: 'stop', ...numbers }
  for (const piece of [1, 2, 3, 100]) {
    const lines = ollamaChat.split(body, piece)
    const { reply, usage } = read(lines.map((one) => JSON.stringify(one)).join('\n'))
    assert.deepEqual(reply.native, [message])
    assert.equal(usage?.output, 9)
  }
})
