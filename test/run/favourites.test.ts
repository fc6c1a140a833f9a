// Favourite and recent models.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noUsage } from '../../src/core/usage.ts'
import { favouriteModels, recentModels, setFavourite } from '../../src/run/favourites.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { UsageRow } from '../../src/store/records.ts'
import type { Store } from '../../src/store/store.ts'

const owner = 'ada'

test('a favourite is listed once, until it is removed', async () => {
  const store = openMemoryStore()
  for (const model of ['openai/gpt-5.6', 'mistral/large', 'openai/gpt-5.6'])
    await setFavourite(store, owner, model, true)
  assert.deepEqual((await favouriteModels(store, owner)).toSorted(), ['mistral/large', 'openai/gpt-5.6'])
  await setFavourite(store, owner, 'openai/gpt-5.6', false)
  assert.deepEqual(await favouriteModels(store, owner), ['mistral/large'])
  assert.deepEqual(await favouriteModels(store, 'bob'), [])
})

test('recent models are the latest first, the more used first on one day, never one that only answered offline', async () => {
  let now = Date.parse('2026-11-15T12:00:00Z')
  const store = openMemoryStore({ now: () => now })
  const { id } = await store.createConversation(owner)
  const asked = await store.append(owner, id, { message: { role: 'user', parts: [{ type: 'text', text: 'Hello' }] } })
  const use = async (model: string, offline = false) => {
    const sent = { basedOn: asked.id, provider: 'openai', protocol: 'openai-chat', model, body: '{}' }
    const { id: exchangeId } = await store.openExchange(owner, id, sent)
    await store.finishExchange(owner, exchangeId, {
      outcome: 'done',
      usage: { ...noUsage, ...(offline && { offline }) },
    })
  }
  await use('old')
  now += 86_400_000
  await use('often')
  await use('seldom')
  await use('often')
  await use('emulated', true)
  now += 86_400_000
  await use('new')
  assert.deepEqual(await recentModels(store, owner), ['openai/new', 'openai/often', 'openai/seldom', 'openai/old'])
})

test('whatever order the store counts usage in, the latest model is the first, and eight are recent', async () => {
  const row = (model: string, day: number, exchanges: number) =>
    ({ provider: 'p', model, day: `2026-11-${day}`, exchanges, offline: 0 }) as UsageRow
  const rows = [row('b', 12, 3), row('a', 11, 1), row('c', 12, 5), row('a', 13, 1), row('d', 12, 4), row('e', 14, 1)]
  const recent = (some: UsageRow[]) => recentModels({ usage: async () => some } as unknown as Store, owner)
  for (const some of [rows, rows.toReversed(), [...rows.slice(3), ...rows.slice(0, 3)]]) {
    assert.deepEqual(await recent(some), ['p/e', 'p/a', 'p/c', 'p/d', 'p/b'])
  }
  const many = Array.from({ length: 12 }, (_, i) => row(`m${i}`, 30 - i, 1))
  assert.deepEqual(
    await recent(many),
    many.slice(0, 8).map(({ model }) => `p/${model}`),
  )
})
