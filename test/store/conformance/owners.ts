// The store contract: data of other owners is not found.

import assert from 'node:assert/strict'
import { result, user } from '../messages.ts'
import { delta, fails, request, type Given } from './given.ts'

export function ownerTests(given: Given): void {
  given("another owner's ids are simply not found, in every call", async (store, owner) => {
    const { id } = await store.createConversation(owner, { title: 'mine', labels: ['l'] })
    const entry = await store.append(owner, id, { message: user('private words') })
    const exchange = await store.openExchange(owner, id, request(entry.id, 'private body'))
    await store.journal(owner, exchange.id, 0, [delta('x')])
    await store.startTool(owner, id, { callId: 'c', entryId: entry.id, name: 't', argsSha256: '' })
    const overlay = await store.addOverlay(owner, id, { entryId: entry.id, kind: 'x', data: {} })
    const wire = { provider: 'p', protocol: 'q' }
    const state = await store.keepState(owner, id, { ...wire, kind: 'thread', ref: 'r', covers: entry.id })
    await store.nameBranch(owner, id, 'main', entry.id)
    const lease = await store.takeLease(owner, id, { holder: 'h', ttlMs: 60_000 })
    const own = { epoch: lease.epoch }
    const before = await everything()

    const other = `${owner}-other`
    assert.equal(await store.conversation(other, id), undefined)
    assert.deepEqual(await store.conversations(other), { items: [] })
    assert.deepEqual(await store.conversations(other, { label: 'l' }), { items: [] })
    assert.equal(await store.entry(other, entry.id), undefined)
    assert.deepEqual(await store.history(other, entry.id), [])
    assert.deepEqual(await store.children(other, id, null), [])
    assert.deepEqual(await store.outline(other, id), [])
    assert.deepEqual(await store.branches(other, id), [])
    assert.equal(await store.exchange(other, exchange.id), undefined)
    assert.deepEqual(await store.exchanges(other, id), { items: [] })
    assert.deepEqual(await store.journaled(other, exchange.id), [])
    assert.deepEqual(await store.toolRuns(other, id), [])
    assert.deepEqual(await store.unsettled(other), [])
    assert.deepEqual(await store.overlays(other, id), [])
    assert.equal(await store.stateAt(other, entry.id, wire), undefined)
    assert.equal(await store.blob(other, exchange.bodySha256), undefined)
    assert.deepEqual(await store.search(other, { text: 'private' }), { items: [] })
    assert.equal(await store.lease(other, id), undefined)
    assert.equal(await store.deleteConversation(other, id), false)
    await store.dropState(other, state.id)
    await store.releaseLease(other, id, lease.epoch)

    const writes = [
      () => store.updateConversation(other, id, { title: 'x' }),
      () => store.append(other, id, { message: user('x') }, own),
      () => store.appendAll(other, id, [{ message: user('x') }], own),
      () => store.setHead(other, id, { entryId: null }, own),
      () => store.nameBranch(other, id, 'main', entry.id, own),
      () => store.dropBranch(other, id, 'main', own),
      () => store.openExchange(other, id, request(entry.id, '{}'), own),
      () => store.retryExchange(other, exchange.id, own),
      () => store.finishExchange(other, exchange.id, { outcome: 'done' }, own),
      () => store.journal(other, exchange.id, 1, [delta('y')], own),
      () => store.startTool(other, id, { callId: 'd', entryId: entry.id, name: 't', argsSha256: '' }, own),
      () => store.finishTool(other, id, 'c', { outcome: 'done', result: { message: result('c', 't', '') } }, own),
      () => store.addOverlay(other, id, { entryId: entry.id, kind: 'x', data: {} }, own),
      () => store.setOverlayUndone(other, overlay.id, true, own),
      () => store.keepState(other, id, { ...wire, kind: 'thread', ref: 'r2', covers: entry.id }, own),
      () => store.takeLease(other, id, { holder: 'o', ttlMs: 1000 }),
      () => store.renewLease(other, id, lease.epoch, 1000),
    ]
    for (const write of writes) await fails(write(), 'not-found')
    assert.deepEqual(await everything(), before)

    async function everything(): Promise<unknown[]> {
      return [
        await store.conversation(owner, id),
        await store.outline(owner, id),
        await store.branches(owner, id),
        await store.exchange(owner, exchange.id),
        await store.journaled(owner, exchange.id),
        await store.toolRuns(owner, id),
        await store.overlays(owner, id),
        await store.stateAt(owner, entry.id, wire),
        await store.lease(owner, id),
      ]
    }
  })

  given('an owner of the stores themselves has no conversations', async (store, owner) => {
    const reserved = `synapse:deleting ${owner}`
    const error = await fails(store.createConversation(reserved), 'bad-input')
    assert.match(error.message, /choose an owner that does not begin with "synapse:"/)
    const { settings, labels, createdAt, id } = await store.createConversation(owner)
    const about = { id: `${id}-copy`, settings, labels, createdAt, head: null }
    const rest = { entries: [], branches: [], exchanges: [], toolRuns: [], overlays: [] }
    await fails(store.importConversation(reserved, { conversation: about, ...rest }), 'bad-input')
    assert.deepEqual(await store.conversations(reserved), { items: [] })
  })

  given('an entry of one conversation is no use in another one of the same owner', async (store, owner) => {
    const one = await store.createConversation(owner)
    const two = await store.createConversation(owner)
    const entry = await store.append(owner, one.id, { message: user('x') })
    await fails(store.setHead(owner, two.id, { entryId: entry.id }), 'not-found')
    await fails(store.openExchange(owner, two.id, request(entry.id, '{}')), 'not-found')
    await fails(store.addOverlay(owner, two.id, { entryId: entry.id, kind: 'x', data: {} }), 'not-found')
    assert.deepEqual(await store.children(owner, two.id, entry.id), [])
  })
}
