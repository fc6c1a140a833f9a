// The store contract: exchanges, journals and usage.

import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import type { Store } from '../../../src/store/store.ts'
import { reply, user } from '../messages.ts'
import { delta, fails, request, type Given } from './given.ts'

export function exchangeTests(given: Given): void {
  const asked = async (store: Store, owner: string) => {
    const { id } = await store.createConversation(owner)
    const entry = await store.append(owner, id, { message: user('question') })
    return { id, entry }
  }

  given('an exchange is there before its request goes out, with the exact body', async (store, owner) => {
    const { id, entry } = await asked(store, owner)
    const body = '{"messages":[{"role":"user","content":"question \\ud800"}]}'
    const notes = [{ kind: 'dropped', what: 'reasoning', why: 'cannot cross', at: 'messages[0]' }] as const
    const open = await store.openExchange(owner, id, { ...request(entry.id, body), notes })
    assert.equal(open.outcome, 'open')
    assert.equal(open.attempts, 1)
    assert.equal(open.bodySha256, hash('sha256', body))
    assert.deepEqual(open.notes, notes)
    assert.deepEqual(await store.exchange(owner, open.id), open)
    assert.equal(Buffer.from((await store.blob(owner, open.bodySha256)) ?? []).toString(), body)
    assert.equal(await store.retryExchange(owner, open.id), 2)
    assert.equal((await store.exchange(owner, open.id))?.attempts, 2)
    assert.deepEqual(await store.unsettled(owner), [id])
  })

  given('the end of an exchange, its reply and the cleared journal come together', async (store, owner) => {
    const { id, entry } = await asked(store, owner)
    const open = await store.openExchange(owner, id, request(entry.id, '{}'))
    await store.journal(owner, open.id, 0, [delta('an')])
    const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0, raw: { prompt_tokens: 10 } }
    const note = { kind: 'added', what: 'x', why: 'y' } as const
    const end = await store.finishExchange(owner, open.id, {
      outcome: 'done',
      reply: { message: reply('answer'), parentId: entry.id },
      usage,
      cost: 0.000125,
      notes: [note],
    })
    assert.equal(end.entry?.parentId, entry.id)
    assert.equal(end.exchange.replyEntryId, end.entry?.id)
    assert.equal((await store.conversation(owner, id))?.head, end.entry?.id)
    assert.deepEqual(end.exchange.usage, usage)
    assert.equal(end.exchange.cost, 0.000125)
    assert.deepEqual(end.exchange.notes, [note])
    assert.ok(end.exchange.endedAt)
    assert.deepEqual(await store.exchange(owner, open.id), end.exchange)
    assert.deepEqual(await store.journaled(owner, open.id), [])
    assert.deepEqual(await store.unsettled(owner), [])
  })

  given('an exchange ends once, so nothing is counted twice', async (store, owner) => {
    const { id, entry } = await asked(store, owner)
    const open = await store.openExchange(owner, id, request(entry.id, '{}'))
    const failure = { kind: 'overloaded', message: 'Overloaded', status: 529 } as const
    const end = await store.finishExchange(owner, open.id, { outcome: 'failed', failure })
    assert.deepEqual(end.exchange.failure, failure)
    assert.equal('entry' in end, false)
    const again = { outcome: 'done', reply: { message: reply('late') } } as const
    await fails(store.finishExchange(owner, open.id, again), 'conflict', 'exchange-ended')
    await fails(store.retryExchange(owner, open.id), 'conflict', 'exchange-ended')
    await fails(store.journal(owner, open.id, 0, [delta('x')]), 'conflict', 'exchange-ended')
    assert.equal((await store.conversation(owner, id))?.entries, 1)
  })

  given('a reply that cannot be written leaves its exchange open, journal and all', async (store, owner) => {
    const { id, entry } = await asked(store, owner)
    const open = await store.openExchange(owner, id, request(entry.id, '{}'))
    await store.journal(owner, open.id, 0, [delta('kept')])
    await store.append(owner, id, { message: user('somebody was quicker') })
    const end = { outcome: 'done', reply: { message: reply('x'), parentId: entry.id } } as const
    await fails(store.finishExchange(owner, open.id, end), 'conflict', 'head-moved')
    assert.equal((await store.exchange(owner, open.id))?.outcome, 'open')
    assert.deepEqual(await store.journaled(owner, open.id), [delta('kept')])
    const beside = { outcome: 'done', reply: { message: reply('x'), parentId: entry.id, head: 'stay' } } as const
    assert.equal((await store.finishExchange(owner, open.id, beside)).entry?.parentId, entry.id)
  })

  given('a journal takes batches without gaps or repeats, and is read from any offset', async (store, owner) => {
    const { id, entry } = await asked(store, owner)
    const { id: exchangeId } = await store.openExchange(owner, id, request(entry.id, '{}'))
    assert.equal(await store.journal(owner, exchangeId, 0, [delta('a'), delta('b')]), 2)
    assert.equal(await store.journal(owner, exchangeId, 2, []), 2)
    assert.equal(await store.journal(owner, exchangeId, 2, [delta('c')]), 3)
    const gap = await fails(store.journal(owner, exchangeId, 4, [delta('e')]), 'conflict', 'journal-gap')
    assert.deepEqual(gap.failure.raw, { kept: 3 })
    await fails(store.journal(owner, exchangeId, 2, [delta('c')]), 'conflict', 'journal-gap')
    assert.deepEqual(await store.journaled(owner, exchangeId), [delta('a'), delta('b'), delta('c')])
    assert.deepEqual(await store.journaled(owner, exchangeId, 1), [delta('b'), delta('c')])
    assert.deepEqual(await store.journaled(owner, exchangeId, 3), [])
  })

  given('exchanges are listed newest first, page by page, also by outcome', async (store, owner) => {
    const { id, entry } = await asked(store, owner)
    const ids: string[] = []
    for (let i = 0; i < 5; i++) {
      const { id: exchangeId } = await store.openExchange(owner, id, request(entry.id, `{"n":${i}}`))
      if (i % 2 === 0) await store.finishExchange(owner, exchangeId, { outcome: 'cancelled' })
      ids.unshift(exchangeId)
    }
    const first = await store.exchanges(owner, id, { limit: 3 })
    const second = await store.exchanges(owner, id, { limit: 3, cursor: first.next ?? '' })
    assert.deepEqual(
      [...first.items, ...second.items].map((item) => item.id),
      ids,
    )
    assert.equal(second.next, undefined)
    const open = await store.exchanges(owner, id, { outcome: 'open' })
    assert.deepEqual(
      open.items.map((item) => item.id),
      [ids[1], ids[3]],
    )
  })

  given('an exchange needs an entry of its conversation, and an id of its own', async (store, owner) => {
    const { id, entry } = await asked(store, owner)
    await fails(store.openExchange(owner, id, request(randomUUID(), '{}')), 'not-found')
    const open = await store.openExchange(owner, id, request(entry.id, '{}'))
    await fails(store.openExchange(owner, id, { ...request(entry.id, '{}'), id: open.id }), 'conflict', 'id-taken')
    await fails(store.finishExchange(owner, randomUUID(), { outcome: 'done' }), 'not-found')
  })
}
