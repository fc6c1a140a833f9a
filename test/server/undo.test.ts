// A run reads the decisions about what is sent once. So none of them may change until it ends: undoing one is a write,
// and only the run may write, whichever server it is asked at.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openPostgresStore } from '../../src/store/postgres.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { findPostgres, makeDatabase } from '../store/postgres-server.ts'
import { gate, newConversation, runIn, say, serving, str } from './serving.ts'

const programs = findPostgres()

/** Two stores with the same content, each as a process of its own would open it. */
const pairs: { name: string; skip?: string | false; open: (t: TestContext) => Promise<[Store, Store]> }[] = [
  {
    name: 'memory',
    async open() {
      const store = openMemoryStore()
      return [store, store]
    },
  },
  {
    name: 'SQLite',
    async open(t) {
      const folder = mkdtempSync(join(tmpdir(), 'synapse-undo-'))
      const path = join(folder, 'log.db')
      const stores = [await openSqliteStore(path), await openSqliteStore(path)] as const
      t.after(async () => {
        for (const store of stores) await store.close()
        rmSync(folder, { recursive: true, force: true })
      })
      return [...stores]
    },
  },
  {
    name: 'PostgreSQL',
    skip: programs === undefined && 'needs the programs of a PostgreSQL server (postgres, initdb)',
    async open(t) {
      const database = await makeDatabase(programs ?? '')
      const stores = [await openPostgresStore(database.url), await openPostgresStore(database.url)] as const
      t.after(async () => {
        for (const store of stores) await store.close()
        await database.remove()
      })
      return [...stores]
    },
  },
]

for (const { name, skip = false, open } of pairs) {
  test(`a decision is undone between two runs, never during one: ${name}`, { skip }, async (t) => {
    const [here, there] = await open(t)
    const other = await serving(t, { store: there })
    const id = await newConversation(other.api)
    for (let i = 0; i < 8; i++) await say(other, id, `Tell me about ${'tea and coffee '.repeat(200)} ${i}`)
    const made = await other.api('POST', `/api/conversations/${id}/compact`, {})
    const { id: overlayId } = made.body['overlay'] as JsonObject
    const undo = () => other.api('PATCH', `/api/conversations/${id}/overlays/${str(overlayId)}`, { undone: true })

    const held = gate(1)
    const running = await serving(t, { store: here, between: held.between })
    const runId = runIn(await running.api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' }))
    await held.held
    const refused = await undo()
    assert.deepEqual([refused.status, /being written by/.test(refused.text)], [409, true], refused.text)
    held.open()
    await running.api('GET', `/api/runs/${runId}/events`)
    const bodies = running.emulator.requests.map(({ body }) => JSON.stringify(body))
    assert.equal(bodies.length, 2, 'the question, and the result of the tool')
    for (const body of bodies) assert.doesNotMatch(body, /tea and coffee  0/, 'the summary still applies')

    assert.equal((await undo()).status, 200)
    await say(running, id, 'Hello.')
    const after = JSON.stringify(running.emulator.requests.at(-1)?.body)
    assert.match(after, /tea and coffee  0/, 'the next run sends everything again')
  })
}
