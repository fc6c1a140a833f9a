// Marks decide what a provider's cache gives: those before a fold, at it, and after it.

import assert from 'node:assert/strict'
import test from 'node:test'
import { noDecisions, type Decisions } from '../../src/context/decisions.ts'
import { cacheMarks, lastBreak } from '../../src/context/cache-marks.ts'
import { baseView, sentView } from '../../src/context/assemble.ts'
import type { PolicySettings } from '../../src/settings/policy.ts'
import type { Message } from '../../src/core/message.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import { call, reply, result, user } from '../histories.ts'

const settings: PolicySettings = { maxToolTurns: 2, rhythm: 'economy' }
const target = { provider: 'a', model: 'b', options: {}, quirks: {}, capabilities: openaiChat.capabilities }

/** A question and tool turns, each worth folding: message 0, then a reply and its result for each turn. */
function history(turns: number): Message[] {
  const pairs = Array.from({ length: turns }, (_, i) => [
    reply(call(`c${i}`, 'tool')),
    result(`c${i}`, 'word '.repeat(400)),
  ])
  return [user('Go.'), ...pairs.flat()]
}

function marksOf(turns: number, decisions: Decisions, policy = settings): number[] {
  const base = baseView({ history: history(turns), protocol: openaiChat, target, decisions })
  const view = sentView(base, policy, decisions, target)
  return cacheMarks(view, policy, lastBreak(base, policy, decisions))
}

function folded(from: number, through: number): Decisions {
  return { ...noDecisions, folds: [{ from, through, style: 'stub', why: 'old' }] }
}

test('between folds marks come after the system, at the next break, at the end of the last request, and at the newest', () => {
  assert.deepEqual(marksOf(6, noDecisions), [-1, 0, 10, 12])
})

test('the request that folds also marks the position of the break, which is all that the cache still has', () => {
  // Turns 1 to 4 are stubs now: messages 0, four stubs, two turns.
  assert.deepEqual(marksOf(6, folded(1, 7)), [-1, 0, 4, 8])
})

test('the request after that marks the end of the one before again', () => {
  assert.deepEqual(marksOf(7, folded(1, 7)), [-1, 4, 8, 10])
})

test('turns that a fold left before it do not hold the mark of the next break', () => {
  // Turn 1 stays whole, turns 2 to 4 are folded.
  assert.deepEqual(marksOf(7, folded(3, 7)), [-1, 5, 9, 11])
})

test('folding in steps marks its break too', () => {
  assert.deepEqual(marksOf(6, noDecisions, { maxToolTurns: 2, step: 4 }), [-1, 0, 4, 8])
})
