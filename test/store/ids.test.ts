// UUIDs that ascend.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidv7 } from '../../src/store/ids.ts'

test('an id is a UUID of version 7 that begins with the time', () => {
  const now = Date.now() + 1_000_000
  const id = uuidv7(now)
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), now)
})

test('ids ascend, within a millisecond and when the clock steps back', () => {
  const now = Date.now() + 2_000_000
  const ids = Array.from({ length: 20_000 }, (_, i) => uuidv7(now - (i % 3)))
  assert.deepEqual(ids, ids.toSorted())
  assert.equal(new Set(ids).size, ids.length)
})
