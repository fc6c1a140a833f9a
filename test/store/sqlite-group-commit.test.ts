// Writes that are asked for at the same time share one commit of the SQLite store, and nothing else.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { fails } from './conformance/given.ts'
import { textsOf, user } from './messages.ts'
import { tempFolder } from './temp.ts'

const owner = 'someone'

test('appends to several conversations at once are one commit', async (t) => {
  const { store, path, ids } = await given(t, 20)
  const before = commits(path)
  const entries = await Promise.all(ids.map((id) => store.append(owner, id, { message: user(`to ${id}`) })))
  assert.equal(commits(path) - before, 1)
  for (const [i, entry] of entries.entries()) {
    assert.deepEqual(textsOf(await store.history(owner, entry.id)), [`to ${ids[i]}`])
  }
  await store.append(owner, ids[0] ?? '', { message: user('alone') })
  assert.equal(commits(path) - before, 2)
})

test('runs in step with each other stay in step: each round is one commit', async (t) => {
  const { store, path, ids } = await given(t, 8)
  const before = commits(path)
  const run = async (id: string) => {
    for (let i = 0; i < 10; i++) await store.append(owner, id, { message: user(`${i}`) })
  }
  await Promise.all(ids.map(run))
  assert.equal(commits(path) - before, 10)
})

test('one that is refused leaves the others of its commit alone', async (t) => {
  const { store, ids } = await given(t, 3)
  const [a = '', b = '', c = ''] = ids
  const [first, refused, wrong, last] = await Promise.allSettled([
    store.append(owner, a, { message: user('one') }),
    store.append(owner, b, { message: user('two'), parentId: 'not-there' }),
    store.append('somebody else', c, { message: user('three') }),
    store.append(owner, c, { message: user('four') }),
  ])
  assert.deepEqual(
    [first.status, refused.status, wrong.status, last.status],
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.equal((await store.conversation(owner, a))?.entries, 1)
  assert.equal((await store.conversation(owner, b))?.entries, 0)
  assert.equal((await store.conversation(owner, c))?.entries, 1)
})

test('two that expect the same head at the same time: the first one gets it', async (t) => {
  const { store, ids } = await given(t, 1)
  const [id = ''] = ids
  const first = store.append(owner, id, { message: user('mine'), parentId: null })
  const second = store.append(owner, id, { message: user('mine too'), parentId: null })
  await first
  await fails(second, 'conflict')
  assert.equal((await store.conversation(owner, id))?.entries, 1)
})

test('writes requested before closing are written', async (t) => {
  const { store, path, ids } = await given(t, 2)
  const writes = ids.map((id) => store.append(owner, id, { message: user('last words') }))
  await store.close()
  const entries = await Promise.all(writes)
  const again = await openSqliteStore(path)
  for (const entry of entries) assert.ok(await again.entry(owner, entry.id))
  await again.close()
})

async function given(t: TestContext, conversations: number): Promise<{ store: Store; path: string; ids: string[] }> {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  t.after(() => store.close())
  const ids: string[] = []
  for (let i = 0; i < conversations; i++) ids.push((await store.createConversation(owner)).id)
  return { store, path, ids }
}

/** How many commits are in the write-ahead log: a frame that ends one says how many pages the file has then. */
function commits(path: string): number {
  const log = readFileSync(`${path}-wal`)
  const frame = 24 + log.readUInt32BE(8)
  let count = 0
  for (let at = 32; at + frame <= log.length; at += frame) if (log.readUInt32BE(at + 4) > 0) count++
  return count
}
