// Decisions read from overlays: incomplete, undone and foreign ones decide nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { compactionData, overlaysOn, proposalData, readDecisions } from '../../src/context/overlay-codec.ts'

const entries = ['a', 'b', 'c'].map((id) => ({ id }))
const read = (kind: string, data: JsonObject, entryId = 'c', undone = false) =>
  readDecisions(entries, [{ kind, data, undone, entryId, at: '' }])
const none = readDecisions(entries, [])

test('an overlay that lacks a field, or has it in another type, decides nothing', () => {
  const whole: [string, JsonObject][] = [
    ['plain', { through: 'b', provider: 'p', protocol: 'w' }],
    ['refused-field', { provider: 'p', model: 'm', field: 'f' }],
    ['cut', { before: 'b' }],
    ['compaction', { through: 'b' }],
  ]
  for (const [kind, data] of whole) {
    assert.notDeepEqual(read(kind, data), none, kind)
    for (const field of Object.keys(data)) {
      const { [field]: _, ...rest } = data
      assert.deepEqual(read(kind, rest), none, `${kind} without ${field}`)
      assert.deepEqual(read(kind, { ...rest, [field]: 1 }), none, `${kind} with a number as ${field}`)
    }
  }
})

test('an overlay of another branch, or one that was undone, decides nothing', () => {
  const data = { through: 'b', provider: 'p', protocol: 'w' }
  assert.deepEqual(read('plain', data, 'elsewhere'), none)
  assert.deepEqual(read('plain', data, 'c', true), none)
  assert.deepEqual(read('plain', { ...data, through: 'elsewhere' }), none)
})

test('a fold is read with its place, and only with both ends on the path and a known style', () => {
  const data = { from: 'a', through: 'b', style: 'stub', why: 'old' }
  const fold = { from: 0, through: 1, style: 'stub', why: 'old', at: 2 }
  assert.deepEqual(read('fold', data), { ...none, folds: [fold] })
  assert.deepEqual(read('fold', data, 'b').folds[0]?.at, 1)
  for (const style of ['stub', 'results', 'remove', 'provider']) {
    assert.equal(read('fold', { ...data, style }).folds[0]?.style, style)
  }
  assert.deepEqual(read('fold', { ...data, cold: true }).folds[0]?.cold, true)
  assert.equal('cold' in (read('fold', { ...data, cold: 'yes' }).folds[0] ?? {}), false)
  for (const wrong of [
    { from: 'x' },
    { through: 'x' },
    { from: 1 },
    { through: 1 },
    { style: 'other' },
    { style: 1 },
  ]) {
    assert.deepEqual(read('fold', { ...data, ...wrong }), none, JSON.stringify(wrong))
  }
  assert.equal(read('fold', { ...data, why: 1 }).folds[0]?.why, 'it was decided earlier')
})

test('a fold that was undone is remembered, if it was made on this path and both ends are on it', () => {
  const data = { from: 'a', through: 'b', style: 'stub' }
  assert.deepEqual(read('fold', data, 'c', true), { ...none, unfolded: [{ from: 0, through: 1 }] })
  assert.deepEqual(read('fold', data, 'elsewhere', true), none)
  assert.deepEqual(read('fold', { ...data, from: 'x' }, 'c', true), none)
  assert.deepEqual(read('fold', { ...data, through: 'x' }, 'c', true), none)
  assert.deepEqual(read('cut', { ...data, before: 'b' }, 'c', true), none)
})

test('of several cuts the furthest applies, and one before the first message is none', () => {
  const cuts = (...before: string[]) =>
    readDecisions(
      entries,
      before.map((id, i) => ({ kind: 'cut', data: { before: id, why: `${i}` }, undone: false, entryId: 'c', at: '' })),
    ).cut
  assert.deepEqual(cuts('b', 'c'), { before: 2, why: '1' })
  assert.deepEqual(cuts('c', 'b'), { before: 2, why: '0' })
  assert.deepEqual(cuts('b', 'b'), { before: 1, why: '0' }, 'the first of two equal ones')
  assert.equal(cuts('a'), undefined)
})

test('a summary is read with its text, the form of its provider, or both', () => {
  const native = { items: [], provider: 'p' }
  const summary = (data: JsonObject) => read('compaction', { through: 'b', ...data }).compactions
  assert.deepEqual(summary({ text: 't' }), [{ through: 1, text: 't' }])
  assert.deepEqual(summary({ native }), [{ through: 1, native }])
  assert.deepEqual(summary({ text: 't', native }), [{ through: 1, text: 't', native }])
  assert.deepEqual(summary({ text: 1 }), [{ through: 1 }])
  for (const wrong of [
    'x',
    { items: [] },
    { provider: 'p' },
    { items: 'x', provider: 'p' },
    { items: [], provider: 1 },
  ]) {
    assert.deepEqual(summary({ native: wrong }), [{ through: 1 }], JSON.stringify(wrong))
  }
})

test('refused fields and plain replies add up, in the order in which they were recorded', () => {
  const overlay = (kind: string, data: JsonObject) => ({ kind, data, undone: false, entryId: 'c', at: '' })
  const field = (name: string) => ({ provider: 'p', model: 'm', field: name })
  const plain = (protocol: string) => ({ through: 'b', provider: 'p', protocol })
  const { refused, plain: replies } = readDecisions(entries, [
    overlay('refused-field', field('x')),
    overlay('plain', plain('v')),
    overlay('refused-field', field('y')),
    overlay('plain', plain('w')),
    overlay('unknown', field('z')),
  ])
  assert.deepEqual(refused, [field('x'), field('y')])
  assert.deepEqual(
    replies.map(({ through, protocol }) => [through, protocol]),
    [
      [1, 'v'],
      [1, 'w'],
    ],
  )
})

test('what is recorded is read back as it was decided', () => {
  const fold = { from: 0, through: 1, style: 'results', why: 'old' } as const
  const numbers = { saved: 5, size: 9, requests: 2, cold: false }
  const folded = proposalData({ kind: 'fold', fold, numbers }, entries, { provider: 'p' })
  assert.deepEqual(folded, { from: 'a', through: 'b', style: 'results', why: 'old', ...numbers, provider: 'p' })
  assert.deepEqual(read('fold', folded).folds, [{ ...fold, at: 2 }])
  const cut = { before: 1, why: 'long' }
  const data = proposalData({ kind: 'cut', cut, numbers }, entries, {})
  assert.deepEqual(data, { before: 'b', why: 'long', ...numbers })
  assert.deepEqual(read('cut', data).cut, cut)
  assert.equal(proposalData({ kind: 'cut', cut: { ...cut, before: 9 }, numbers }, entries, {})['before'], '')
  assert.deepEqual(compactionData({ text: '' }, 'b', { model: 'm' }), { through: 'b', text: '', model: 'm' })
  const native = { provider: 'p', protocol: 'w', model: 'm', as: 'reply', items: [] } as const
  assert.deepEqual(compactionData({ native: { ...native, items: [] } }, 'b', {}), { through: 'b', native })
})

test('the overlays of a path are those made on it that were not undone', () => {
  const overlay = (entryId: string, undone: boolean) => ({ entryId, undone, kind: 'k', data: {}, at: '' })
  const [here, gone, away] = [overlay('a', false), overlay('a', true), overlay('x', false)]
  assert.deepEqual(overlaysOn(entries, [here, gone, away]), [here])
  assert.deepEqual(overlaysOn([], [here]), [])
})
