// Decisions applied to a view: what each of them changes, where it begins and ends, and for whom.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Message, Reply } from '../../src/core/message.ts'
import {
  applyCuts,
  applyRewrites,
  compactionFor,
  cutStart,
  foldingsIn,
  isUnfolded,
  noDecisions,
  type CompactionDecision,
  type Decisions,
  type FoldDecision,
  type NativeSummary,
} from '../../src/context/decisions.ts'
import { hasField } from '../../src/context/refused.ts'
import { wholeView, type View } from '../../src/context/view.ts'
import { reply, result, user } from '../histories.ts'
import { turn } from './long-turns.ts'

/** Turns at 1, 3 and 5; the second is too short to be worth folding. */
const history = [user('q'), ...turn('a'), ...turn('b', 'short'), ...turn('c'), reply('x'), user('r')]
const view = wholeView(history)
const reader = { provider: 'p', protocol: 'w', model: 'm' }

const fold = (from: number, through: number, more: Partial<FoldDecision> = {}): FoldDecision => ({
  from,
  through,
  style: 'stub',
  why: 'old',
  ...more,
})

describe('folds', () => {
  const folded = (folds: FoldDecision[], unfolded?: { from: number; through: number }[], of: View = view) =>
    foldingsIn(of, { folds, ...(unfolded && { unfolded }) }).map(({ turn: { start }, style, why, at }) => [
      start,
      style,
      why,
      at,
    ])

  test('cover the turns from their first to their last position, if these are worth it', () => {
    assert.deepEqual(folded([]), [])
    assert.deepEqual(folded([fold(1, 5)]), [
      [1, 'stub', 'old', 2],
      [5, 'stub', 'old', 6],
    ])
    assert.deepEqual(folded([fold(1, 1)]), [[1, 'stub', 'old', 2]])
    assert.deepEqual(folded([fold(1, 4)]), [[1, 'stub', 'old', 2]])
    assert.deepEqual(folded([fold(2, 5)]), [[5, 'stub', 'old', 6]])
    assert.deepEqual(folded([fold(3, 3)]), [], 'a short turn')
    assert.deepEqual(folded([fold(6, 9)]), [])
  })

  test('apply in the order of their positions, and count from when they were decided', () => {
    assert.deepEqual(folded([fold(5, 5, { why: 'later' }), fold(1, 3, { style: 'remove', at: 4 })]), [
      [1, 'remove', 'old', 4],
      [5, 'stub', 'later', 6],
    ])
    assert.deepEqual(folded([fold(0, 2), fold(1, 5, { why: 'second' })]), [
      [1, 'stub', 'old', 2],
      [5, 'stub', 'second', 6],
    ])
  })

  test('do not apply to turns that were unfolded', () => {
    assert.deepEqual(folded([fold(1, 5)], [{ from: 1, through: 1 }]), [[5, 'stub', 'old', 6]])
    assert.deepEqual(folded([fold(1, 5)], [{ from: 2, through: 4 }]).length, 2)
    assert.deepEqual(folded([fold(1, 5)], [{ from: 0, through: 9 }]), [])
    const stretch = [{ from: 2, through: 4 }]
    assert.deepEqual(
      [1, 2, 3, 4, 5].map((place) => isUnfolded(place, stretch)),
      [false, true, true, true, false],
    )
    assert.equal(isUnfolded(1), false)
  })

  test('do not apply to turns without a position', () => {
    const added = { ...view, places: view.places.map(() => -1) }
    assert.deepEqual(folded([fold(0, 9)], undefined, added), [])
    assert.deepEqual(folded([fold(-1, 9)], undefined, added).length, 2)
  })
})

describe('a cut', () => {
  test('begins at the first message of its position or later that is no result', () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4, 7].map((before) => cutStart(view, before)),
      [0, 1, 3, 3, 5, 7],
    )
    assert.equal(cutStart(view, 99), 0, 'nothing is that far')
    const added: View = { ...view, places: view.places.with(3, -1) }
    assert.equal(cutStart(added, 2), 5)
  })

  test('is made after the folds, and leaves the first user message', () => {
    const cut = { before: 5, why: 'long' }
    const { messages, places, notes } = applyCuts(view, { ...noDecisions, folds: [fold(1, 5)], cut })
    assert.deepEqual(places, [0, 5, 7, 8])
    assert.equal(messages[1]?.role, 'user', 'a stub')
    assert.deepEqual(
      notes.map(({ rule }) => rule),
      ['tool-turns', 'window'],
    )
    assert.equal(applyCuts(view, noDecisions), view)
  })
})

