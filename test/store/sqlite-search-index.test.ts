// The index of the SQLite store is written some entries at a time: a search must not tell which are in it already.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { user } from './messages.ts'
import { tempFolder } from './temp.ts'

const owner = 'someone'

test('a search finds every entry once, page by page, wherever the index ends', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  const { id } = await store.createConversation(owner)
  for (let i = 0; i < 150; i++) await store.append(owner, id, { message: user(`zebra number${i}`) })
  assert.equal(indexed(path), 128)
  assert.deepEqual(
    await found(store, 'zebra'),
    Array.from({ length: 150 }, (_, i) => `zebra number${149 - i}`),
  )
  assert.deepEqual(await found(store, 'number127'), ['zebra number127'])
  assert.deepEqual(await found(store, 'number128'), ['zebra number128'])
  await store.close()
})

test('a large message is indexed with all that wait before it', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  const { id } = await store.createConversation(owner)
  await store.append(owner, id, { message: user('zebra small') })
  assert.equal(indexed(path), 0)
  await store.append(owner, id, { message: user(`zebra large ${'word '.repeat(20_000)}`) })
  assert.equal(indexed(path), 2)
  assert.equal((await found(store, 'zebra')).length, 2)
  await store.close()
})

test('what is deleted is found no more, and what takes its number is found', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  const talk = async (word: string, length: number) => {
    const { id } = await store.createConversation(owner)
    await store.appendAll(
      owner,
      id,
      Array.from({ length }, () => ({ message: user(word) })),
    )
    return id
  }
  await talk('horse', 10)
  const last = await talk('zebra', 90)
  await store.deleteConversation(owner, last)
  assert.equal(indexed(path), 10)
  await talk('donkey', 100)
  assert.deepEqual(await found(store, 'zebra'), [])
  assert.equal((await found(store, 'donkey')).length, 100)
  assert.equal((await found(store, 'horse')).length, 10)
  await store.close()
})

async function found(store: Store, text: string): Promise<string[]> {
  const snippets: string[] = []
  let cursor: string | undefined
  do {
    const page = await store.search(owner, { text, limit: 7, ...(cursor !== undefined && { cursor }) })
    snippets.push(...page.items.map((hit) => hit.snippet))
    cursor = page.next
  } while (cursor !== undefined)
  return snippets
}

function indexed(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true })
  const { n } = db.prepare('SELECT n FROM search_upto').get() ?? {}
  db.close()
  return Number(n)
}
