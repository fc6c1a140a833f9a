import assert from 'node:assert/strict'
import test from 'node:test'
import fc from '../property.ts'
import type { Message } from '../../src/core/message.ts'
import { pair } from '../../src/context/pair.ts'
import { calls, reply, result, user } from '../histories.ts'
import { anyHistory } from '../arbitrary.ts'

test('a history in order is not changed, message for message', () => {
  const history = [user('hi'), reply(calls('a', 'b')), result('a', '1'), result('b', '2'), reply('done')]
  const paired = pair(history)
  assert.deepEqual(paired.notes, [])
  assert.ok(paired.messages.every((message, i) => message === history[i]))
})

test('an unanswered call gets a failed result, with the same text each time', () => {
  const history = [user('hi'), reply(calls('a')), user('still there?')]
  const paired = pair(history)
  assert.deepEqual(
    paired.messages.map((message) => message.role),
    ['user', 'assistant', 'tool', 'user'],
  )
  const added = paired.messages[2]?.parts[0]
  assert.ok(added?.type === 'tool-result' && added.failed && added.callId === 'a')
  assert.deepEqual(pair(history), paired)
  assert.equal(paired.notes.length, 1)
})

test('an orphaned result becomes labelled user text with its content intact', () => {
  const paired = pair([result('gone', 'the raw content', 'clock'), user('continue')])
  assert.deepEqual(paired.messages[0], {
    role: 'user',
    parts: [{ type: 'text', text: '[Tool Result - Previous Context] clock: the raw content' }],
  })
})

test('results that arrived late, or before other messages, are moved to their calls in order', () => {
  const paired = pair([reply(calls('a', 'b')), user('hurry'), result('b', '2'), result('a', '1')])
  assert.deepEqual(
    paired.messages.map((message) => message.role),
    ['assistant', 'tool', 'tool', 'user'],
  )
  assert.deepEqual(
    paired.messages.slice(1, 3).map((message) => message.parts[0]),
    [result('a', '1').parts[0], result('b', '2').parts[0]],
  )
  assert.deepEqual(
    paired.notes.map(({ kind, what, at }) => ({ kind, what, at })),
    [
      { kind: 'changed', what: 'place of the result of tool', at: 'messages[3]' },
      { kind: 'changed', what: 'place of the result of tool', at: 'messages[2]' },
    ],
  )
})

test('of two results the last one is used, and the other is written as text unless it is the same', () => {
  const same = pair([reply(calls('a')), result('a', '1'), result('a', '1')])
  assert.equal(same.messages.length, 2)
  assert.equal(same.notes.length, 1)
  const other = pair([reply(calls('a')), result('a', '1'), result('a', '2')])
  assert.match(JSON.stringify(other.messages), /Previous Context\] tool: 1/)
})

test('a call id that is used again belongs to the call before it', () => {
  const paired = pair([reply(calls('x')), result('x', '1'), reply(calls('x')), result('x', '2')])
  assert.deepEqual(
    paired.messages.map((message) => message.parts.map((part) => ('callId' in part ? part.callId : ''))),
    [['x'], ['x'], ['x~2'], ['x~2']],
  )
})

test('results of two calls that share an id in one reply are paired in order', () => {
  const paired = pair([reply(calls('x')), reply(calls('x', 'x')), result('x', '1'), result('x', '2')])
  const results = paired.messages.flatMap((message) => (message.role === 'tool' ? message.parts : []))
  assert.deepEqual(
    results.map((part) => [part.callId, part.failed === true ? 'failed' : part.output[0]]),
    [
      ['x', 'failed'],
      ['x~2', { type: 'text', text: '1' }],
      ['x~3', { type: 'text', text: '2' }],
    ],
  )
})

test('for every history: calls and results are paired, the log is untouched, and no result text is lost', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const before = structuredClone(history)
      const paired = pair(history)
      assert.deepEqual(history, before)
      assertPaired(paired.messages)
      const told = JSON.stringify([paired.messages, paired.notes])
      for (const message of history) {
        if (message.role !== 'tool') continue
        for (const part of message.parts) {
          for (const output of part.output) {
            if (output.type === 'text') assert.ok(told.includes(JSON.stringify(output.text).slice(1, -1)))
          }
        }
      }
    }),
  )
})

function assertPaired(messages: Message[]): void {
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      for (const part of message.parts) assert.equal(part.callId, open.shift())
      continue
    }
    assert.deepEqual(open, [])
    open = message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []))
  }
  assert.deepEqual(open, [])
}
