// The store contract: tool runs.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../../src/store/store.ts'
import { call, reply, result, user } from '../messages.ts'
import { fails, type Given } from './given.ts'

export function toolTests(given: Given): void {
  const called = async (store: Store, owner: string) => {
    const { id } = await store.createConversation(owner)
    await store.append(owner, id, { message: user('pay') })
    const entry = await store.append(owner, id, { message: reply('', [call('c1', 'pay', {}), call('c2', 'look', {})]) })
    return { id, entryId: entry.id }
  }

  given('a tool is recorded before it runs, and its result with its end', async (store, owner) => {
    const { id, entryId } = await called(store, owner)
    const run = await store.startTool(owner, id, { callId: 'c1', entryId, name: 'pay', argsSha256: 'abc' })
    assert.equal(run.idempotencyKey, `${id}/c1`)
    assert.deepEqual([run.starts, run.repeatable, run.outcome], [1, false, undefined])
    assert.deepEqual(await store.toolRuns(owner, id, { unfinished: true }), [run])
    assert.deepEqual(await store.unsettled(owner), [id])
    const end = await store.finishTool(owner, id, 'c1', {
      outcome: 'done',
      result: { message: result('c1', 'pay', 'paid') },
    })
    assert.equal(end.entry.parentId, entryId)
    assert.equal(end.run.outcome, 'done')
    assert.equal(end.run.resultEntryId, end.entry.id)
    assert.ok(end.run.endedAt)
    assert.deepEqual(await store.toolRuns(owner, id), [end.run])
    assert.deepEqual(await store.toolRuns(owner, id, { unfinished: true }), [])
    assert.deepEqual(await store.unsettled(owner), [])
  })

  given('a tool that is not repeatable starts once', async (store, owner) => {
    const { id, entryId } = await called(store, owner)
    const run = { callId: 'c1', entryId, name: 'pay', argsSha256: 'abc' }
    await store.startTool(owner, id, run)
    const error = await fails(store.startTool(owner, id, { ...run, repeatable: true }), 'conflict', 'tool-run')
    assert.match(error.message, /not safe to repeat/)
    const unknown = { message: result('c1', 'pay', 'outcome unknown') }
    await store.finishTool(owner, id, 'c1', { outcome: 'unknown', result: unknown })
    await fails(store.startTool(owner, id, run), 'conflict', 'tool-run')
    await fails(store.finishTool(owner, id, 'c1', { outcome: 'done', result: unknown }), 'conflict', 'tool-run')
    assert.equal((await store.conversation(owner, id))?.entries, 3)
  })

  given('a repeatable tool without an outcome may start again, under the same key', async (store, owner) => {
    const { id, entryId } = await called(store, owner)
    const run = { callId: 'c2', entryId, name: 'look', argsSha256: 'abc', repeatable: true, idempotencyKey: 'k' }
    const first = await store.startTool(owner, id, run)
    assert.deepEqual(await store.startTool(owner, id, run), { ...first, starts: 2 })
    await fails(store.startTool(owner, id, { ...run, argsSha256: 'other' }), 'conflict', 'tool-run')
    await store.finishTool(owner, id, 'c2', { outcome: 'failed', result: { message: result('c2', 'look', 'no') } })
    await fails(store.startTool(owner, id, run), 'conflict', 'tool-run')
  })

  given('a result that cannot be written leaves the tool unfinished', async (store, owner) => {
    const { id, entryId } = await called(store, owner)
    await store.startTool(owner, id, { callId: 'c1', entryId, name: 'pay', argsSha256: 'abc' })
    const stale = { message: result('c1', 'pay', 'x'), parentId: null }
    await fails(store.finishTool(owner, id, 'c1', { outcome: 'done', result: stale }), 'conflict', 'head-moved')
    assert.equal((await store.toolRuns(owner, id, { unfinished: true })).length, 1)
    await fails(
      store.finishTool(owner, id, 'c9', { outcome: 'done', result: { message: result('c9', 'x', '') } }),
      'conflict',
    )
    await fails(
      store.startTool(owner, id, { callId: 'c3', entryId: randomUUID(), name: 'x', argsSha256: '' }),
      'not-found',
    )
  })

  given('tools are listed in the order they started, whichever ends first', async (store, owner) => {
    const { id, entryId } = await called(store, owner)
    for (const callId of ['c2', 'c1']) {
      await store.startTool(owner, id, { callId, entryId, name: 'x', argsSha256: callId })
    }
    for (const callId of ['c1', 'c2']) {
      await store.finishTool(owner, id, callId, { outcome: 'done', result: { message: result(callId, 'x', 'ok') } })
    }
    assert.deepEqual(
      (await store.toolRuns(owner, id)).map((run) => run.callId),
      ['c2', 'c1'],
    )
  })
}
