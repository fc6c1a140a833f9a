// The overlays of a run, read once and continued with what the run adds.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Overlay } from '../../src/core/log.ts'
import { noUsage } from '../../src/core/usage.ts'
import { savedBy } from '../../src/run/request/exchange.ts'
import { addOverlay, overlaysOf, type KnownOverlays } from '../../src/run/log/known-overlays.ts'

function place(overlays?: KnownOverlays) {
  const stored: Overlay[] = [{ id: 'first' } as Overlay]
  const state = { reads: 0, fails: false }
  const store = {
    async overlays() {
      state.reads++
      if (state.fails) throw new Error('away')
      return [...stored]
    },
    async addOverlay(_owner: string, _conversation: string, overlay: object) {
      if (state.fails) throw new Error('away')
      const added = { ...overlay, id: `o${stored.length}` } as Overlay
      stored.push(added)
      return added
    },
  }
  const run = { store, owner: 'o', conversationId: 'c', write: () => ({}), ...(overlays && { learned: { overlays } }) }
  const ids = async () => (await overlaysOf(run as never)).map(({ id }) => id)
  return { ids, add: () => addOverlay(run as never, { entryId: 'e', kind: 'k', data: {} }), state }
}

test('without a run that has the lease they are read each time', async () => {
  const { ids, add, state } = place()
  assert.deepEqual([await ids(), await ids(), state.reads], [['first'], ['first'], 2])
  await add()
  assert.deepEqual(await ids(), ['first', 'o1'])
})

test('in a run they are read once, and have what the run adds', async () => {
  const { ids, add, state } = place({})
  assert.deepEqual([await ids(), await ids()], [['first'], ['first']])
  await add()
  await add()
  assert.deepEqual([await ids(), state.reads], [['first', 'o1', 'o2'], 1])
  const early = place({})
  await early.add()
  assert.deepEqual([await early.ids(), early.state.reads], [['first', 'o1'], 1])
})

test('after a failure they are read again', async () => {
  const { ids, add, state } = place({})
  state.fails = true
  await assert.rejects(ids, /away/)
  state.fails = false
  assert.deepEqual(await ids(), ['first'])
  state.fails = true
  await assert.rejects(add, /away/)
  state.fails = false
  assert.deepEqual([await ids(), state.reads], [['first'], 3])
})

test('what was saved is the price of what was left out, with the cache as it was', () => {
  const forecast = { estimate: 100, cached: 0, head: 'h', ttl: '5m', whole: 300, wholeCached: 0 } as const
  const price = { input: 1_000_000, output: 0, cacheRead: 100_000, cacheWrite: 2_000_000 }
  const usage = { ...noUsage, input: 200 }
  const near = (given: number | undefined, wanted: number) =>
    assert.ok(Math.abs((given ?? 0) - wanted) < 1e-6, `${given}`)
  near(savedBy(forecast, usage, price), 600 - 200)
  near(savedBy({ ...forecast, wholeCached: 100 }, usage, price), 400 + 200 * 0.1 - 200)
  near(savedBy(forecast, { ...usage, cacheWrite: 200 }, price), 600 * 2 - 400)
  assert.equal(savedBy({ ...forecast, whole: 100 }, usage, price), undefined)
  near(savedBy({ ...forecast, whole: 101 }, usage, price), 2)
  assert.equal(savedBy({ ...forecast, estimate: 0 }, usage, price), undefined)
  assert.equal(savedBy(forecast, { ...usage, offline: true }, price), undefined)
  assert.equal(savedBy(forecast, usage, undefined), undefined)
})
