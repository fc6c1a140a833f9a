// Replies with thousands of calls.

import assert from 'node:assert/strict'
import test from 'node:test'
import { wholeView } from '../../src/context/view.ts'
import { callsOf, type Message, type ToolMessage } from '../../src/core/message.ts'
import { calls, reply, result, user } from '../histories.ts'

const ids = Array.from({ length: 1500 }, (_, i) => `c${i}`)

function history(failed: (index: number) => boolean): Message[] {
  const parts = ids.flatMap((id, i) =>
    result(id, `result ${i}`).parts.map((part) => ({ ...part, ...(failed(i) && { failed: true }) })),
  )
  const answers: ToolMessage[] = [0, 700].map((start) => ({
    role: 'tool',
    parts: parts.slice(start, start === 0 ? 700 : undefined),
  }))
  return [user('go'), reply(calls(...ids)), ...answers, reply('done'), user('and now?')]
}

test('of a reply with thousands of calls those after the thousandth that were not run are left out, in pairs', () => {
  const given = history((i) => i >= 128)
  const { messages, places, notes } = wholeView(given)
  const sent = messages.find((message) => message.role === 'assistant')
  assert.ok(sent)
  const asked = callsOf(sent).map(({ callId }) => callId)
  assert.deepEqual(asked, ids.slice(0, 1000))
  const answered = messages.flatMap((message) => (message.role === 'tool' ? message.parts : []))
  assert.deepEqual(
    answered.map(({ callId }) => callId),
    asked,
  )
  assert.deepEqual(places, [0, 1, 2, 3, 4, 5])
  assert.deepEqual(
    notes.map(({ kind, what, at }) => ({ kind, what, at })),
    [{ kind: 'dropped', what: '500 calls and their results', at: 'messages[1]' }],
  )
})

test('what is left is the same object each time, so that its bytes are found again', () => {
  const given = history((i) => i >= 128)
  const [before, after] = [wholeView(given), wholeView([...given, reply('more')])]
  assert.ok(before.messages.every((message, i) => message === after.messages[i]))
})

test('calls that a tool has answered are always sent', () => {
  const given = history(() => false)
  const { messages, notes } = wholeView(given)
  assert.ok(messages.every((message, i) => message === given[i]))
  assert.deepEqual(notes, [])
})
