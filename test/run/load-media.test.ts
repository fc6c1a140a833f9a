import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadMedia } from '../../src/run/request/load-media.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { entriesOf, onePixel, user } from '../histories.ts'

test('a history without media is returned as it is, and one with media as another list of the same length', async () => {
  const store = openMemoryStore()
  const plain = entriesOf(user('Hi'), user('there'))
  assert.equal(await loadMedia(store, 'ada', plain), plain)
  const pictured = entriesOf(user('Look:', onePixel), user('there'))
  const loaded = await loadMedia(store, 'ada', pictured)
  assert.notEqual(loaded, pictured)
  assert.deepEqual(loaded, pictured)
  assert.equal(loaded[1], pictured[1])
})
