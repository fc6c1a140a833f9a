// The store contract: overlays and provider states.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { user } from '../messages.ts'
import { fails, type Given, type Open } from './given.ts'

export function besideTests(given: Given, open: Open): void {
  given('an overlay lies beside the log and can be undone and done again', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const entry = await store.append(owner, id, { message: user('long story') })
    const data = { from: entry.id, summary: 'short', tokens: 12 }
    const overlay = await store.addOverlay(owner, id, { entryId: entry.id, kind: 'compaction', data })
    assert.deepEqual(overlay.data, data)
    assert.equal(overlay.undone, false)
    const second = await store.addOverlay(owner, id, { entryId: entry.id, kind: 'fold', data: {} })
    assert.equal((await store.setOverlayUndone(owner, overlay.id, true)).undone, true)
    assert.deepEqual(await store.overlays(owner, id), [{ ...overlay, undone: true }, second])
    assert.deepEqual(await store.setOverlayUndone(owner, overlay.id, false), overlay)
    assert.equal((await store.conversation(owner, id))?.entries, 1)
    await fails(store.addOverlay(owner, id, { entryId: randomUUID(), kind: 'x', data: {} }), 'not-found')
    await fails(store.addOverlay(owner, id, { id: second.id, entryId: entry.id, kind: 'x', data: {} }), 'conflict')
    await fails(store.setOverlayUndone(owner, randomUUID(), true), 'not-found')
  })

  test('the state that covers most of a path is found, on its own branch and until it expires', async () => {
    let now = Date.parse('2026-11-15T00:00:00Z')
    const store = await open({ now: () => now })
    const owner = `owner-${randomUUID()}`
    try {
      const { id } = await store.createConversation(owner)
      const texts = ['a', 'b', 'c', 'd']
      const [a, b, c, d] = await store.appendAll(
        owner,
        id,
        texts.map((text) => ({ message: user(text) })),
      )
      assert.ok(a && b && c && d)
      const fork = await store.append(owner, id, { message: user('c2'), parentId: b.id, head: 'stay' })
      const wire = { provider: 'openai', protocol: 'openai-responses' }
      const keep = (ref: string, covers: string, expiresAt?: string) =>
        store.keepState(owner, id, { ...wire, kind: 'response-chain', ref, covers, ...(expiresAt && { expiresAt }) })
      const atB = await keep('resp_b', b.id)
      await keep('resp_c', c.id, '2026-11-15T01:00:00Z')
      const newer = await keep('resp_c2', c.id, '2026-11-15T02:00:00Z')
      assert.equal(newer.expiresAt, '2026-11-15T02:00:00.000Z')

      assert.deepEqual(await store.stateAt(owner, d.id, wire), newer)
      assert.deepEqual(await store.stateAt(owner, fork.id, wire), atB)
      assert.equal(await store.stateAt(owner, a.id, wire), undefined)
      assert.equal(await store.stateAt(owner, d.id, { ...wire, provider: 'azure-openai' }), undefined)
      now += 3 * 3_600_000
      assert.deepEqual(await store.stateAt(owner, d.id, wire), atB)
      await store.dropState(owner, atB.id)
      await store.dropState(owner, atB.id)
      assert.equal(await store.stateAt(owner, d.id, wire), undefined)
      await fails(keep('x', randomUUID()), 'not-found')
      await fails(keep('x', a.id, 'soon'), 'bad-input')
    } finally {
      await store.close()
    }
  })
}