describe('a summary', () => {
  const native = (change: Partial<NativeSummary> = {}): NativeSummary => ({
    ...reader,
    as: 'reply',
    items: [{ type: 'compaction', data: 'zz' }],
    ...change,
  })
  const applied = (compactions: CompactionDecision[], of: View = view, as = reader) =>
    applyRewrites(of, { ...noDecisions, compactions }, as)

  test('is the newest that the reader can use', () => {
    const found = (...compactions: CompactionDecision[]) => compactionFor(compactions, reader)?.through
    assert.equal(found(), undefined)
    assert.equal(found({ through: 1, text: 'a' }, { through: 2, text: 'b' }), 2)
    assert.equal(found({ through: 1, text: '' }, { through: 2 }), 1)
    assert.equal(found({ through: 1, native: native() }), 1)
    for (const other of [{ provider: 'q' }, { protocol: 'v' }, { model: 'n' }]) {
      assert.equal(found({ through: 1, native: native(other) }), undefined, JSON.stringify(other))
      assert.equal(found({ through: 1, native: native(other), text: 'a' }), 1)
    }
  })

  test('replaces the messages up to its position, and whole tool turns', () => {
    const { messages, places, notes } = applied([{ through: 0, text: 'S' }])
    assert.deepEqual(messages[0], { role: 'user', parts: [{ type: 'compaction', text: 'S' }] })
    assert.deepEqual(places, [-1, 1, 2, 3, 4, 5, 6, 7, 8])
    assert.deepEqual(notes, [
      {
        kind: 'changed',
        what: '1 message to a summary',
        why: 'the conversation was compacted up to here',
        at: 'messages[0]',
        rule: 'compaction',
      },
    ])
    for (const through of [1, 2]) {
      const shorter = applied([{ through, text: 'S' }])
      assert.deepEqual(shorter.places, [-1, 3, 4, 5, 6, 7, 8], `${through}`)
      assert.deepEqual([shorter.notes[0]?.what, shorter.notes[0]?.at], ['3 messages to a summary', 'messages[0..2]'])
    }
    assert.deepEqual(applied([{ through: 99, text: 'S' }]).places, [-1])
    assert.equal(applied([]), view)
    assert.equal(applied([{ through: -1, text: 'S' }]), view)
    const added = { ...view, places: view.places.map(() => -1) }
    assert.equal(applied([{ through: 5, text: 'S' }], added), added)
  })

  test('is the same message for the same text and the same continuation', () => {
    const [a, b] = [applied([{ through: 2, text: 'S' }]), applied([{ through: 2, text: 'S' }])]
    assert.equal(a.messages[0], b.messages[0])
    const other = applied([{ through: 2, text: 'T' }]).messages[0]
    assert.deepEqual(other?.parts, [{ type: 'compaction', text: 'T' }])
    assert.notEqual(applied([{ through: 4, text: 'S' }]).messages[0], a.messages[0])
  })

  test('of a provider is sent to it in its own form, and to others as text', () => {
    const both = [{ through: 0, text: 'S', native: native() }]
    const [first] = applied(both).messages
    assert.deepEqual(first, {
      role: 'assistant',
      parts: [{ type: 'compaction', from: 0, text: 'S' }],
      native: [{ type: 'compaction', data: 'zz' }],
      origin: reader,
      stop: { reason: 'done' },
    })
    assert.deepEqual(applied(both, view, { ...reader, model: 'n' }).messages[0]?.parts, [
      { type: 'compaction', text: 'S' },
    ])
    assert.deepEqual(applied([{ through: 0, native: native() }]).messages[0]?.parts, [{ type: 'compaction', from: 0 }])
    const input = applied([{ through: 0, native: native({ as: 'input', items: [{ type: 'compaction' }, {}, 'x'] }) }])
    assert.deepEqual(input.messages[0], {
      role: 'user',
      parts: [
        { type: 'opaque', kind: 'w/compaction', data: { type: 'compaction' } },
        { type: 'opaque', kind: 'w/item', data: {} },
        { type: 'opaque', kind: 'w/item', data: 'x' },
      ],
    })
    const none = applied([{ through: 0, native: native({ items: [] }) }])
    assert.deepEqual([none.messages[0], none.places[0]], [history[1], 1], 'it is in the following reply')
  })
})

