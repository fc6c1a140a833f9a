// How much two lists have in common.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginsWith, sharedLength } from '../../src/core/lists.ts'

const [a, b, c] = [{}, {}, {}]

test('lists share the elements before the first that is another object', () => {
  assert.equal(sharedLength([a, b, c], [a, b, {}]), 2)
  assert.equal(sharedLength([a, b], [a, b, c]), 2)
  assert.equal(sharedLength([], [a]), 0)
  assert.equal(sharedLength([b, c], [a, b, c], 1), 2)
  assert.equal(sharedLength([b], [a], 5), 0)
})

test('a list begins with another if it has all of its elements', () => {
  assert.ok(beginsWith([a, b], [a]))
  assert.ok(beginsWith([a, b], []))
  assert.ok(beginsWith([a, b, c], [b, c], 1))
  assert.ok(!beginsWith([a], [a, b]))
  assert.ok(!beginsWith([a, b, c], [b, c], 2))
})
