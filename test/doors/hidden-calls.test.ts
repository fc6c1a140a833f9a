// What a client gets of replies with calls that the server answers itself.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Entry } from '../../src/core/log.ts'
import type { Message, Part, Reply, StopReason } from '../../src/core/message.ts'
import { shownReply, withoutAnswered } from '../../src/server/doors/hidden-calls.ts'

const recall: Part = { type: 'tool-call', callId: 'a', name: 'recall', input: { id: '2' } }
const read: Part = { type: 'tool-call', callId: 'b', name: 'read', input: {} }
const text: Part = { type: 'text', text: 'Found.' }

function reply(parts: Part[], reason: StopReason): Reply {
  const origin = { protocol: 'openai-chat', provider: 'openai', model: 'gpt-5.6' }
  return { role: 'assistant', parts, native: [{ role: 'assistant' }], origin, stop: { reason } }
}

test('a reply says why it stopped as the client has it', () => {
  const looked = reply([recall], 'tool-calls')
  assert.equal(shownReply([reply([recall, read], 'tool-calls')])?.stop.reason, 'tool-calls', 'one call is left')
  assert.equal(shownReply([looked, reply([text], 'length')])?.stop.reason, 'length')
  assert.equal(shownReply([looked])?.stop.reason, 'done', 'the model did not go on')
})

test('several replies to one request are one, without what their provider sent', () => {
  const whole = shownReply([reply([text, recall], 'tool-calls'), reply([text, read], 'tool-calls')])
  assert.deepEqual([whole?.parts, whole?.native], [[text, text, read], []])
  const only = reply([text], 'done')
  assert.equal(shownReply([only]), only)
  assert.equal(shownReply([]), undefined)
})

test('a history loses the calls that the server answered, and nothing else', () => {
  const results = (...ids: string[]): Message => ({
    role: 'tool',
    parts: ids.map((callId) => ({
      type: 'tool-result' as const,
      callId,
      name: callId === 'a' ? 'recall' : 'read',
      output: [],
      ...(callId === 'a' && { value: 'raw' }),
    })),
  })
  const path = [reply([text, recall, read], 'tool-calls'), results('a', 'b'), results('a')].map(
    (message, i) => ({ id: String(i), message }) as Entry,
  )
  const shown = withoutAnswered(path)
  assert.deepEqual(
    shown.map(({ message }) => message.parts.map((part) => ('callId' in part ? part.callId : part.type))),
    [['text', 'b'], ['b']],
  )
  assert.ok(shown[0]?.message.role === 'assistant' && shown[0].message.native.length === 0)
  const other = [{ id: '0', message: results('b') } as Entry]
  assert.deepEqual(withoutAnswered(other), other)
})