describe('replies that their provider refuses', () => {
  const own = (change: Partial<Reply> = {}): Reply => ({
    ...reply('hi'),
    native: [{ content: [{ x: 1, y: 2 }] }],
    origin: reader,
    ...change,
  })
  const elsewhere = { ...reader, provider: 'q' }

  test('are sent from their parts up to a position, if they are of that provider and wire', () => {
    const replies: Message[] = [own(), own({ native: [] }), own({ origin: elsewhere }), own(), own()]
    const list = wholeView([user('q'), ...replies])
    const plain = (...decided: Decisions['plain']) => {
      const made = applyRewrites(list, { ...noDecisions, plain: decided }, reader)
      const changed = made.messages.flatMap((message, i) => (message === list.messages[i] ? [] : [i]))
      for (const i of changed) assert.deepEqual(made.messages[i], { ...list.messages[i], native: [] })
      return [changed, made.notes.map(({ at, rule }) => `${rule} ${at}`), made === list]
    }
    const decided = { provider: 'p', protocol: 'w' }
    assert.deepEqual(plain(), [[], [], true])
    assert.deepEqual(plain({ ...decided, through: 4 }), [[1, 4], ['plain messages[1..4]'], false])
    assert.deepEqual(plain({ ...decided, through: 3 }), [[1], ['plain messages[1]'], false])
    assert.deepEqual(plain({ ...decided, through: 1 }), [[1], ['plain messages[1]'], false])
    assert.deepEqual(plain({ ...decided, through: 0 }), [[], [], true])
    assert.deepEqual(plain({ ...decided, through: 9, provider: 'q' }), [[3], ['plain messages[3]'], false])
    assert.deepEqual(plain({ ...decided, through: 9, protocol: 'v' }), [[], [], true])
    const two = [
      { ...decided, through: 1 },
      { ...decided, through: 9, provider: 'q' },
    ]
    assert.deepEqual(plain(...two), [[1, 3], ['plain messages[1..3]'], false])
    const again = () => applyRewrites(list, { ...noDecisions, plain: [{ ...decided, through: 9 }] }, reader).messages[1]
    assert.equal(again(), again(), 'the same object each time')
    const opening = wholeView([own(), user('q')])
    const first = applyRewrites(opening, { ...noDecisions, plain: [{ ...decided, through: 9 }] }, reader)
    assert.equal(first.notes[0]?.at, 'messages[0]')
    const added = { ...list, places: list.places.map(() => -1) }
    assert.equal(applyRewrites(added, { ...noDecisions, plain: [{ ...decided, through: 9 }] }, reader), added)
  })

  test('lose the fields that were refused, for that provider and model only', () => {
    const input: Message = {
      role: 'user',
      parts: [
        { type: 'opaque', kind: 'w/item', data: { x: 1, z: 1 } },
        { type: 'opaque', kind: 'w/item', data: ['x'] },
        { type: 'text', text: 'x' },
      ],
    }
    const list = wholeView([input, own(), own({ origin: elsewhere }), user('x'), ...turn('a')], 2)
    const refused = (field: string, change = {}) => {
      const one = { provider: 'p', model: 'm', field, ...change }
      return applyRewrites(list, { ...noDecisions, refused: [one] }, reader)
    }
    const made = refused('x')
    assert.deepEqual(made.messages[0]?.parts[0], { type: 'opaque', kind: 'w/item', data: { z: 1 } })
    assert.deepEqual(made.messages[0]?.parts.slice(1), input.parts.slice(1))
    assert.deepEqual((made.messages[1] as Reply).native, [{ content: [{ y: 2 }] }])
    for (const i of [2, 3, 4, 5]) assert.equal(made.messages[i], list.messages[i])
    assert.deepEqual(
      made.notes.map(({ kind, what, at, rule }) => [kind, what, at, rule]),
      [
        ['dropped', 'x', 'messages[2]', 'refused'],
        ['dropped', 'x', 'messages[3]', 'refused'],
      ],
    )
    assert.equal(refused('x').messages[1], made.messages[1], 'the same object each time')
    assert.deepEqual((refused('y').messages[1] as Reply).native, [{ content: [{ x: 1 }] }])
    assert.deepEqual(refused('none').notes, [])
    for (const other of [{ provider: 'q' }, { model: 'n' }]) assert.equal(refused('x', other), list)
    const two = applyRewrites(
      list,
      { ...noDecisions, refused: ['x', 'y'].map((field) => ({ provider: 'p', model: 'm', field })) },
      reader,
    )
    assert.deepEqual((two.messages[1] as Reply).native, [{ content: [{}] }])
    assert.equal(two.notes[1]?.what, 'x, y')
  })

  test('have a field only if they would send it to the provider that refuses it', () => {
    const has = (message: Message, provider: string, field: string) => hasField(message, { provider, field })
    assert.equal(has(own(), 'p', 'x'), true)
    assert.equal(has(own(), 'p', 'z'), false)
    assert.equal(has(own(), 'q', 'x'), false)
    assert.equal(has(user({ type: 'opaque', kind: 'w/item', data: { x: 1 } }), 'q', 'x'), true)
    assert.equal(has(user('x'), 'p', 'x'), false)
    assert.equal(has(result('a', 'x'), 'p', 'x'), false)
  })
})
