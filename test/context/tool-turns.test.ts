import assert from 'node:assert/strict'
import test from 'node:test'
import { findToolTurns, foldToolTurns, turnsToFold } from '../../src/context/tool-turns.ts'
import type { FoldStyle } from '../../src/settings/policy.ts'
import { wholeView } from '../../src/context/view.ts'
import { call, calls, failure, reply, result, user } from '../histories.ts'

const history = [
  user('what time is it?'),
  reply('Let me look.', call('a', 'clock', { zone: 'UTC' })),
  result('a', '12:00', 'clock'),
  reply('Noon.'),
  user('and the sum?'),
  reply(calls('b', 'c')),
  result('b', '3'),
  failure('c', 'overflow'),
  reply('Three.'),
]

function folded(style: FoldStyle, count: number) {
  const view = wholeView(history)
  const turns = findToolTurns(view.messages).slice(0, count)
  return foldToolTurns(
    view,
    turns.map((turn) => ({ turn, style, why: 'old', at: history.length - 1 })),
  )
}

test('a tool turn is a reply with calls and all its results', () => {
  assert.deepEqual(findToolTurns(history), [
    { start: 1, end: 3 },
    { start: 5, end: 8 },
  ])
})

test('a stub names tool, arguments, size and outcome on the user side, and keeps what was said', () => {
  const view = folded('stub', 2)
  assert.deepEqual(
    view.messages.map((message) => message.role),
    ['user', 'assistant', 'user', 'assistant', 'user', 'user', 'assistant'],
  )
  assert.deepEqual(view.messages[1]?.parts, [{ type: 'text', text: 'Let me look.' }])
  assert.deepEqual(view.messages[2], user('[Tool use #2] clock(zone: UTC): ok, 5 characters'))
  assert.deepEqual(
    view.messages[5],
    user('[Tool use #6] tool(): ok, 1 characters\n[Tool use #7] tool(): failed, 8 characters: overflow'),
  )
  assert.deepEqual(view.notes, [
    {
      kind: 'changed',
      what: '2 tool turns (clock, tool ×2) to one line for each call',
      why: 'old',
      at: 'messages[1..7]',
      rule: 'tool-turns',
    },
  ])
})

test('folding only results keeps the calls and the reply as it was', () => {
  const view = folded('results', 1)
  assert.equal(view.messages[1], history[1])
  assert.deepEqual(view.messages[2], result('a', '[Folded #2] ok, 5 characters', 'clock'))
})

test('removing a turn leaves what was said beside it', () => {
  assert.equal(folded('remove', 2).messages.length, 5)
})

test('the last turns stay whole, and older ones are folded in batches', () => {
  const counts = Array.from({ length: 14 }, (_, total) => turnsToFold(total, 3, 5))
  assert.deepEqual(counts, [0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 10])
})
