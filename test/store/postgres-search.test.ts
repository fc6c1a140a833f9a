// Search on a real PostgreSQL: with everything waiting, with everything indexed, and what happens in between.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openPostgresStore } from '../../src/store/postgres.ts'
import { connect } from '../../src/store/postgres/database.ts'
import { indexWaiting } from '../../src/store/postgres/search-index.ts'
import type { Store } from '../../src/store/store.ts'
import { fails } from './conformance/given.ts'
import { user } from './messages.ts'
import { findPostgres, makeDatabase, newDatabase, somebodyWaits, type PostgresDatabase } from './postgres-server.ts'
import { searchConformance } from './search-conformance.ts'
import { searchIndexConformance } from './search-index-conformance.ts'

const programs = findPostgres()
const skip = programs === undefined && 'needs the programs of a PostgreSQL server (postgres, initdb)'

const settings = { now: Date.now, leaseSkewMs: () => 0, connections: 4 }

describe('postgres', { skip }, () => {
  let server: PostgresDatabase
  before(async () => {
    server = await makeDatabase(programs ?? '')
  })
  after(() => server?.remove())

  searchConformance('postgres', (options) => openPostgresStore(server.url, { ...options, connections: 3 }))
  searchConformance('postgres, all indexed', async (options): Promise<Store> => {
    const store = await openPostgresStore(server.url, { ...options, connections: 3 })
    const db = await connect(server.url, settings)
    return {
      ...store,
      async search(owner, query) {
        await indexWaiting(db)
        return store.search(owner, query)
      },
      async close() {
        await db.close()
        await store.close()
      },
    }
  })

  searchIndexConformance('postgres', async () => {
    const url = await newDatabase(server.url)
    return {
      open: () => openPostgresStore(url),
      async indexed() {
        const db = await connect(url, settings)
        const counted = await db.get<{ count: number }>('SELECT count(*) AS count FROM synapse.search')
        await db.close()
        return counted?.count ?? 0
      },
    }
  })

  describe('postgres: what waits to be indexed', () => {
    const open = async () => {
      const url = await newDatabase(server.url)
      const store = await openPostgresStore(url)
      const db = await connect(url, settings)
      const count = async (table: string) =>
        (await db.get<{ count: number }>(`SELECT count(*) AS count FROM synapse.${table}`))?.count
      const { id } = await store.createConversation('someone')
      return { url, store, db, id, count }
    }

    test('waiting entries of a conversation that is being deleted are not indexed', async () => {
      const { url, store, db, id, count } = await open()
      await store.append('someone', id, { message: user('zebra') })
      let indexing: Promise<void> | undefined
      await db.transaction(async (queries) => {
        await queries.all('DELETE FROM synapse.conversations WHERE id = $1', [id])
        indexing = indexWaiting(db)
        await somebodyWaits(url)
      })
      await indexing
      for (const table of ['waiting', 'search', 'entries']) assert.equal(await count(table), 0, table)
      await db.close()
      await store.close()
    })

    test('an index that cannot be written blocks nothing, and is made up for later', async () => {
      const { store, db, id, count } = await open()
      await db.all('ALTER TABLE synapse.search ADD CONSTRAINT full_disk CHECK (false) NOT VALID')
      for (let i = 0; i < 70; i++) await store.append('someone', id, { message: user('zebra') })
      assert.equal((await store.search('someone', { text: 'zebra', limit: 100 })).items.length, 70)
      await db.all('ALTER TABLE synapse.search DROP CONSTRAINT full_disk')
      for (let i = 0; i < 60; i++) await store.append('someone', id, { message: user('zebra') })
      await store.close()
      assert.ok(Number(await count('search')) >= 128)
      await db.close()
    })

    test('numbers with gaps do not keep entries waiting forever', async () => {
      const { store, db, id, count } = await open()
      for (let i = 0; i < 100; i++) {
        await store.append('someone', id, { id: `entry-${i}`, message: user('zebra') })
        await fails(store.append('someone', id, { id: `entry-${i}`, message: user('zebra') }), 'conflict')
      }
      await store.close()
      assert.ok(Number(await count('search')) >= 64)
      await db.close()
    })

    test('of a long import nothing waits when it is written', async () => {
      const { store, db, id, count } = await open()
      const entries = Array.from({ length: 200 }, () => ({ message: user('zebra') }))
      await store.appendAll('someone', id, entries)
      assert.equal(await count('waiting'), 0)
      assert.equal(await count('search'), 200)
      await db.close()
      await store.close()
    })

    test('a damaged waiting entry does not hide the others', async () => {
      const { store, db, id } = await open()
      for (const text of ['zebra', 'horse']) await store.append('someone', id, { message: user(text) })
      await db.all(`UPDATE synapse.entries SET message = replace(message, 'horse', 'mouse')`)
      assert.equal((await store.search('someone', { text: 'zebra' })).items.length, 1)
      assert.deepEqual((await store.search('someone', { text: 'mouse' })).items, [])
      await db.close()
      await store.close()
    })

    test('another process that locks the index does not keep the store from closing', async () => {
      const { store, db, id, count } = await open()
      await db.transaction(async (queries) => {
        await queries.all('LOCK TABLE synapse.search IN ACCESS EXCLUSIVE MODE')
        for (let i = 0; i < 64; i++) await store.append('someone', id, { message: user('zebra') })
        await store.close()
      })
      assert.equal(await count('waiting'), 64)
      await db.close()
    })
  })
})
