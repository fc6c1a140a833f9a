// The overlays of a run are read once, and have what the run adds.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { addOverlay, overlaysOf } from '../../src/run/known-overlays.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { user } from '../store/messages.ts'

const owner = 'someone'

test('overlays are read once, and have those that are added, in their order', async (t) => {
  const { run, entryId, reads } = await given(t)
  const first = await overlaysOf(run)
  assert.deepEqual(first, [])
  await Promise.all(['a', 'b', 'c'].map((kind) => addOverlay(run, { entryId, kind, data: {} })))
  const list = await overlaysOf(run)
  assert.deepEqual(
    list.map(({ kind }) => kind),
    ['a', 'b', 'c'],
  )
  assert.equal(reads(), 1)
  // What was given out before is not changed.
  assert.deepEqual(first, [])
})

test('they are read again after one could not be added, or they could not be read', async (t) => {
  const { run, entryId, reads, fail } = await given(t)
  fail()
  await assert.rejects(overlaysOf(run))
  await addOverlay(run, { entryId, kind: 'a', data: {} })
  assert.equal((await overlaysOf(run)).length, 1)
  await assert.rejects(addOverlay(run, { entryId: 'not-there', kind: 'b', data: {} }))
  assert.equal((await overlaysOf(run)).length, 1)
  assert.equal(reads(), 3)
})

test('they are read each time where other runs have the same lease', async (t) => {
  const { run, entryId, reads } = await given(t)
  const shared = { ...run, learned: {} }
  assert.deepEqual(await overlaysOf(shared), [])
  await run.store.addOverlay(owner, run.conversationId, { entryId, kind: 'a', data: {} })
  assert.equal((await overlaysOf(shared)).length, 1)
  assert.equal(reads(), 2)
})

async function given(t: TestContext) {
  const base = openMemoryStore()
  const { id } = await base.createConversation(owner)
  const { id: entryId } = await base.append(owner, id, { message: user('one') })
  const { overlays } = base
  let isFailing = false
  const reading = t.mock.method(base, 'overlays', async (...given: Parameters<typeof overlays>) => {
    if (isFailing) {
      isFailing = false
      throw new Error('It cannot be read now.')
    }
    return overlays(...given)
  })
  return {
    run: { store: base, owner, conversationId: id, learned: { overlays: {} }, write: () => ({}) },
    entryId,
    reads: () => reading.mock.callCount(),
    fail: () => {
      isFailing = true
    },
  }
}
