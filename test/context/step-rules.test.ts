// When turns are folded and windows move, and where a cache is marked.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { cacheMarks, lastBreak } from '../../src/context/cache-marks.ts'
import { estimateMessage } from '../../src/context/count.ts'
import { noDecisions } from '../../src/context/decisions.ts'
import { stepFolds, stepwise } from '../../src/context/steps.ts'
import { wholeView } from '../../src/context/view.ts'
import { reply, user } from '../histories.ts'
import { turn } from './long-turns.ts'

describe('steps', () => {
  const turns = (count: number) => [user('q'), ...Array.from({ length: count }, (_, i) => turn(`c${i}`)).flat()]
  const chat = (count: number) => Array.from({ length: count }, (_, i) => (i % 2 === 0 ? user('q') : reply('a')))

  test('are of five turns, or of half of a larger limit, or one if nothing is to stay', () => {
    const folded = (count: number, settings: Parameters<typeof stepFolds>[1]) =>
      stepFolds(wholeView([...turns(count), reply('x')]), settings).length
    const each = (counts: number[], settings: Parameters<typeof stepFolds>[1]) =>
      counts.map((count) => folded(count, settings))
    assert.deepEqual(each([1, 2, 3], { maxToolTurns: 0 }), [1, 2, 3])
    assert.deepEqual(each([6, 7, 11, 12], { maxToolTurns: 2 }), [0, 5, 5, 10])
    assert.deepEqual(each([19, 20, 26, 27], { maxToolTurns: 13 }), [0, 7, 7, 14])
    assert.deepEqual(each([4, 5, 7], { maxToolTurns: 2, step: 3 }), [0, 3, 3])
    assert.deepEqual(each([9], { maxToolTurns: 2, rhythm: 'economy' }), [0])
    assert.deepEqual(each([9], {}), [0])
    assert.deepEqual(each([9], { maxToolTurns: null }), [0])
  })

  test('name the moment at which each turn was folded', () => {
    const view = wholeView([...turns(12), reply('x')])
    const moments = stepFolds(view, { maxToolTurns: 2 }).map(({ at, why }) => `${at} ${why}`)
    assert.deepEqual(
      [...new Set(moments)],
      ['13 older than the last 2 tool turns', '23 older than the last 2 tool turns'],
    )
  })

  test('of messages cut half of them, and of tokens down to half', () => {
    const cut = (count: number, settings: Parameters<typeof stepwise>[1]) =>
      stepwise(wholeView(chat(count)), settings).places
    assert.deepEqual(cut(8, { maxMessages: 8 }).length, 8)
    assert.deepEqual(cut(9, { maxMessages: 8 }), [0, 5, 6, 7, 8])
    assert.deepEqual(cut(9, { maxMessages: 8, step: 100 }), [0, 8])
    assert.deepEqual(cut(9, { maxMessages: 8, rhythm: 'economy' }).length, 9)
    const each = estimateMessage(user('q'))
    assert.equal(cut(9, { maxTokens: 9 * each }).length, 9)
    const shorter = cut(9, { maxTokens: 9 * each - 1 })
    assert.ok(shorter.length <= 5 && shorter.length >= 4, shorter.join())
    const notes = stepwise(wholeView(chat(9)), { maxMessages: 8, maxTokens: 1 }).notes
    assert.deepEqual(
      notes.map(({ why }) => why),
      ['over 8 messages', 'over 1 tokens'],
    )
  })

  test('of both leave the same messages as if the folds came first', () => {
    const history = [...turns(6), ...chat(9)]
    const { messages, places } = stepwise(wholeView(history), { maxMessages: 10, maxToolTurns: 0 })
    assert.equal(messages.length, places.length)
    assert.ok(messages.length <= 10)
    assert.equal(places.at(-1), history.length - 1)
    assert.equal(messages[0], history[0])
  })
})

describe('marks of a cache', () => {
  const view = (...messages: Message[]) => wholeView(messages)
  const chat = view(user('q'), reply('a'), user('r'), reply('b'), user('s'))

  test('are after the system, at the end of the last request and at the newest message', () => {
    assert.deepEqual(cacheMarks(chat, {}), [-1, 2, 4])
    assert.deepEqual(cacheMarks(view(user('q')), {}), [-1, 0])
    assert.deepEqual(cacheMarks(view(), {}), [-1])
    assert.deepEqual(cacheMarks(chat, { maxMessages: 10 }), [-1, 0, 2, 4], 'where a window breaks')
    assert.deepEqual(cacheMarks(chat, { maxMessages: null }), [-1, 2, 4])
  })

  test('hold the place of the next break: before the first turn that is worth folding', () => {
    const long2 = view(user('q'), ...turn('a', 'short'), ...turn('b'), ...turn('c'), user('r'))
    assert.deepEqual(cacheMarks(long2, { maxToolTurns: 1 }), [-1, 2, 4, 7])
    assert.deepEqual(cacheMarks(long2, {}), [-1, 4, 7])
    assert.deepEqual(cacheMarks(long2, { maxToolTurns: 1 }, 5), [-1, 4, 7], 'only those after the last break')
    assert.deepEqual(cacheMarks(long2, { maxToolTurns: 1 }, 7), [-1, 6, 7])
    assert.deepEqual(cacheMarks(long2, { maxToolTurns: 1 }, 99), cacheMarks(long2, { maxToolTurns: 1 }))
  })

  test('know where the newest fold begins', () => {
    const fold = (from: number) => ({ from, through: from, style: 'stub' as const, why: '' })
    const decisions = { ...noDecisions, folds: [fold(1), fold(5)] }
    assert.equal(lastBreak(chat, {}, decisions), 5)
    assert.equal(lastBreak(chat, { rhythm: 'economy', maxToolTurns: 2 }, decisions), 5)
    assert.equal(lastBreak(chat, {}, undefined), undefined)
    assert.equal(lastBreak(chat, { maxToolTurns: 2 }, decisions), undefined)
    const turns = wholeView([user('q'), ...Array.from({ length: 12 }, (_, i) => turn(`c${i}`)).flat(), reply('x')], 3)
    assert.equal(lastBreak(turns, { maxToolTurns: 2 }, undefined), 14)
  })
})
