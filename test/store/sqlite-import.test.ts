// A long archive is written to SQLite in several transactions, and is there completely or not at all.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import type { Archive } from '../../src/store/archive.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'

test('a long conversation appears when it is complete, and others write meanwhile', async (t) => {
  const { store, file } = await opened(t)
  const other = await openSqliteStore(file)
  t.after(() => other.close())
  const { id } = await other.createConversation('ada')
  const counts: number[] = []
  const state = { isDone: false }
  const importing = store.importConversation('ada', archiveOf('long', 3000)).finally(() => (state.isDone = true))
  while (!state.isDone) {
    await other.append('ada', id, { message: { role: 'user', parts: [{ type: 'text', text: 'Meanwhile.' }] } })
    counts.push((await other.conversation('ada', 'long'))?.entries ?? 0)
  }
  assert.equal((await importing).entries, 3000)
  assert.ok(counts.length > 3, `${counts.length} writes`)
  assert.deepEqual(
    [...new Set(counts)].filter((count) => count !== 0 && count !== 3000),
    [],
  )
  const { items } = await store.search('ada', { text: 'word2999' })
  assert.deepEqual(
    items.map((hit) => hit.conversationId),
    ['long'],
  )
  assert.equal((await store.history('ada', 'long-2999')).length, 3000)
})

test('nothing is left of a long conversation that cannot be stored', async (t) => {
  const { store, file } = await opened(t)
  const archive = archiveOf('long', 1000)
  const last = { ...archive.entries[999], id: 'stray', parentId: 'nowhere' } as Archive['entries'][number]
  const stray = { ...archive, entries: [...archive.entries, last] }
  await assert.rejects(store.importConversation('ada', stray), { message: /nowhere/ })
  assert.deepEqual(left(file), [0, 0])
  assert.equal((await store.importConversation('ada', archive)).entries, 1000)
})

test('what a killed import has left is deleted by the next one, but not what another one is writing', async (t) => {
  const { store, file } = await opened(t)
  for (const name of ['killed', 'active']) await store.importConversation('ada', archiveOf(name, 200))
  const raw = new DatabaseSync(file)
  const hide = raw.prepare('UPDATE conversations SET owner = ?, lease_expires = ? WHERE id = ?')
  hide.run('synapse:importing ada', Date.now() - 1, 'killed')
  hide.run('synapse:importing ada', Date.now() + 60_000, 'active')
  raw.close()
  assert.deepEqual((await store.conversations('ada')).items, [])
  await store.importConversation('ada', archiveOf('next', 200))
  assert.deepEqual(left(file), [2, 400])
  assert.deepEqual(
    (await store.search('ada', { text: 'word199' })).items.map((hit) => hit.conversationId),
    ['next'],
  )
})

async function opened(t: TestContext): Promise<{ store: Store; file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-import-'))
  const file = join(folder, 'log.db')
  const store = await openSqliteStore(file)
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { store, file }
}

/** How many conversations and entries the file has, whoever may see them. */
function left(file: string): number[] {
  const raw = new DatabaseSync(file)
  const count = (table: string) => Number(raw.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'])
  const counts = [count('conversations'), count('entries')]
  raw.close()
  return counts
}

function archiveOf(id: string, length: number): Archive {
  const at = '2026-11-01T00:00:00.000Z'
  const entries = Array.from({ length }, (_, i): Archive['entries'][number] => ({
    id: `${id}-${i}`,
    parentId: i === 0 ? null : `${id}-${i - 1}`,
    at,
    message: { role: 'user', parts: [{ type: 'text', text: `word${i} ${'and more '.repeat(30)}` }] },
  }))
  const conversation = { id, labels: [], settings: {}, createdAt: at, head: entries.at(-1)?.id ?? null }
  return { conversation, branches: [], entries, exchanges: [], toolRuns: [], overlays: [] }
}
