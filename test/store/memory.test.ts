// The store conformance suite on the memory store, and what it takes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemoryStore } from '../../src/store/memory.ts'
import { conformance } from './conformance.ts'
import { recordsConformance } from './records-conformance.ts'
import { searchConformance } from './search-conformance.ts'
import { spent } from '../server/held.ts'

conformance('memory', async (options) => openMemoryStore(options))
searchConformance('memory', async (options) => openMemoryStore(options))
recordsConformance('memory', async (options) => openMemoryStore(options))

test('ten times as many records take about ten times as long to put', async () => {
  const put = (count: number) => async () => {
    const store = openMemoryStore()
    const records = Array.from({ length: count }, (_, i) => ({ owner: 'me', kind: 'note', id: `n${i}`, data: {} }))
    await store.putRecords(records)
  }
  await put(2000)()
  // A collection of garbage can take long once.
  for (let triesLeft = 3; triesLeft >= 0; triesLeft--) {
    const [one, ten] = [await spent(put(2000)), await spent(put(20_000))]
    if (ten < 30 * one + 20) break
    assert.ok(triesLeft > 0, `${one} ms for 2,000, ${ten} ms for 20,000`)
  }
})
