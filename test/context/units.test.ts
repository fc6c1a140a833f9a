// Caches that give only whole units (DeepSeek): a fold is dearer there than it looks, and is made later.

import assert from 'node:assert/strict'
import test from 'node:test'
import { noDecisions, type Decisions } from '../../src/context/decisions.ts'
import { proposeByMoney, type PlanFacts } from '../../src/context/proposals.ts'
import { wholeView } from '../../src/context/view.ts'
import type { Message } from '../../src/core/message.ts'
import { call, reply, result, user } from '../histories.ts'

function history(turns: number): Message[] {
  const pairs = Array.from({ length: turns }, (_, i) => [
    reply(call(`c${i}`, 'tool')),
    result(`c${i}`, 'word '.repeat(400)),
  ])
  return [user('Go.'), ...pairs.flat()]
}

/** The turn at which the next fold is made, when the last one was made as given. */
function nextFold(units: boolean, decisions: Decisions): number {
  for (let turns = 5; turns < 400; turns++) {
    const situation: PlanFacts = {
      view: wholeView(history(turns)),
      decisions,
      settings: { maxToolTurns: 2, rhythm: 'economy' },
      head: 20_000,
      provider: 'elsewhere',
      model: 'a-model',
      requests: turns,
      cache: { read: 1 / 30, write: 1, minimum: 64, lifetimeMs: 1e9, units },
      cold: false,
      limit: Infinity,
    }
    if (proposeByMoney(situation).length > 0) return turns
  }
  return Infinity
}

function folded(cold: boolean): Decisions {
  return { ...noDecisions, folds: [{ from: 1, through: 3, style: 'stub', why: 'old', ...(cold && { cold }) }] }
}

test('the first fold breaks where a request ended, so it costs the same', () => {
  assert.equal(nextFold(true, noDecisions), nextFold(false, noDecisions))
})

test('after a fold in a cold cache nothing is found at the break of the next, which therefore waits', () => {
  assert.ok(nextFold(true, folded(true)) > nextFold(false, folded(true)))
})

test('after a warm fold only what came before it is found, which costs less than that', () => {
  const [warm, cold] = [nextFold(true, folded(false)), nextFold(true, folded(true))]
  assert.ok(warm < cold && warm >= nextFold(false, folded(false)))
})

test('turns before a cut are not sent any more, so they are not folded', () => {
  const situation: PlanFacts = {
    view: wholeView(history(10)),
    decisions: noDecisions,
    settings: { maxToolTurns: 2, rhythm: 'economy' },
    head: 0,
    provider: 'elsewhere',
    model: 'a-model',
    requests: 10,
    cache: { read: 0.1, write: 1, minimum: 0, lifetimeMs: 1e9 },
    cold: true,
    limit: Infinity,
  }
  const folds = (before: number) =>
    proposeByMoney({ ...situation, decisions: { ...noDecisions, cut: { before, why: 'long' } } }).map(({ fold }) => [
      fold?.from,
      fold?.through,
    ])
  assert.deepEqual([folds(0), folds(9), folds(17)], [[[1, 15]], [[9, 15]], []])
})
