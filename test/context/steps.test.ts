// Folds and cuts by count, in steps.

import assert from 'node:assert/strict'
import test from 'node:test'
import { stepFolds, stepwise } from '../../src/context/steps.ts'
import { wholeView } from '../../src/context/view.ts'
import type { PolicySettings } from '../../src/settings/policy.ts'
import { call, reply, result, user } from '../histories.ts'

/** One question, and so many tool turns, all of them answered. */
function view(turns: number) {
  const pairs = Array.from({ length: turns }, (_, i) => [
    reply(call(`c${i}`, 'tool')),
    result(`c${i}`, 'word '.repeat(400)),
  ])
  return wholeView([user('Go.'), ...pairs.flat(), reply('Done.')])
}

/** The positions at which turns were folded, one for each turn. */
function folded(turns: number, settings: PolicySettings): number[] {
  return stepFolds(view(turns), settings).map(({ at }) => at)
}

test('turns are folded five at a time, as the reply that exceeds the limit arrives', () => {
  assert.deepEqual(folded(7, { maxToolTurns: 3 }), [])
  assert.deepEqual(folded(8, { maxToolTurns: 3 }), Array(5).fill(15))
  assert.deepEqual(folded(12, { maxToolTurns: 3 }), Array(5).fill(15))
  assert.deepEqual(folded(13, { maxToolTurns: 3 }), [...Array(5).fill(15), ...Array(5).fill(25)])
})

test('a large limit folds half as many turns as it keeps', () => {
  assert.equal(folded(29, { maxToolTurns: 20 }).length, 0)
  assert.equal(folded(30, { maxToolTurns: 20 }).length, 10)
})

test('a limit of none folds every answered turn at once, a limit of one in a batch', () => {
  assert.deepEqual(folded(3, { maxToolTurns: 0 }), [1, 3, 5])
  assert.deepEqual(folded(5, { maxToolTurns: 1 }), [])
})

test('without a limit, or when prices decide, nothing is folded by count', () => {
  assert.deepEqual(folded(30, {}), [])
  assert.deepEqual(folded(30, { maxToolTurns: 3, rhythm: 'economy' }), [])
})

test('with a limit of messages too, turns are folded by their own count until the window moves, then with it', () => {
  // The window moves as it exceeds 20 messages, with the 21st, and leaves 11 of them.
  assert.deepEqual(folded(9, { maxToolTurns: 3, maxMessages: 20 }), Array(5).fill(15))
  assert.deepEqual(folded(10, { maxToolTurns: 3, maxMessages: 20 }), [...Array(5).fill(15), ...Array(2).fill(20)])
  const each = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]
  assert.deepEqual(folded(12, { maxToolTurns: 0, maxMessages: 20 }), each, 'a limit of none waits for no window')
})

test('a window is cut at the message that it would begin with if no turn were folded', () => {
  const { messages, places } = stepwise(view(10), { maxToolTurns: 3, maxMessages: 20 })
  assert.equal(messages[0]?.role, 'user')
  const alone = stepwise(view(10), { maxMessages: 20 })
  assert.deepEqual(alone.places, [0, ...Array.from({ length: 11 }, (_, i) => 11 + i)])
  assert.deepEqual([...new Set(places)], [0, 11, 13, 15, 16, 17, 18, 19, 20, 21])
})

test('a window of messages halves unless a step is given, and is left to prices if these decide', () => {
  const count = (settings: PolicySettings) => stepwise(view(10), settings).messages.length
  assert.equal(count({ maxMessages: 22 }), 22)
  assert.equal(count({ maxMessages: 21, step: 4 }), 18)
  assert.equal(count({ maxMessages: 4, rhythm: 'economy' }), 22)
})

test('a window of tokens is cut to half of them, also if prices decide about the rest', () => {
  const whole = view(10)
  const { messages } = stepwise(whole, { maxTokens: 2000, rhythm: 'economy' })
  assert.ok(messages.length >= 3 && messages.length < whole.messages.length)
  assert.equal(stepwise(whole, { maxTokens: 1_000_000 }), whole)
})
