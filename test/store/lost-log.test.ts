// A write-ahead log that was deleted while it held changes is noticed; every ordinary way to open and close a file is not
// taken for that.

import assert from 'node:assert/strict'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { examine } from '../../src/store/doctor/doctor.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { tempFolder } from './temp.ts'

const owner = 'someone'

/** The file as a crash leaves it: a copy that is made while it is open. */
function crashed(path: string, t: TestContext, ends: readonly string[] = ['', '-wal']): string {
  const copy = join(tempFolder(t), 'log.db')
  for (const end of ends) copyFileSync(path + end, copy + end)
  return copy
}

async function opened(path: string): Promise<{ store: Store; warnings: string[] }> {
  const warnings: string[] = []
  const store = await openSqliteStore(path, { warn: (sentence) => warnings.push(sentence) })
  return { store, warnings }
}

/** Opens and closes, and gives what was said. */
async function warningsOf(path: string): Promise<string[]> {
  const { store, warnings } = await opened(path)
  await store.close()
  return warnings
}

/** A mark of the millisecond in which a file is opened could be that of the process that opens it. */
function nextMillisecond(): void {
  const now = Date.now()
  while (Date.now() === now);
}

async function writtenStore(t: TestContext): Promise<{ path: string; store: Store }> {
  const path = join(tempFolder(t), 'log.db')
  const { store } = await opened(path)
  t.after(() => store.close())
  for (let i = 0; i < 3; i++) await store.createConversation(owner)
  return { path, store }
}

test('a log that was deleted after a crash is reported once when the file is opened, and by doctor from then on', async (t) => {
  const { path } = await writtenStore(t)
  const copy = crashed(path, t, [''])
  const shown = (await examine(crashed(path, t, ['']))).findings.filter(({ level }) => level === 'warning')
  assert.match(shown.map(({ what }) => what).join('\n'), /write-ahead log .* is gone/)

  const [warning, ...more] = await warningsOf(copy)
  assert.match(warning ?? '', /log\.db-wal is gone: the last changes may be missing/)
  assert.deepEqual(more, [])
  assert.deepEqual(await warningsOf(copy), [])
  const { findings } = await examine(copy)
  assert.match(findings.map(({ what }) => what).join('\n'), /was opened 1 time without the log of its last changes/)
  assert.ok(!findings.some(({ level }) => level === 'broken' || level === 'stale'))
})

test('after a crash that left the log nothing is missing, and nothing is reported', async (t) => {
  const { path } = await writtenStore(t)
  const copy = crashed(path, t)
  const { store, warnings } = await opened(copy)
  assert.deepEqual(warnings, [])
  assert.equal((await store.conversations(owner)).items.length, 3)
  await store.close()
  assert.ok(!existsSync(`${copy}-wal`))
  assert.deepEqual(await warningsOf(copy), [])
})

test('a file that was closed, or only read, has no mark', async (t) => {
  const { path, store } = await writtenStore(t)
  await store.close()
  assert.deepEqual(await warningsOf(path), [])
  const reader = await opened(path)
  await reader.store.conversations(owner)
  await reader.store.close()
  assert.deepEqual(await warningsOf(path), [])
})

test('a reader after a crash clears the mark when it closes', async (t) => {
  const { path } = await writtenStore(t)
  const copy = crashed(path, t)
  const reader = await opened(copy)
  await reader.store.conversations(owner)
  await reader.store.close()
  assert.deepEqual(await warningsOf(copy), [])
})

test('two connections: the one that continues sets the mark again, and the last one clears it', async (t) => {
  const { path, store } = await writtenStore(t)
  const other = await opened(path)
  await other.store.createConversation(owner)
  await other.store.close()
  await store.createConversation(owner)
  nextMillisecond()
  const copy = crashed(path, t, [''])
  assert.equal((await warningsOf(copy)).length, 1)
  assert.deepEqual(other.warnings, [])
  await store.close()
  assert.deepEqual(await warningsOf(path), [])
})

test('a file that is open elsewhere is not mistaken for one with a lost log', async (t) => {
  const { path } = await writtenStore(t)
  assert.deepEqual(await warningsOf(path), [])
  const { findings } = await examine(path)
  assert.ok(!findings.some(({ level }) => level !== 'fine'))
})
