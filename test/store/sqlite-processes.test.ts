// One SQLite file and several processes, some of which die. What was acknowledged must be there.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { checkAcknowledged, race, zombie } from './several-writers.ts'
import { startWorker } from './process.ts'
import { tempFolder } from './temp.ts'

const owner = 'someone'

test('a process killed at any moment loses nothing that was acknowledged', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  // Each number is a count of acknowledgements, so that the kill comes between different writes.
  for (const lines of [1, 2, 3, 4, 5, 6, 17, 40]) {
    const store = await openSqliteStore(path)
    const { id } = await store.createConversation(owner)
    const worker = startWorker(t, ['turns', path, id, owner])
    const acknowledged: string[] = []
    while (acknowledged.length < lines) acknowledged.push((await worker.next()) ?? assert.fail('the worker ended'))
    worker.signal('SIGKILL')
    acknowledged.push(...(await worker.rest()))
    await worker.ended
    await store.close()
    const again = await openSqliteStore(path)
    await checkAcknowledged(again, owner, id, acknowledged)
    await again.close()
    assert.equal(integrity(path), 'ok')
  }
})

test('two processes write to one file, and every entry is stored', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  const { id } = await store.createConversation(owner)
  const workers = [0, 1].map(() => startWorker(t, ['append', path, id, owner, '150']))
  const lines = (await Promise.all(workers.map((worker) => worker.rest()))).flat()
  assert.equal(lines.length, 300)
  await checkAcknowledged(store, owner, id, lines)
  assert.equal((await store.conversation(owner, id))?.entries, 300)
  assert.equal((await store.search(owner, { text: 'number 149' })).items.length, 2)
  await store.close()
})

const tracer = 'strace'
const works = spawnSync(tracer, ['-e', 'trace=none', 'true']).status === 0
const skip = !works && 'needs strace, to make the disk fail'

for (const [fault, code] of [
  ['fsync,fdatasync:error=EIO:when=7', 'io'],
  ['pwrite64:error=ENOSPC:when=60..61', 'full'],
] as const) {
  test(`a write that fails on the disk (${code}) is not acknowledged, and the next one works`, { skip }, async (t) => {
    const path = join(tempFolder(t), 'log.db')
    const store = await openSqliteStore(path)
    const { id } = await store.createConversation(owner)
    await store.close()
    const under = [tracer, '-f', '-o', '/dev/null', '-e', `trace=${fault.split(':')[0]}`, '-e', `inject=${fault}`]
    // One thread for the disk: strace counts the calls of each by itself.
    const env = { UV_THREADPOOL_SIZE: '1' }
    const lines = await startWorker(t, ['append', path, id, owner, '30'], { under, env }).rest()
    const written = lines.filter((line) => line.startsWith('{"entry":'))
    const refused = lines.filter((line) => line === `{"refused":"${code}"}`)
    assert.ok(refused.length > 0 && refused.length < 3 && written.length + refused.length === 30, lines.join('\n'))
    assert.ok(lines.at(-1)?.startsWith('{"entry":'))
    const again = await openSqliteStore(path)
    await checkAcknowledged(again, owner, id, written)
    await again.close()
    assert.equal(integrity(path), 'ok')
  })
}

test('two processes that make the same file at once share it', async (t) => {
  const path = join(tempFolder(t), 'deep', 'folder', 'log.db')
  const workers = [0, 1, 2].map(() => startWorker(t, ['touch', path, '', owner, '1']))
  const lines = (await Promise.all(workers.map((worker) => worker.rest()))).flat()
  assert.equal(lines.filter((line) => line.startsWith('{"conversations":')).length, 3, lines.join('\n'))
  const store = await openSqliteStore(path)
  assert.equal((await store.conversations(owner)).items.length, 3)
  await store.close()
})

test('of two processes that want to write to a conversation, one does at a time', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  await race(t, await openSqliteStore(path), path)
})

test('a process that slept past its lease is refused when it wakes', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  await zombie(t, await openSqliteStore(path, { leaseSkewMs: () => 60_000 }), path)
})

function integrity(path: string): unknown {
  const raw = new DatabaseSync(path)
  const { integrity_check: found } = raw.prepare('PRAGMA integrity_check').get() ?? {}
  raw.close()
  return found
}
