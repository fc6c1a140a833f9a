// The store on a real PostgreSQL, which the tests start themselves.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openPostgresStore } from '../../src/store/postgres.ts'
import { connect } from '../../src/store/postgres/database.ts'
import { unreachable } from '../../src/store/postgres/errors.ts'
import { migrations } from '../../src/store/postgres/migrations.ts'
import { openPool } from '../../src/store/postgres/pool.ts'
import type { Store } from '../../src/store/store.ts'
import { ownTime } from '../own-time.ts'
import { conformance } from './conformance.ts'
import { fails, request } from './conformance/given.ts'
import { faultProxyTo } from './fault-proxy.ts'
import { reply, textsOf, user } from './messages.ts'
import { proxyTo, type Cut } from './postgres-proxy.ts'
import {
  findPostgres,
  lastWords,
  makeDatabase,
  makePostgres,
  newDatabase,
  somebodyWaits,
  type PostgresDatabase,
} from './postgres-server.ts'
import { startWorker } from './process.ts'
import { recordsConformance } from './records-conformance.ts'
import { checkAcknowledged, race, zombie } from './several-writers.ts'

const programs = findPostgres()
const skip = programs === undefined && 'needs the programs of a PostgreSQL server (postgres, initdb)'

describe('postgres', { skip }, () => {
  let server: PostgresDatabase
  before(async () => {
    server = await makeDatabase(programs ?? '')
  })
  after(() => server?.remove())

  conformance('postgres', (options) => openPostgresStore(server.url, { ...options, connections: 3 }))
  recordsConformance('postgres', (options) => openPostgresStore(server.url, { ...options, connections: 3 }))

  describe('postgres: several processes', () => {
    test('processes that make the tables at once share them', async (t) => {
      const fresh = await newDatabase(server.url)
      const workers = [0, 1, 2].map(() => startWorker(t, ['touch', fresh, '', 'someone', '1']))
      const lines = (await Promise.all(workers.map((worker) => worker.rest()))).flat()
      assert.equal(lines.filter((line) => line.startsWith('{"conversations":')).length, 3, lines.join('\n'))
    })

    test('two processes write to one conversation, and every entry is stored', async (t) => {
      const store = await openPostgresStore(server.url)
      const { id } = await store.createConversation('pair')
      const workers = [0, 1].map(() => startWorker(t, ['append', server.url, id, 'pair', '150']))
      const lines = (await Promise.all(workers.map((worker) => worker.rest()))).flat()
      assert.equal(lines.length, 300)
      await checkAcknowledged(store, 'pair', id, lines)
      assert.equal((await store.conversation('pair', id))?.entries, 300)
      await store.close()
    })

    test('of two processes that want to write to a conversation, one does at a time', async (t) => {
      await race(t, await openPostgresStore(server.url), server.url)
    })

    test('a process that slept past its lease is refused when it wakes', async (t) => {
      await zombie(t, await openPostgresStore(server.url, { leaseSkewMs: () => 60_000 }), server.url)
    })

    test('a process whose connections are silent ends when its store is closed', { timeout: 180_000 }, async (t) => {
      const proxy = await faultProxyTo(t, server)
      const worker = startWorker(t, ['listen', proxy.url, 'stream'])
      assert.equal(await worker.next(), '{"listening":true}')
      proxy.hold()
      worker.send('close')
      await worker.ended
    })

    test('a process killed at any moment loses nothing that was acknowledged', async (t) => {
      const store = await openPostgresStore(server.url)
      for (const lines of [1, 3, 4, 6, 17]) {
        const { id } = await store.createConversation('victim')
        const worker = startWorker(t, ['turns', server.url, id, 'victim'])
        const acknowledged: string[] = []
        while (acknowledged.length < lines) acknowledged.push((await worker.next()) ?? assert.fail('the worker ended'))
        worker.signal('SIGKILL')
        acknowledged.push(...(await worker.rest()))
        await worker.ended
        await lastWords(server.url, worker.name)
        await checkAcknowledged(store, 'victim', id, acknowledged)
      }
      await store.close()
    })
  })

  test(
    'a call that gives up while its connection is set up leaves room for the next',
    { timeout: 180_000 },
    async (t) => {
      const proxy = await faultProxyTo(t, server)
      const explain = (error: unknown) => unreachable(error, 'here').failure
      const connectMs = 500
      const { pool, link, connect } = await openPool(proxy.url, { connections: 1, statementMs: 0, explain, connectMs })
      const first = await connect()
      const second = connect()
      pool.once('connect', () => proxy.hold())
      first.release(true)
      await Promise.race([second.catch(() => {}), wait(2 * connectMs)])
      await proxy.pass()
      const [late] = await Promise.allSettled([second])
      if (late.status === 'fulfilled') late.value.release()
      const third = await connect()
      third.release()
      await pool.end()
      link.close()
    },
  )

  describe('postgres: at once', () => {
    test('appends at the head from many sides all find their place', async () => {
      const store = await openPostgresStore(server.url)
      const { id } = await store.createConversation('crowd')
      const texts = Array.from({ length: 60 }, (_, i) => `m${i}`)
      await Promise.all(texts.map((text) => store.append('crowd', id, { message: user(text) })))
      const head = (await store.conversation('crowd', id))?.head ?? ''
      assert.deepEqual(textsOf(await store.history('crowd', head)).toSorted(), texts.toSorted())
      await store.close()
    })

    test('of several that expect the same head, one wins and the others get an error', async () => {
      const store = await openPostgresStore(server.url)
      const { id } = await store.createConversation('rivals')
      const first = await store.append('rivals', id, { message: user('first') })
      const tries = Array.from({ length: 8 }, (_, i) =>
        store.append('rivals', id, { message: user(`rival ${i}`), parentId: first.id }),
      )
      const results = await Promise.allSettled(tries)
      assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1)
      for (const result of results) {
        if (result.status === 'rejected') await fails(Promise.reject(result.reason), 'conflict', 'head-moved')
      }
      await store.close()
    })

    test('a branch that is checked out while an append waits moves with it', async () => {
      const url = await newDatabase(server.url)
      const store = await openPostgresStore(url)
      const db = await connect(url, { now: Date.now, leaseSkewMs: () => 0, connections: 2 })
      const { id } = await store.createConversation('someone')
      const first = await store.append('someone', id, { message: user('first') })
      let late: Promise<{ id: string }> | undefined
      await db.transaction(async (queries) => {
        await queries.all('ALTER SEQUENCE synapse.entries_n_seq MAXVALUE 9000000000000')
        late = store.append('someone', id, { message: user('late') })
        await somebodyWaits(url)
        await store.nameBranch('someone', id, 'side', first.id)
        await store.setHead('someone', id, { branch: 'side' })
      })
      const entryId = (await late)?.id
      const [side] = await store.branches('someone', id)
      assert.deepEqual(
        { name: side?.name, entryId: side?.entryId, current: side?.current },
        { name: 'side', entryId, current: true },
      )
      await db.close()
      await store.close()
    })

    test('blobs that are used and deleted at the same time exist for their user', async () => {
      const store = await openPostgresStore(server.url)
      const body = 'the same body for all '.repeat(5000)
      const round = async () => {
        const { id } = await store.createConversation('sharers')
        const entry = await store.append('sharers', id, { message: user('x') })
        const { bodySha256 } = await store.openExchange('sharers', id, request(entry.id, body))
        assert.equal(Buffer.from((await store.blob('sharers', bodySha256)) ?? []).toString(), body)
        await store.deleteConversation('sharers', id)
      }
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let i = 0; i < 5; i++) await round()
        }),
      )
      await store.close()
    })
  })

  describe('postgres: a connection that breaks', () => {
    const cuts: Cut[] = ['before it is sent', 'on its way', 'before its answer']
    const statements = {
      BEGIN: 'a transaction begins',
      'UPDATE synapse.exchanges': 'it is under way',
      COMMIT: 'it commits',
    }
    for (const [words, moment] of Object.entries(statements)) {
      for (const when of cuts) {
        test(`as ${moment}, ${when}: the transaction is done once`, async (t) => {
          const proxy = await proxyTo(t, server.url)
          const store = await openPostgresStore(proxy.url, { connections: 1 })
          const { id } = await store.createConversation('cut')
          const asked = await store.append('cut', id, { message: user('asked') })
          const exchange = await store.openExchange('cut', id, request(asked.id, '{}'))
          const cut = proxy.cut(words, when)
          const end = { outcome: 'done', reply: { message: reply('answered') }, cost: 1 } as const
          const finished = await store.finishExchange('cut', exchange.id, end)
          assert.ok(cut.done())
          assert.deepEqual(textsOf(await store.history('cut', finished.entry?.id ?? '')), ['asked', 'answered'])
          assert.equal((await store.conversation('cut', id))?.entries, 2)
          assert.equal((await store.exchange('cut', exchange.id))?.outcome, 'done')
          await store.close()
        })
      }
    }

    test('as it commits, unnoticed by the server: its locks block nothing', async (t) => {
      const proxy = await proxyTo(t, server.url)
      const store = await openPostgresStore(proxy.url, { connections: 2 })
      const { id } = await store.createConversation('lost')
      const lost = proxy.lose('COMMIT')
      const elapsed = ownTime(t)
      assert.equal((await store.updateConversation('lost', id, { title: 'told once' })).title, 'told once')
      assert.ok(lost.done())
      assert.ok(elapsed() < 5000, 'sooner than the server would have ended it')
      await store.close()
    })

    for (const when of cuts) {
      test(`as a single append is written, ${when}: it is written once`, async (t) => {
        const proxy = await proxyTo(t, server.url)
        const store = await openPostgresStore(proxy.url, { connections: 2 })
        const { id } = await store.createConversation('cut')
        const { epoch } = await store.takeLease('cut', id, { holder: 'me', ttlMs: 60_000 })
        const first = await store.append('cut', id, { message: user('one') }, { epoch })
        // By id, because the statement itself has been sent before: now only its values are.
        const cut = proxy.cut('the-second', when)
        const next = { id: `the-second-${id}`, message: user('two'), parentId: first.id }
        const second = await store.append('cut', id, next, { epoch })
        assert.ok(cut.done())
        assert.equal(second.parentId, first.id)
        assert.deepEqual(textsOf(await store.history('cut', second.id)), ['one', 'two'])
        assert.equal((await store.conversation('cut', id))?.entries, 2)
        assert.equal((await store.search('cut', { text: 'two', conversationId: id })).items.length, 1)
        await store.close()
      })
    }

    test('between two statements of a transaction: it is done once', async (t) => {
      const db = await connect(server.url, { now: Date.now, leaseSkewMs: () => 0, connections: 2 })
      t.after(() => db.close())
      const backend = 'SELECT pg_backend_pid() AS pid'
      let tries = 0
      const done = await db.transaction(async (queries) => {
        const { pid } = (await queries.get<{ pid: number }>(backend)) ?? assert.fail()
        if (tries++ === 0) {
          await db.all('SELECT pg_terminate_backend($1)', [pid])
          while (await db.get('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid])) await new Promise(setImmediate)
          // Its end has been sent: now it is read.
          await new Promise(setImmediate)
          await new Promise(setImmediate)
        }
        return queries.get(backend)
      })
      assert.ok(done)
      assert.equal(tries, 2)
    })

    test('again and again: the error is that the database cannot be reached', async (t) => {
      const proxy = await proxyTo(t, server.url)
      const store = await openPostgresStore(proxy.url, { connections: 2, waitMs: 300 })
      const { id } = await store.createConversation('cut')
      proxy.close()
      await fails(store.append('cut', id, { message: user('x') }), 'storage', 'unavailable')
      await fails(store.setHead('cut', id, { entryId: null }), 'storage', 'unavailable')
      await store.close()
    })
  })

  describe('postgres: faults', () => {
    test('a server that stays away costs a failed call, not the process', async (t) => {
      const own = await makePostgres(programs ?? '')
      t.after(() => own.remove())
      await own.start()
      const store: Store = await openPostgresStore(own.url, { waitMs: 200 })
      const { id } = await store.createConversation('patient')
      const kept = await store.append('patient', id, { message: user('kept') })
      const exchange = await store.openExchange('patient', id, request(kept.id, '{}'))
      for (const how of ['SIGINT', 'SIGQUIT'] as const) {
        await own.stop(how)
        const error = await fails(store.append('patient', id, { message: user('lost') }), 'storage', 'unavailable')
        assert.match(error.message, /cannot be reached .* (Nothing was changed|not known)/)
        await fails(store.finishExchange('patient', exchange.id, { outcome: 'done' }), 'storage', 'unavailable')
        await fails(store.history('patient', kept.id), 'storage', 'unavailable')
        assert.equal(store.outages?.current()?.failure.code, 'unavailable')
        await own.start()
        await isBack(store)
        assert.deepEqual(textsOf(await store.history('patient', kept.id)), ['kept'])
      }
      await store.finishExchange('patient', exchange.id, { outcome: 'done', reply: { message: reply('after') } })
      await store.close()
    })

    test('a slow server that was away is found again', async (t) => {
      const proxy = await faultProxyTo(t, server)
      const store = await openPostgresStore(proxy.url, { waitMs: 20_000 })
      t.after(() => store.close())
      const { id } = await store.createConversation('patient')
      const away = new Promise((resolve) => store.outages?.watch(resolve))
      await proxy.refuse()
      const appended = store.append('patient', id, { message: user('late') })
      await away
      // All that is asked of a server that was away takes longer than it may take for one answer.
      proxy.slow(250)
      await proxy.pass()
      const { id: entry } = await appended
      proxy.slow(0)
      assert.deepEqual(textsOf(await store.history('patient', entry)), ['late'])
    })

    test('an address may set how long to wait for an unreachable server', async (t) => {
      const proxy = await proxyTo(t, server.url)
      const store = await openPostgresStore(`${proxy.url}&wait_seconds=0.2`)
      proxy.close()
      const elapsed = ownTime(t)
      await fails(store.conversations('nobody'), 'storage', 'unavailable')
      assert.ok(elapsed() < 20_000, 'much less than by default')
      await store.close()
      const wrong = await fails(openPostgresStore('postgres://localhost:1/x?wait_seconds=soon'), 'bad-input')
      assert.match(wrong.message, /wait_seconds in the address of PostgreSQL must be a number/)
    })

    test('a server that is not there, or refuses, is one sentence without the password', async () => {
      const nowhere = await fails(openPostgresStore('postgres://me:hunter2@localhost:1/x'), 'storage', 'unavailable')
      assert.ok(nowhere.message.includes('localhost:1/x') && !nowhere.message.includes('hunter2'), nowhere.message)
      const missing = await fails(
        openPostgresStore(server.url.replace(/\/\w+\?/, '/missing?')),
        'storage',
        'cannot-open',
      )
      assert.match(missing.message, /"missing" does not exist/)
      await fails(openPostgresStore('not a url'), 'bad-input')
    })

    for (let version = 1; version < migrations.length; version++) {
      test(`a database of format ${version} is brought up to date with all that is in it`, async () => {
        const { default: pg } = await import('pg')
        const url = await newDatabase(server.url)
        const client = new pg.Client(url)
        await client.connect()
        await client.query('CREATE SCHEMA synapse; CREATE TABLE synapse.format (version integer NOT NULL)')
        await client.query(`INSERT INTO synapse.format VALUES (${version})`)
        for (const step of migrations.slice(0, version)) await client.query(step)
        await client.query(
          `INSERT INTO synapse.conversations (id, owner, created_at, updated_at, settings) VALUES ('c', 'o', '2026', '2026', '{}')`,
        )
        await client.end()
        const steps: [number, number][] = []
        const store = await openPostgresStore(url, { migrating: (done, of) => steps.push([done, of]) })
        const missing = migrations.length - version
        assert.deepEqual(
          steps,
          Array.from({ length: missing }, (_, i) => [i + 1, missing]),
        )
        const { id } = await store.append('o', 'c', { message: user('still here') })
        assert.deepEqual(textsOf(await store.history('o', id)), ['still here'])
        assert.equal((await store.records('o', 'any')).items.length, 0)
        await store.close()
      })
    }

    test('a database of a newer Synapse is not touched', async () => {
      const url = await newDatabase(server.url)
      await (await openPostgresStore(url)).close()
      const { default: pg } = await import('pg')
      const client = new pg.Client(url)
      await client.connect()
      await client.query('UPDATE synapse.format SET version = 99')
      const error = await fails(openPostgresStore(url), 'storage', 'newer')
      assert.match(error.message, /format 99, this one knows/)
      await client.end()
    })

    test('a commit is durable even if the server is configured otherwise', async () => {
      const url = await newDatabase(server.url)
      const { default: pg } = await import('pg')
      const client = new pg.Client(url)
      await client.connect()
      await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`)
      await client.end()
      const db = await connect(url, { now: Date.now, leaseSkewMs: () => 0, connections: 2 })
      const shown = await db.transaction((queries) => queries.all('SHOW synchronous_commit'))
      assert.deepEqual(shown, [{ synchronous_commit: 'on' }])
      await db.close()
    })
  })
})

async function isBack({ outages }: Store): Promise<void> {
  if (!outages?.current()) return
  await new Promise<void>((resolve) => {
    const stop = outages.watch((outage) => {
      if (outage) return
      stop()
      resolve()
    })
  })
}
