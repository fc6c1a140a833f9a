import assert from 'node:assert/strict'
import test from 'node:test'
import type { EntryOutline } from '../../src/core/log.ts'
import { addOlder, addTo, isOnPath, newestLeaf, pathTo, siblingsOf, treeOf, updated } from '../../web/state/tree.ts'

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
  const known = treeOf([outline('c', 'b'), outline('d', 'c')])
  const tree = updated(known, [outline('d', 'c'), outline('e', 'c'), outline('f', 'e')], false) ?? assert.fail()
  assert.deepEqual([tree.byId.size, tree.children.get('c')], [4, ['d', 'e']])
  addOlder(tree, [outline('b', 'a'), outline('x', 'b')])
  addOlder(tree, [outline('a', null), outline('y', 'a'), outline('z', 'a')])
  assert.deepEqual([tree.byId.size, tree.children.get('b'), tree.children.get('a')], [9, ['x', 'c'], ['y', 'z', 'b']])
  assert.deepEqual(siblingsOf(tree, outline('c', 'b')), ['x', 'c'])
  assert.equal(newestLeaf(tree, 'a'), 'f')
  assert.deepEqual(
    pathTo(tree, 'f').map(({ id }) => id),
    ['a', 'b', 'c', 'e', 'f'],
  )
})

test('an alternative that came since the request stays after those that the server sent, and an older one before', () => {
  const at = (id: string, hour: number) => ({ ...outline(id, 'a'), at: `2026-11-01T0${hour}:00:00.000Z` })
  const known = treeOf([at('old', 1), at('known', 3), at('new', 5)])
  const tree = updated(known, [at('first', 2), at('known', 3), at('last', 4)], false) ?? assert.fail()
  assert.deepEqual(tree.children.get('a'), ['old', 'first', 'known', 'last', 'new'])
})

test('a page of newest entries without a known one replaces the tree, because what is between is missing', () => {
  const known = treeOf([outline('a', null)])
  assert.equal(updated(known, [outline('y', 'x'), outline('z', 'y')], false), undefined)
})
