import assert from 'node:assert/strict'
import test from 'node:test'
import fc from '../property.ts'
import { wholeView } from '../../src/context/view.ts'
import { window } from '../../src/context/window.ts'
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
