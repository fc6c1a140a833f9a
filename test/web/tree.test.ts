import assert from 'node:assert/strict'
import test from 'node:test'
import type { EntryOutline } from '../../src/core/log.ts'
import { addTo, isOnPath, pathTo, treeOf, updated, withOlder, type Tree } from '../../web/state/tree.ts'

const outline = (id: string, parentId: string | null): EntryOutline => {
  return { id, parentId, depth: 0, role: 'user', at: '2026-11-01T00:00:00.000Z' }
}

test('an outline that was read before the latest entry does not remove it again', () => {
  const known = treeOf([outline('a', null)])
  addTo(known, outline('b', 'a'))
  const tree = updated(known, [outline('a', null)], true) ?? assert.fail()
  assert.deepEqual(
    pathTo(tree, 'b').map(({ id }) => id),
    ['a', 'b'],
  )
  assert.ok(isOnPath(tree, 'a', 'b'))
})

test('the position of an entry is what the server reports, whatever was guessed before', () => {
  const known = treeOf([outline('a', null), outline('c', 'a')])
  const tree = updated(known, [outline('a', null), outline('b', 'a'), outline('c', 'b')], true) ?? assert.fail()
  assert.deepEqual(
    pathTo(tree, 'c').map(({ id }) => id),
    ['a', 'b', 'c'],
  )
  assert.deepEqual(tree.children.get('a'), ['b'])
})

test('the newest entries come after known ones and older pages before them, in the order of writing', () => {
  const ids = (tree: Tree) => [...tree.byId.keys()].join('')
  const known = treeOf([outline('c', 'b'), outline('d', 'c')])
  const newer = updated(known, [outline('d', 'c'), outline('e', 'c'), outline('f', 'e')], false) ?? assert.fail()
  assert.deepEqual([ids(newer), newer.children.get('c')], ['cdef', ['d', 'e']])
  const whole = withOlder(newer, [outline('a', null), outline('b', 'a')])
  assert.equal(ids(whole), 'abcdef')
  assert.deepEqual(
    pathTo(whole, 'f').map(({ id }) => id),
    ['a', 'b', 'c', 'e', 'f'],
  )
})

test('a page of newest entries without a known one replaces the tree, because what is between is missing', () => {
  const known = treeOf([outline('a', null)])
  assert.equal(updated(known, [outline('y', 'x'), outline('z', 'y')], false), undefined)
})
