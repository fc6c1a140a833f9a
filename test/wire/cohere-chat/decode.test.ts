// How streams of Cohere are read that end in another way than recorded ones do.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold, type Folded } from '../../../src/core/fold.ts'
import type { Json } from '../../../src/core/json.ts'
import { cohereChat } from '../../../src/wires/cohere-chat/index.ts'

const origin = { protocol: 'cohere-chat', provider: 'cohere', model: 'm' }

function read(...chunks: Json[]): Folded {
  const decoder = cohereChat.decoder(origin)
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
}

const start: Json = { id: 'r1', type: 'message-start', delta: { message: { role: 'assistant', content: [] } } }
const callStart: Json = {
  type: 'tool-call-start',
  index: 0,
  delta: { message: { tool_calls: { id: 'clock_1', type: 'function', function: { name: 'clock', arguments: '' } } } },
}
const argument = (text: string): Json => ({
  type: 'tool-call-delta',
  index: 0,
  delta: { message: { tool_calls: { function: { arguments: text } } } },
})
const text = (words: string): Json => ({
  type: 'content-delta',
  index: 0,
  delta: { message: { content: { text: words } } },
})

test('an interrupted reply keeps its text, and no half call', () => {
  const { reply } = read(start, text('Well, '), callStart, argument('{"zo'))
  assert.equal(reply.stop.reason, 'interrupted')
  assert.equal(reply.origin.replyId, 'r1')
  assert.deepEqual(reply.native, [{ role: 'assistant', content: [{ type: 'text', text: 'Well, ' }] }])
  const [said, called] = reply.parts
  assert.deepEqual(said, { type: 'text', text: 'Well, ', from: 0 })
  assert.equal(called?.type === 'tool-call' && called.malformed, '{"zo')
})

test('a call that ended before the stream was cut off is whole', () => {
  const { reply } = read(start, callStart, argument('{}'), { type: 'tool-call-end', index: 0 })
  const [message] = reply.native as { tool_calls: Json[] }[]
  assert.equal(message?.tool_calls.length, 1)
})

test('an error at the end of a stream, and one in the middle, fail the reply', () => {
  const atEnd = read(start, text('W'), { type: 'message-end', delta: { finish_reason: 'ERROR', error: 'it broke' } })
  assert.equal(atEnd.reply.stop.reason, 'failed')
  assert.match(atEnd.failure?.message ?? '', /it broke/)
  const late = read(start, { type: 'message-end', delta: { finish_reason: 'TIMEOUT' } })
  assert.equal(late.failure?.kind, 'timeout')
  const inside = read(start, text('W'), {
    message: 'trial token rate limit exceeded, limit is 100000 tokens per minute',
  })
  assert.equal(inside.failure?.kind, 'rate-limit')
})

test('an unknown block is kept and sent back', () => {
  const block = { type: 'chart', data: [1, 2] }
  const { reply } = read(
    start,
    { type: 'content-start', index: 0, delta: { message: { content: block } } },
    { type: 'content-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: 'COMPLETE' } },
  )
  assert.deepEqual(reply.parts, [{ type: 'opaque', kind: 'cohere-chat/chart', data: block, from: 0 }])
  assert.deepEqual(reply.native, [{ role: 'assistant', content: [block] }])
})
