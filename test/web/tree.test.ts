import assert from 'node:assert/strict'
import test from 'node:test'
import type { EntryOutline } from '../../src/core/log.ts'
import { addTo, isOnPath, pathTo, treeOf, updated } from '../../web/state/tree.ts'

const outline = (id: string, parentId: string | null): EntryOutline => {
  return { id, parentId, depth: 0, role: 'user', at: '2026-11-01T00:00:00.000Z' }
}

test('an outline that was read before the latest entry does not remove it again', () => {
  const known = treeOf([outline('a', null)])
  addTo(known, outline('b', 'a'))
  const tree = updated(known, [outline('a', null)])
  assert.deepEqual(
    pathTo(tree, 'b').map(({ id }) => id),
    ['a', 'b'],
  )
  assert.ok(isOnPath(tree, 'a', 'b'))
})

test('the position of an entry is what the server reports, whatever was guessed before', () => {
  const known = treeOf([outline('a', null), outline('c', 'a')])
  const tree = updated(known, [outline('a', null), outline('b', 'a'), outline('c', 'b')])
  assert.deepEqual(
    pathTo(tree, 'c').map(({ id }) => id),
    ['a', 'b', 'c'],
  )
  assert.deepEqual(tree.children.get('a'), ['b'])
})
