// Tool turns: finding them, and folding them in each style.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { stepFolds, stepwise } from '../../src/context/steps.ts'
import { findToolTurns, foldToolTurns } from '../../src/context/tool-turns.ts'
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

test('a stub names tool, arguments, size and outcome in a user message, and keeps the text', () => {
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

test('folding only results keeps the calls and the reply unchanged', () => {
  const view = folded('results', 1)
  assert.equal(view.messages[1], history[1])
  assert.deepEqual(view.messages[2], result('a', '[Folded #2] ok, 5 characters', 'clock'))
})

test('removing a turn leaves the text next to the calls', () => {
  assert.equal(folded('remove', 2).messages.length, 5)
})

function toolTurns(count: number): Message[] {
  return [
    user('start'),
    ...Array.from({ length: count }, (_, i) => [
      reply(call(`c${i}`, 'read', { path: `/a/b/c/file-${i}.ts` })),
      result(`c${i}`, `text ${i} `.repeat(200), 'read'),
    ]).flat(),
  ]
}

test('the last turns stay whole, and older ones are folded in batches', () => {
  const folded = (total: number) => stepFolds(wholeView(toolTurns(total)), { maxToolTurns: 3 }).length
  assert.deepEqual(
    Array.from({ length: 14 }, (_, total) => folded(total)),
    [0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 10],
  )
})

test('with a step of one, exactly the requested turns stay, and exactly the messages', () => {
  for (const total of [4, 9, 17, 30]) {
    const view = wholeView(toolTurns(total))
    assert.equal(stepFolds(view, { maxToolTurns: 3, step: 1 }).length, total - 3)
    const both = stepFolds(view, { maxToolTurns: 3, maxMessages: 8, step: 1 })
    assert.equal(both.length, total - 3)
  }
  const talk = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? user(`question ${i}`) : reply(`answer ${i}`)))
  for (const length of [9, 14, 30]) {
    const { messages } = stepwise(wholeView(talk.slice(0, length)), { maxMessages: 8, step: 1 })
    assert.equal(messages.length, 8)
    assert.equal(messages.at(-1), talk[length - 1])
  }
})

test('where both are limited, turns are folded when the window moves and not in between', () => {
  const settings = { maxMessages: 20, maxToolTurns: 3 }
  const whole = toolTurns(60)
  let before: readonly Message[] = []
  let breaks = 0
  for (let length = 3; length <= whole.length; length += 2) {
    const { messages } = stepwise(wholeView(whole.slice(0, length)), settings)
    if (before.some((message, i) => JSON.stringify(message) !== JSON.stringify(messages[i]))) breaks++
    assert.ok(messages.length <= 20)
    before = messages
  }
  assert.ok(breaks <= 12, `${breaks} breaks in 60 requests`)
})

test('a word of two results is in the fold of the first if both are folded, whatever was folded before', () => {
  const output = `shared_word ${'filler '.repeat(300)}`
  const messages = [user('Go.'), reply(calls('a')), result('a', output), reply(calls('b')), result('b', output)]
  const view = wholeView([...messages, reply('Done.')])
  const texts = (count: number): string[] => {
    const turns = findToolTurns(view.messages).slice(0, count)
    const folds = turns.map((turn) => ({ turn, style: 'stub' as const, why: 'old', at: 5 }))
    return foldToolTurns(view, folds).messages.map((message) => JSON.stringify(message.parts))
  }
  const alone = texts(1)
  assert.ok(!alone[1]?.includes('shared_word'), 'the second result is still sent')
  const both = texts(2)
  assert.ok(both[1]?.includes('shared_word'))
  assert.ok(!both[2]?.includes('shared_word'))
  assert.deepEqual(texts(1), alone)
})
