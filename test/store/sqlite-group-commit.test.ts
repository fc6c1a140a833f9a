// Writes that are asked for at the same time share one commit of the SQLite store, and nothing else. The disk is awaited
// without holding the process.

import assert from 'node:assert/strict'
import fs, { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { StatementSync, type SQLInputValue } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Entry, Lease } from '../../src/core/log.ts'
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

test('a write is answered when it is on disk, and others wait for the same sync without holding readers', async (t) => {
  const { store, ids } = await given(t, 2)
  const [a = '', b = ''] = ids
  const disk = slowDisk(t)
  const answered: string[] = []
  const first = store.append(owner, a, { message: user('one') }).then(() => answered.push('first'))
  const sync = await disk.next()
  const second = store.append(owner, b, { message: user('two') }).then(() => answered.push('second'))
  const third = store.append(owner, b, { message: user('three') }).then(() => answered.push('third'))
  for (let i = 0; i < 5; i++) await nextTurn()
  assert.ok(await store.conversation(owner, a))
  assert.deepEqual(answered, [])
  sync()
  await first
  const next = await disk.next()
  assert.deepEqual(answered, ['first'])
  next()
  await Promise.all([second, third])
  assert.equal(disk.syncs(), 2)
})

test('a lease does not wait for the disk', async (t) => {
  const { store, ids } = await given(t, 1)
  const disk = slowDisk(t)
  const lease = await store.takeLease(owner, ids[0] ?? '', { holder: 'someone', ttlMs: 1000 })
  await store.releaseLease(owner, ids[0] ?? '', lease.epoch)
  assert.equal(disk.syncs(), 0)
})

test('after a sync that failed, the log is written again before the next commit', async (t) => {
  const { store, path, ids } = await given(t, 1)
  const [id = ''] = ids
  const disk = slowDisk(t)
  const failed = store.append(owner, id, { message: user('not on disk') })
  ;(await disk.next())(new Error('the disk failed'))
  await fails(failed, 'storage')

  const log = readFileSync(`${path}-wal`)
  const { writeSync, fdatasyncSync } = fs
  const written: Buffer[] = []
  let synced = 0
  const writing = t.mock.method(fs, 'writeSync', (...given: Parameters<typeof writeSync>) => {
    written.push(Buffer.from(given[1] as unknown as Buffer))
    return writeSync(...given)
  })
  const syncing = t.mock.method(fs, 'fdatasyncSync', (file: number) => {
    if (synced++ === 0) throw new Error('the disk fails again')
    fdatasyncSync(file)
  })
  syncBuiltinESMExports()
  t.after(() => {
    writing.mock.restore()
    syncing.mock.restore()
    syncBuiltinESMExports()
  })
  const before = commits(path)
  await fails(store.append(owner, id, { message: user('refused') }), 'storage')
  assert.equal(commits(path), before)
  const next = store.append(owner, id, { message: user('on disk') })
  ;(await disk.next())()
  const { id: last } = await next
  assert.deepEqual(
    written.map((bytes) => bytes.equals(log)),
    [true, true],
  )
  assert.equal(synced, 2)
  assert.deepEqual(textsOf(await store.history(owner, last)), ['not on disk', 'on disk'])
  const after = store.append(owner, id, { message: user('and again') })
  ;(await disk.next())()
  await after
  assert.equal(synced, 2)
})

test('what a lease leads to in the same turn is in its commit', async (t) => {
  const { store, path, ids } = await given(t, 20)
  const [id = '', other = ''] = ids
  const before = commits(path)
  const { write, lease } = leaseThenAppend(store, id)
  const meanwhile = store.append(owner, other, { message: user('of another run') })
  const [{ epoch }, entry] = await Promise.all([lease, write, meanwhile])
  assert.deepEqual([epoch, commits(path) - before], [1, 1])
  assert.deepEqual(textsOf(await store.history(owner, entry.id)), ['mine'])
  await nextTurn()
  const held = { holder: 'another', ttlMs: 1000, onTaken: () => assert.fail('it was not taken') }
  await fails(store.takeLease(owner, id, held), 'conflict', 'lease-held')
})

test('of several writes that a lease leads to, one that is refused leaves the lease and the others alone', async (t) => {
  const { store, path, ids } = await given(t, 3)
  const [id = '', b = '', c = ''] = ids
  const before = commits(path)
  const taken = Promise.withResolvers<Lease>()
  const lease = store.takeLease(owner, id, { holder: 'this', ttlMs: 1000, onTaken: taken.resolve })
  const { epoch } = await taken.promise
  const outcomes = await Promise.allSettled([
    store.append(owner, id, { message: user('one') }, { epoch }),
    store.append(owner, b, { message: user('two'), parentId: 'not-there' }),
    store.append(owner, c, { message: user('three') }),
    lease,
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  assert.equal(commits(path) - before, 1)
  const entries = await Promise.all(ids.map(async (one) => (await store.conversation(owner, one))?.entries))
  assert.deepEqual(entries, [1, 0, 1])
  assert.equal((await store.lease(owner, id))?.epoch, epoch)
})

test('a lease whose commit fails was not taken, and nothing that it led to was written', async (t) => {
  const { store, path, ids } = await given(t, 1)
  const [id = ''] = ids
  const before = commits(path)
  const full = failingCommit(t)
  const { write, lease } = leaseThenAppend(store, id)
  await fails(lease, 'storage', 'full')
  await fails(write, 'storage', 'full')
  full.mock.restore()
  assert.equal(commits(path), before)
  assert.equal(await store.lease(owner, id), undefined)
  assert.equal((await store.takeLease(owner, id, { holder: 'another', ttlMs: 1000 })).epoch, 1)
  assert.equal((await store.conversation(owner, id))?.entries, 0)
})

function leaseThenAppend(store: Store, id: string): { lease: Promise<Lease>; write: Promise<Entry> } {
  const taken = Promise.withResolvers<Lease>()
  const lease = store.takeLease(owner, id, { holder: 'this', ttlMs: 1000, onTaken: taken.resolve })
  const write = taken.promise.then(async ({ epoch }) => {
    // As a run reads, before it writes.
    assert.equal((await store.lease(owner, id))?.epoch, epoch)
    return store.append(owner, id, { message: user('mine') }, { epoch })
  })
  return { lease, write }
}

/** The disk is full when the next transaction is committed. */
function failingCommit(t: TestContext) {
  const full = Object.assign(new Error('database or disk is full'), { errcode: 13 })
  const { run } = StatementSync.prototype
  return t.mock.method(StatementSync.prototype, 'run', function (this: StatementSync, ...given: SQLInputValue[]) {
    if (this.sourceSQL !== 'COMMIT') return Reflect.apply(run, this, given) as ReturnType<typeof run>
    throw full
  })
}

/** Each sync waits until the function is called that `next` gives. */
function slowDisk(t: TestContext): { next(): Promise<(error?: Error) => void>; syncs(): number } {
  const waiting: ((error?: Error) => void)[] = []
  let count = 0
  const mocked = t.mock.method(fs, 'fdatasync', (_: number, done: fs.NoParamCallback) => {
    count++
    waiting.push((error) => done(error ?? null))
  })
  syncBuiltinESMExports()
  t.after(() => {
    mocked.mock.restore()
    syncBuiltinESMExports()
  })
  return {
    async next() {
      for (;;) {
        const sync = waiting.shift()
        if (sync) return sync
        await nextTurn()
      }
    },
    syncs: () => count,
  }
}

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
