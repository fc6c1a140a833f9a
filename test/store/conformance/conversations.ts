// The store contract: conversations.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { user } from '../messages.ts'
import { fails, request, type Given, type Open } from './given.ts'

export function conversationTests(given: Given, open: Open): void {
  given('a new conversation is empty and can be read back', async (store, owner) => {
    const made = await store.createConversation(owner, {
      title: 'Tea',
      labels: ['b', 'a', 'b', ' '],
      settings: { maxMessages: 20 },
    })
    assert.deepEqual(made, await store.conversation(owner, made.id))
    assert.equal(made.title, 'Tea')
    assert.deepEqual(made.labels, ['a', 'b'])
    assert.deepEqual(made.settings, { maxMessages: 20 })
    assert.equal(made.head, null)
    assert.equal(made.entries, 0)
    assert.equal(made.createdAt, made.updatedAt)
    assert.equal('branch' in made, false)
    assert.equal('title' in (await store.createConversation(owner)), false)
  })

  given(
    'timestamps come from the clock that was given',
    async (store, owner) => {
      const { id, createdAt } = await store.createConversation(owner)
      assert.equal(createdAt, '2026-11-15T00:00:00.000Z')
      const entry = await store.append(owner, id, { message: user('hi') })
      assert.equal(entry.at, '2026-11-15T00:00:00.000Z')
    },
    { now: () => Date.parse('2026-11-15T00:00:00Z') },
  )

  given('an id can be given, once', async (store, owner) => {
    const id = randomUUID()
    await store.createConversation(owner, { id })
    const error = await fails(store.createConversation(owner, { id }), 'conflict', 'id-taken')
    assert.match(error.message, new RegExp(id))
    await fails(store.createConversation(owner, { id: "x'; --" }), 'bad-input')
  })

  given('title, labels and settings change one by one', async (store, owner) => {
    const { id } = await store.createConversation(owner, { title: 'Tea', labels: ['a'], settings: { x: 1 } })
    assert.deepEqual((await store.updateConversation(owner, id, { labels: ['z'] })).labels, ['z'])
    assert.deepEqual((await store.updateConversation(owner, id, { settings: { y: [2] } })).settings, { y: [2] })
    assert.equal((await store.updateConversation(owner, id, { title: 'Coffee\0' })).title, 'Coffee\uFFFD')
    const last = await store.updateConversation(owner, id, { title: null })
    assert.equal('title' in last, false)
    assert.deepEqual([last.labels, last.settings], [['z'], { y: [2] }])
    await fails(store.updateConversation(owner, randomUUID(), { title: 'x' }), 'not-found')
  })

  test('conversations are listed by their last entry, page by page, each exactly once', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const store = await open({ now: () => now })
    const owner = `owner-${randomUUID()}`
    try {
      const ids: string[] = []
      for (let i = 0; i < 7; i++) {
        // Two share a millisecond: the id decides.
        if (i !== 3) now += 1000
        ids.push((await store.createConversation(owner, { labels: i % 2 ? ['odd'] : [] })).id)
      }
      now += 1000
      await store.append(owner, ids[1] ?? '', { message: user('again') })
      await store.updateConversation(owner, ids[0] ?? '', { title: 'a title does not move it' })
      const expected = [1, 6, 5, 4, 3, 2, 0].map((i) => ids[i])
      const listed: (string | undefined)[] = []
      for (let cursor: string | undefined, pages = 0; ; pages++) {
        const page = await store.conversations(owner, { limit: 3, ...(cursor !== undefined && { cursor }) })
        listed.push(...page.items.map((item) => item.id))
        cursor = page.next
        if (cursor === undefined) {
          assert.equal(pages, 2)
          break
        }
      }
      assert.deepEqual(listed, expected)
      const odd = await store.conversations(owner, { label: 'odd', limit: 2 })
      assert.deepEqual(
        odd.items.map((item) => item.id),
        [ids[1], ids[5]],
      )
      const rest = await store.conversations(owner, { label: 'odd', limit: 2, cursor: odd.next ?? '' })
      assert.deepEqual(rest, { items: [await store.conversation(owner, ids[3] ?? '')] })
      const even = await store.conversations(owner, { withoutLabel: 'odd' })
      assert.deepEqual(
        even.items.map((item) => item.id),
        [6, 4, 2, 0].map((i) => ids[i]),
      )
      assert.deepEqual(await store.conversations(owner, { label: 'odd', withoutLabel: 'odd' }), { items: [] })
    } finally {
      await store.close()
    }
  })

  given('a cursor or a limit that makes no sense is refused in words', async (store, owner) => {
    await fails(store.conversations(owner, { cursor: 'nonsense' }), 'bad-input')
    await fails(store.conversations(owner, { cursor: Buffer.from('[1]').toString('base64url') }), 'bad-input')
    await fails(store.conversations(owner, { limit: 0 }), 'bad-input')
  })

  given('a deleted conversation is gone with everything in it', async (store, owner) => {
    const { id } = await store.createConversation(owner, { labels: ['x'] })
    const entry = await store.append(owner, id, { message: user('secret word') })
    const exchange = await store.openExchange(owner, id, request(entry.id, '{"secret":1}'))
    await store.journal(owner, exchange.id, 0, [{ type: 'part-delta', index: 0, text: 'x' }])
    await store.startTool(owner, id, { callId: 'c', entryId: entry.id, name: 't', argsSha256: 'x' })
    const overlay = await store.addOverlay(owner, id, { entryId: entry.id, kind: 'compaction', data: {} })
    const state = {
      provider: 'openai',
      protocol: 'openai-responses',
      kind: 'response-chain',
      ref: 'r',
      covers: entry.id,
    } as const
    await store.keepState(owner, id, state)
    assert.equal((await store.search(owner, { text: 'secret' })).items.length, 1)

    assert.equal(await store.deleteConversation(owner, id), true)
    assert.equal(await store.deleteConversation(owner, id), false)
    assert.equal(await store.conversation(owner, id), undefined)
    assert.equal(await store.entry(owner, entry.id), undefined)
    assert.deepEqual(await store.history(owner, entry.id), [])
    assert.equal(await store.exchange(owner, exchange.id), undefined)
    assert.deepEqual(await store.journaled(owner, exchange.id), [])
    assert.equal(await store.blob(owner, exchange.bodySha256), undefined)
    assert.deepEqual(await store.toolRuns(owner, id), [])
    assert.deepEqual(await store.overlays(owner, id), [])
    await fails(store.setOverlayUndone(owner, overlay.id, true), 'not-found')
    assert.equal(await store.stateAt(owner, entry.id, state), undefined)
    assert.deepEqual((await store.search(owner, { text: 'secret' })).items, [])
    assert.deepEqual((await store.conversations(owner, { label: 'x' })).items, [])
    assert.deepEqual(await store.unsettled(owner), [])
    await fails(store.append(owner, id, { message: user('more') }), 'not-found')
  })
}
