// The window over a long history: where it cuts, and when it moves.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from '../property.ts'
import { wholeView } from '../../src/context/view.ts'
import { cutView, pinnedIn, startOfLast, window, windowMoves } from '../../src/context/window.ts'
import { loopHistory } from '../arbitrary.ts'
import { calls, reply, result, user } from '../histories.ts'

const chat = (turns: number) => Array.from({ length: turns }, (_, i) => [user(`q${i}`), reply(`a${i}`)]).flat()

test('a history that fits is not changed', () => {
  const view = wholeView(chat(3))
  assert.equal(window(view, { most: 6, downTo: 3 }, 'too many'), view)
})

test('a cut is one note, and the first user message stays', () => {
  const view = window(wholeView(chat(8)), { most: 10, downTo: 5 }, 'too many')
  assert.deepEqual(view.messages[0], user('q0'))
  assert.ok(view.messages.length <= 10)
  assert.equal(view.notes.length, 1)
  assert.match(view.notes[0]?.at ?? '', /^messages\[1\.\.\d+\]$/)
})

test('a step of one is the textbook sliding window', () => {
  const texts = window(wholeView(chat(6)), { most: 4, downTo: 4 }, 'too many').messages
  assert.deepEqual(texts, [user('q0'), ...chat(6).slice(-3)])
})

test('a tool turn larger than the window is kept complete if it is the newest', () => {
  const history = [
    user('go'),
    reply('ok'),
    user('now'),
    reply(calls('a', 'b', 'c', 'd')),
    result('a', '1'),
    result('b', '2'),
    result('c', '3'),
    result('d', '4'),
  ]
  const view = window(wholeView(history), { most: 3, downTo: 2 }, 'too many')
  assert.deepEqual(view.messages, [history[0], ...history.slice(3)])
})

test('for every history and size: no tool turn is split, and cuts only move forward in steps', () => {
  fc.assert(
    fc.property(loopHistory, fc.integer({ min: 2, max: 8 }), (history, most) => {
      let last = 0
      for (let length = 1; length <= history.length; length++) {
        if (history[length]?.role === 'tool') continue
        const view = window(wholeView(history.slice(0, length)), { most, downTo: Math.ceil(most / 2) }, 'too many')
        const first = view.messages.find((message, i) => i > 0 || message.role !== 'user')
        assert.notEqual(first?.role, 'tool')
        const start = view.places.find((place, i) => i > 0 && place !== i) ?? 0
        assert.ok(start >= last)
        last = start
      }
    }),
  )
})

test('a note names exactly what was cut, wherever the first user message is', () => {
  const system = { role: 'system' as const, parts: [{ type: 'text' as const, text: 'Be brief.' }] }
  const late = wholeView([system, ...chat(3)])
  const cut = (view: typeof late, start: number) => {
    const { messages, places, notes } = cutView(view, start, 'too many')
    assert.equal(messages.length, places.length)
    return [places, notes[0]?.what, notes[0]?.at]
  }
  assert.deepEqual(cut(late, 2), [[1, 2, 3, 4, 5, 6], '1 message', 'messages[0]'])
  assert.deepEqual(cut(late, 4), [[1, 4, 5, 6], '3 messages', 'messages[0..3]'])
  assert.deepEqual(cut(late, 1), [[1, 2, 3, 4, 5, 6], '1 message', 'messages[0]'])
  assert.deepEqual(cut(wholeView(chat(3)), 2), [[0, 2, 3, 4, 5], '1 message', 'messages[1]'])
  assert.deepEqual(cut(wholeView([reply('a'), reply('b'), reply('c')]), 2), [[2], '2 messages', 'messages[0..1]'])
  const whole = wholeView(chat(3))
  assert.equal(cutView(whole, 1, 'too many'), whole)
  assert.equal(cutView(whole, 0, 'too many'), whole)
})

test('a summary that opens a history stays, unless it is part of a tool turn', () => {
  const summary = { type: 'compaction' as const, text: 'Before.' }
  const opaque = { type: 'opaque' as const, kind: 'elsewhere/compaction', data: {} }
  assert.equal(pinnedIn([reply(summary), user('q')]), 0)
  assert.equal(pinnedIn([reply(opaque), user('q')]), 0)
  assert.equal(pinnedIn([reply({ ...opaque, kind: 'elsewhere/other' }), user('q')]), 1)
  assert.equal(pinnedIn([reply(summary, calls('a')), result('a', '1'), user('q')]), 2)
  assert.equal(pinnedIn([reply('a'), reply(summary), user('q')]), 2)
  assert.deepEqual([pinnedIn([reply('a')]), pinnedIn([])], [-1, -1])
})

test('the last messages of a size include the first user message, and a tool turn is never split', () => {
  assert.equal(startOfLast(chat(4), 3), 6)
  assert.equal(startOfLast(chat(4), 8), 0)
  assert.equal(startOfLast(chat(4), 7), 2)
  assert.equal(startOfLast(chat(4), 0), 7, 'the newest stays')
  assert.equal(startOfLast([reply('a'), reply('b'), reply('c')], 2), 1)
  assert.equal(startOfLast(chat(2), 11, [5, 1, 2, 4]), 2)
  assert.equal(startOfLast(chat(2), 10, [5, 1, 2, 4]), 3)
  assert.equal(startOfLast([reply('a'), user('q'), reply('b')], 2, [1, 1, 1]), 1)
  const turn = [reply(calls('a', 'b')), result('a', '1'), result('b', '2')]
  assert.equal(startOfLast([user('q'), ...turn], 2), 1, 'the newest turn, whatever its size')
  assert.equal(startOfLast([user('q'), ...turn, reply('c')], 3), 4)
  assert.equal(startOfLast([user('q'), ...turn, reply('c')], 5), 0)
})

test('the moves of a window depend on the messages before them alone', () => {
  assert.deepEqual(windowMoves(chat(4), { most: 4, downTo: 2 }), [
    { end: 5, start: 4 },
    { end: 8, start: 7 },
  ])
  assert.deepEqual(windowMoves(chat(4), { most: 8, downTo: 2 }), [])
  assert.deepEqual(windowMoves([reply('a'), reply('b'), reply('c')], { most: 2, downTo: 1 }), [{ end: 3, start: 2 }])
  const replies = ['a', 'b', 'c', 'd', 'e'].map((text) => reply(text))
  assert.deepEqual(windowMoves(replies, { most: 4, downTo: 3 }), [{ end: 5, start: 2 }])
  const turn = [reply(calls('a', 'b')), result('a', '1'), result('b', '2')]
  assert.deepEqual(windowMoves([user('q'), ...turn, reply('c')], { most: 4, downTo: 4 }), [{ end: 5, start: 4 }])
  assert.deepEqual(windowMoves(chat(2), { most: 10, downTo: 6, sizes: [5, 1, 2, 4] }), [{ end: 4, start: 3 }])
})
