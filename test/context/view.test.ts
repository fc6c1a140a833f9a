// What changes a view before it is sent, each at its limits.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { mentionRecall } from '../../src/context/mention-recall.ts'
import { withoutRefused } from '../../src/context/refused.ts'
import { findToolTurns, foldToolTurns, isFold } from '../../src/context/tool-turns.ts'
import { wholeView } from '../../src/context/view.ts'
import { call, onePixel, reply, result, user } from '../histories.ts'

function nested(levels: number): Json {
  let value: Json = 1
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

test('arguments nested deeper than 64 levels are sent as text, with a note', () => {
  const [fine, deep] = [{ a: nested(63) }, { a: nested(64) }]
  assert.deepEqual(wholeView([reply(call('a', 'tool', fine)), result('a', 'ok')]).notes, [])
  const { messages, notes } = wholeView([user('q'), reply(call('a', 'tool', deep)), result('a', 'ok')], 3)
  const part = { ...call('a', 'tool'), malformed: JSON.stringify(deep) }
  assert.deepEqual(messages[1]?.parts, [part])
  assert.equal(notes[0]?.at, 'messages[4]')
})

test('a refused field is left out of the parts of a user that only the provider can read, with a note', () => {
  const own = { type: 'opaque' as const, kind: 'elsewhere/file', data: { id: 'f', x: 1 } }
  const view = wholeView([user('Read it.', own), user('And this?')])
  const refused = [{ provider: 'elsewhere', model: 'a-model', field: 'x' }]
  const reader = { provider: 'elsewhere', protocol: 'elsewhere', model: 'a-model' }
  const { messages, notes } = withoutRefused(view, refused, reader)
  assert.deepEqual(messages, [user('Read it.', { ...own, data: { id: 'f' } }), user('And this?')])
  assert.equal(messages[1], view.messages[1])
  assert.deepEqual(
    notes.map(({ what, at }) => [what, at]),
    [['x', 'messages[0]']],
  )
  assert.equal(withoutRefused(view, refused, { ...reader, model: 'other' }), view)
})

test('recall is mentioned once, at the first fold, and not at what the model wrote next to a call', () => {
  const view = wholeView([
    user('Go.'),
    ...['a', 'b'].flatMap((id) => [reply('Let me look.', call(id, 'read')), result(id, 'word '.repeat(400), 'read')]),
    reply('Done.'),
  ])
  const foldings = findToolTurns(view.messages).map((turn) => ({ turn, style: 'stub' as const, why: 'old', at: 5 }))
  const { messages } = mentionRecall(foldToolTurns(view, foldings), isFold)
  const mentions = messages.map((message) => JSON.stringify(message).includes('The tool `recall`'))
  assert.deepEqual(mentions, [false, false, true, false, false, false])
})

test('recall is mentioned in the first result of a message and at a summary, never at a picture', () => {
  const mentioned = (...given: Parameters<typeof user>) =>
    mentionRecall({ messages: [user(...given)], places: [0], notes: [] }, () => true).messages[0]
  const results = { role: 'tool' as const, parts: [...result('a', '1').parts, ...result('b', '2').parts] }
  const { messages } = mentionRecall({ messages: [results], places: [0], notes: [] }, () => true)
  assert.match(JSON.stringify(messages[0]?.parts[0]), /recall` reads .*\\n1"/)
  assert.equal(messages[0]?.parts[1], results.parts[1])
  assert.deepEqual(mentioned(onePixel), user(onePixel))
  const summary = { type: 'compaction' as const, text: 'Before.' }
  assert.match(JSON.stringify(mentioned(summary)), /Before\.\\n\\nThe tool `recall` finds/)
})

test('tool turns of a list are the same, whatever was found in lists with the same beginning', () => {
  const [asks, done] = [() => reply(call('a', 'look')), () => reply({ type: 'text', text: 'Done.' })]
  const [asked, found] = [() => user('Look.'), () => result('a', 'ok')]
  const places = (messages: readonly Message[]) => findToolTurns(messages).map(({ start, end }) => [start, end])
  const all = [asked(), asks(), found(), found(), done(), asked(), asks(), found(), done()]
  // Longer and shorter lists, which end inside of turns and after them.
  for (const length of [1, 2, 3, 6, 7, 9, 4, 8, 5]) {
    const list = all.slice(0, length)
    const expected = [
      ...(length > 1 ? [[1, Math.min(length, 4)]] : []),
      ...(length > 6 ? [[6, Math.min(length, 8)]] : []),
    ]
    assert.deepEqual(places(list), expected, `${length} messages`)
  }
  // Another branch.
  assert.deepEqual(places([...all.slice(0, 3), asks(), found()]), [
    [1, 3],
    [3, 5],
  ])
})
