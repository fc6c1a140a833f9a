// The store contract: leases and fencing.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Lease } from '../../../src/core/log.ts'
import { call, reply, result, user } from '../messages.ts'
import { delta, fails, request, type Given, type Open } from './given.ts'

export function leaseTests(given: Given, open: Open): void {
  const writer = { holder: 'process 1 on host a', ttlMs: 10_000 }

  given('one writer at a time: the second is told who and since when', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    assert.equal(await store.lease(owner, id), undefined)
    const lease = await store.takeLease(owner, id, writer)
    assert.equal(lease.epoch, 1)
    assert.equal(lease.holder, writer.holder)
    assert.equal(Date.parse(lease.expiresAt) - Date.parse(lease.since), 10_000)
    assert.deepEqual(await store.lease(owner, id), lease)
    const error = await fails(
      store.takeLease(owner, id, { holder: 'process 2', ttlMs: 1000 }),
      'conflict',
      'lease-held',
    )
    assert.ok(error.message.includes(writer.holder) && error.message.includes(lease.since), error.message)
    const { holder, epoch, since, expiresAt } = lease
    assert.deepEqual(error.failure.raw, { holder, epoch, since, expiresAt })
    await store.releaseLease(owner, id, lease.epoch)
    assert.equal(await store.lease(owner, id), undefined)
    assert.equal((await store.takeLease(owner, id, { holder: 'process 2', ttlMs: 1000 })).epoch, 2)
    await fails(store.takeLease(owner, randomUUID(), writer), 'not-found')
    await fails(store.takeLease(owner, id, { holder: 'x', ttlMs: 0 }), 'bad-input')
  })

  given('who takes a lease may be told before it is committed, and only of the same one', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const told: Lease[] = []
    const lease = await store.takeLease(owner, id, { ...writer, onTaken: (taken) => told.push(taken) })
    assert.deepEqual(told, store.ordered ? [lease] : [])
    const again = { holder: 'process 2', ttlMs: 1000, onTaken: () => assert.fail('it was not taken') }
    await fails(store.takeLease(owner, id, again), 'conflict', 'lease-held')
  })

  test('an expired lease can be taken over, and its old holder is fenced', async () => {
    let skew = 0
    const store = await open({ leaseSkewMs: () => skew })
    const owner = `owner-${randomUUID()}`
    try {
      const { id } = await store.createConversation(owner)
      const first = await store.takeLease(owner, id, writer)
      await store.append(owner, id, { message: user('mine') }, { epoch: first.epoch })
      skew = 9000
      await fails(store.takeLease(owner, id, { holder: 'b', ttlMs: 1000 }), 'conflict', 'lease-held')
      skew = 10_001
      assert.equal(await store.lease(owner, id), undefined)
      // Not taken over yet: the first writer still may.
      await store.append(owner, id, { message: user('still mine') }, { epoch: first.epoch })
      const second = await store.takeLease(owner, id, { holder: 'b', ttlMs: 1000 })
      assert.equal(second.epoch, first.epoch + 1)
      const error = await fails(
        store.append(owner, id, { message: user('zombie') }, { epoch: first.epoch }),
        'conflict',
        'lease-lost',
      )
      assert.ok(error.message.includes('b took over'), error.message)
      await fails(store.renewLease(owner, id, first.epoch, 1000), 'conflict', 'lease-lost')
      await store.releaseLease(owner, id, first.epoch)
      assert.equal((await store.lease(owner, id))?.holder, 'b')
      assert.equal((await store.conversation(owner, id))?.entries, 2)
    } finally {
      await store.close()
    }
  })

  test('a process that was suspended past its lease is fenced, even after a write without a lease', async () => {
    let skew = 0
    const store = await open({ leaseSkewMs: () => skew })
    const owner = `owner-${randomUUID()}`
    try {
      const { id } = await store.createConversation(owner)
      const said = await store.append(owner, id, { message: user('x') })
      const writes: (() => Promise<unknown>)[] = [
        () => store.append(owner, id, { message: user('elsewhere'), head: 'stay' }),
        () => store.setHead(owner, id, { entryId: said.id }),
      ]
      for (const write of writes) {
        const { epoch } = await store.takeLease(owner, id, writer)
        const asked = await store.append(owner, id, { message: reply('', [call(`c${epoch}`, 't', {})]) }, { epoch })
        const started = { callId: `c${epoch}`, entryId: asked.id, name: 't', argsSha256: '' }
        await store.startTool(owner, id, started, { epoch })
        await fails(write(), 'conflict', 'lease-held')
        skew += 10_001
        await write()
        // The head may be elsewhere now: the result would come after it.
        const end = { outcome: 'done', result: { message: result(`c${epoch}`, 't', '') } } as const
        await fails(store.finishTool(owner, id, `c${epoch}`, end, { epoch }), 'conflict', 'lease-lost')
        await fails(store.renewLease(owner, id, epoch, 1000), 'conflict', 'lease-lost')
      }
    } finally {
      await store.close()
    }
  })

  given(
    'a lease is that of one conversation and one owner, and others neither get nor change it',
    async (store, owner) => {
      const [{ id }, { id: other }] = [await store.createConversation(owner), await store.createConversation(owner)]
      const stranger = `stranger-${randomUUID()}`
      await fails(store.takeLease(stranger, id, writer), 'not-found')
      const lease = await store.takeLease(owner, id, writer)
      assert.equal(lease.conversationId, id)
      assert.equal(await store.lease(owner, other), undefined)
      assert.equal(await store.lease(stranger, id), undefined)
      const second = await store.takeLease(owner, other, { ...writer, holder: 'b' })
      assert.deepEqual([second.conversationId, second.epoch], [other, 1])
      await fails(store.renewLease(stranger, id, lease.epoch, 1000), 'not-found')
      await fails(store.renewLease(owner, id, lease.epoch + 1, 1000), 'conflict', 'lease-lost')
      await fails(store.renewLease(owner, id, lease.epoch, 0), 'bad-input')
      await store.releaseLease(stranger, id, lease.epoch)
      await store.releaseLease(owner, id, lease.epoch + 1)
      assert.deepEqual(await store.lease(owner, id), lease)
      await store.renewLease(owner, id, lease.epoch, 20_000)
      assert.deepEqual(await store.lease(owner, other), second)
      await store.releaseLease(owner, id, lease.epoch)
      assert.deepEqual([await store.lease(owner, id), await store.lease(owner, other)], [undefined, second])
      const error = await fails(store.renewLease(owner, id, lease.epoch, 1000), 'conflict', 'lease-lost')
      assert.match(error.message, /it was released, or expired/)
    },
  )

  given('the lease of a holder that is known to be gone need not run out', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const gone = await store.takeLease(owner, id, writer)
    const next = await store.takeLease(owner, id, { holder: 'b', ttlMs: 1000, over: gone.epoch })
    assert.equal(next.epoch, gone.epoch + 1)
    await fails(store.takeLease(owner, id, { holder: 'c', ttlMs: 1000, over: gone.epoch }), 'conflict', 'lease-held')
    await fails(store.append(owner, id, { message: user('x') }, { epoch: gone.epoch }), 'conflict', 'lease-lost')
  })

  test('a renewed lease lasts longer', async () => {
    let skew = 0
    const store = await open({ leaseSkewMs: () => skew })
    const owner = `owner-${randomUUID()}`
    try {
      const { id } = await store.createConversation(owner)
      const lease = await store.takeLease(owner, id, writer)
      skew = 8000
      const renewed = await store.renewLease(owner, id, lease.epoch, 10_000)
      assert.deepEqual([renewed.epoch, renewed.since], [lease.epoch, lease.since])
      assert.ok(renewed.expiresAt > lease.expiresAt)
      skew = 15_000
      await fails(store.takeLease(owner, id, { holder: 'b', ttlMs: 1 }), 'conflict', 'lease-held')
    } finally {
      await store.close()
    }
  })

  given('every write of a run is fenced', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const entry = await store.append(owner, id, { message: reply('', [call('c', 't', {}), call('d', 't', {})]) })
    const exchange = await store.openExchange(owner, id, request(entry.id, '{}'))
    const overlay = await store.addOverlay(owner, id, { entryId: entry.id, kind: 'x', data: {} })
    await store.startTool(owner, id, { callId: 'c', entryId: entry.id, name: 't', argsSha256: '' })
    const old = await store.takeLease(owner, id, writer)
    await store.releaseLease(owner, id, old.epoch)
    const lease = await store.takeLease(owner, id, writer)

    const writes: ((write?: { epoch: number }) => Promise<unknown>)[] = [
      (write) => store.append(owner, id, { message: user('x'), head: 'stay' }, write),
      (write) => store.appendAll(owner, id, [{ message: user('x'), head: 'stay' }], write),
      (write) => store.setHead(owner, id, { entryId: entry.id }, write),
      (write) => store.nameBranch(owner, id, 'main', entry.id, write),
      (write) => store.dropBranch(owner, id, 'main', write),
      (write) => store.openExchange(owner, id, request(entry.id, '{}'), write),
      (write) => store.retryExchange(owner, exchange.id, write),
      (write) => store.journal(owner, exchange.id, 0, [delta('x')], write),
      (write) => store.finishExchange(owner, exchange.id, { outcome: 'done' }, write),
      (write) => store.startTool(owner, id, { callId: 'd', entryId: entry.id, name: 't', argsSha256: '' }, write),
      (write) =>
        store.finishTool(owner, id, 'c', { outcome: 'done', result: { message: result('c', 't', '') } }, write),
      (write) => store.addOverlay(owner, id, { entryId: entry.id, kind: 'x', data: {} }, write),
      (write) => store.setOverlayUndone(owner, overlay.id, true, write),
      (write) =>
        store.keepState(owner, id, { provider: 'p', protocol: 'q', kind: 'thread', ref: 'r', covers: entry.id }, write),
    ]
    for (const write of writes) {
      await fails(write({ epoch: old.epoch }), 'conflict', 'lease-lost')
      await fails(write(), 'conflict', 'lease-held')
    }
    for (const write of writes) await write({ epoch: lease.epoch })
    await store.releaseLease(owner, id, lease.epoch)
    await fails(store.setHead(owner, id, { entryId: entry.id }, { epoch: lease.epoch }), 'conflict', 'lease-lost')
    await store.setHead(owner, id, { entryId: entry.id })
  })

  given('readers are never kept out, and the owner may rename and delete', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const entry = await store.append(owner, id, { message: user('x') })
    await store.takeLease(owner, id, writer)
    assert.equal((await store.history(owner, entry.id)).length, 1)
    assert.equal((await store.updateConversation(owner, id, { title: 'new' })).title, 'new')
    assert.equal(await store.deleteConversation(owner, id), true)
  })
}
