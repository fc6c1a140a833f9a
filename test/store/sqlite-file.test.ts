// The file of the SQLite store: its format, and the errors if it is not what it should be.

import assert from 'node:assert/strict'
import { chmodSync, chownSync, copyFileSync, existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { crc32 } from 'node:zlib'
import { SynapseError, type Failure } from '../../src/core/error.ts'
import { examine } from '../../src/store/doctor/doctor.ts'
import { filteredDocuments, searchableOf } from '../../src/store/search/filter-words.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { connect } from '../../src/store/sqlite/connection.ts'
import { isSafeVersion } from '../../src/store/sqlite/node-version.ts'
import { entryMethods } from '../../src/store/sqlite/entries.ts'
import { conversationMethods } from '../../src/store/sqlite/conversations.ts'
import { migrations } from '../../src/store/sqlite/migrations.ts'
import { prepareFile } from '../../src/store/sqlite/file.ts'
import { fails, request } from './conformance/given.ts'
import { reply, textsOf, user } from './messages.ts'
import { startWorker } from './process.ts'
import { tempFolder } from './temp.ts'

const owner = 'someone'
const settings = { now: Date.now, leaseSkewMs: () => 0, busyMs: 50 }

test('the folder and the file are for their owner alone', async (t) => {
  const folder = join(tempFolder(t), 'a', 'b')
  const path = join(folder, 'log.db')
  const store = await openSqliteStore(path)
  await store.createConversation(owner)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name)
  await store.close()
  assert.deepEqual(readdirSync(folder), ['log.db'])
})

test('every connection makes a commit durable', async (t) => {
  const db = await connect(join(tempFolder(t), 'log.db'), settings)
  assert.deepEqual({ ...db.get('PRAGMA synchronous') }, { synchronous: 2 })
  assert.deepEqual({ ...db.get('PRAGMA journal_mode') }, { journal_mode: 'wal' })
  assert.deepEqual({ ...db.get('PRAGMA foreign_keys') }, { foreign_keys: 1 })
  db.close()
})

test('versions of SQLite that can damage a file are refused', () => {
  const expected = { '3.46.1': false, '3.51.2': false, '3.51.3': true, '3.52.0': false, '3.53.4': true, '4.0.0': true }
  for (const [version, safe] of Object.entries(expected)) assert.equal(isSafeVersion(version), safe, version)
})

test('a file that is not a database is not changed, with an error', async (t) => {
  const folder = tempFolder(t)
  const text = join(folder, 'notes.txt')
  writeFileSync(text, 'Dear diary, '.repeat(1000))
  await refusal(text, 'not-a-database')
  assert.equal(readFileSync(text, 'utf8'), 'Dear diary, '.repeat(1000))
  await refusal(folder, 'not-a-database')

  const empty = join(folder, 'empty.db')
  writeFileSync(empty, '')
  assert.match((await refusal(empty, 'damaged')).message, /empty/)

  const foreign = join(folder, 'foreign.db')
  const other = new DatabaseSync(foreign)
  other.exec('CREATE TABLE bookmarks (url TEXT)')
  other.close()
  const before = readFileSync(foreign)
  assert.match((await refusal(foreign, 'not-a-database')).message, /another program/)
  assert.ok(readFileSync(foreign).equals(before))
})

test('a file of a newer Synapse is not touched', async (t) => {
  const path = await filled(t)
  const raw = new DatabaseSync(path)
  raw.exec(`PRAGMA user_version = ${migrations.length + 1}`)
  raw.close()
  const before = readFileSync(path)
  const { message } = await refusal(path, 'newer')
  assert.match(message, new RegExp(`format ${migrations.length + 1}, this one knows ${migrations.length}`))
  assert.ok(readFileSync(path).equals(before))
})

for (let version = 1; version < migrations.length; version++) {
  test(`a file of format ${version} is brought up to date with all that is in it`, async (t) => {
    const path = join(tempFolder(t), 'log.db')
    const old = new DatabaseSync(path)
    for (const step of migrations.slice(0, version)) old.exec(step)
    const message = JSON.stringify(user('an old zebra'))
    old.exec(`PRAGMA application_id = 0x53796e61; PRAGMA user_version = ${version};
      INSERT INTO conversations (n, id, owner, created_at, updated_at, entries, head, settings)
      VALUES (1, 'old', '${owner}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1, 1, '{}');
      INSERT INTO entries (n, id, conversation, parent, depth, role, at, documents, checksum, message)
      VALUES (1, 'first', 1, NULL, 0, 'user', '2026-01-01T00:00:00.000Z', 1, ${crc32(message)}, '${message}');`)
    for (const { text, filters } of filteredDocuments(owner, 'old', searchableOf(user('an old zebra')))) {
      old.prepare('INSERT INTO search (rowid, text, filters) VALUES (4096, ?, ?)').run(text, filters.join(' '))
    }
    if (version >= 3) old.exec('UPDATE search_upto SET n = 1')
    old.close()

    const steps: [number, number][] = []
    const store = await openSqliteStore(path, { migrating: (done, of) => steps.push([done, of]) })
    const missing = migrations.length - version
    assert.deepEqual(
      steps,
      Array.from({ length: missing }, (_, i) => [i + 1, missing]),
    )
    const { id } = await store.append(owner, 'old', { message: user('a new zebra') })
    assert.deepEqual(textsOf(await store.history(owner, id)), ['an old zebra', 'a new zebra'])
    const found = (await store.search(owner, { text: 'zebra' })).items.map((hit) => hit.snippet)
    assert.deepEqual(found, ['a new zebra', 'an old zebra'])
    await store.close()
    const { findings } = await examine(path)
    assert.ok(
      findings.every(({ level }) => level === 'fine'),
      JSON.stringify(findings),
    )
  })
}

test('a truncated file is never mistaken for a shorter one', async (t) => {
  const path = await filled(t)
  const size = statSync(path).size
  const copy = `${path}.copy`
  for (const keep of [0, 1, 15, 16, 50, 100, 511, 4095, 4096, 8192, Math.floor(size / 2), size - 4096, size - 1]) {
    copyFileSync(path, copy)
    truncateSync(copy, keep)
    await refusal(copy, keep === 1 ? 'not-a-database' : 'damaged')
    assert.equal(statSync(copy).size, keep)
  }
})

test('a log without its file is not a fresh start', async (t) => {
  const path = await filled(t)
  const store = await openSqliteStore(path)
  await store.createConversation(owner)
  copyFileSync(`${path}-wal`, `${path}.copy-wal`)
  await store.close()
  assert.match((await refusal(`${path}.copy`, 'damaged')).message, /missing/)
  assert.equal(existsSync(`${path}.copy`), false)
})

test('what is read from a damaged file is what was written, or an error', async (t) => {
  const path = await filled(t)
  const whole = readFileSync(path)
  const written = await readAll(path)
  const copy = `${path}.copy`
  let noticed = 0
  for (let at = 0; at < whole.length; at += at < 200 ? 9 : 809) {
    const damaged = Buffer.from(whole)
    damaged[at] = (damaged[at] ?? 0) ^ 0x15
    for (const end of ['-wal', '-shm']) rmSync(copy + end, { force: true })
    writeFileSync(copy, damaged)
    try {
      for (const texts of await readAll(copy)) {
        // A damaged owner or id makes a row unfindable, which is an empty list here.
        assert.ok(
          written.some((other) => texts.every((text, i) => text === other[i])),
          `byte ${at}`,
        )
      }
    } catch (error) {
      if (!(error instanceof SynapseError)) throw error
      assert.equal(error.kind, 'storage', error.message)
      noticed++
    }
  }
  assert.ok(noticed > 20, `${noticed}`)
})

test('a log that is cut or damaged brings back an earlier whole state', async (t) => {
  const path = await filled(t)
  const copy = `${path}.copy`
  const store = await openSqliteStore(path)
  const { id } = await store.createConversation(owner)
  const texts = Array.from({ length: 12 }, (_, i) => `m${i}`)
  for (const text of texts) await store.append(owner, id, { message: user(text) })
  const [file, log] = [readFileSync(path), readFileSync(`${path}-wal`)]
  await store.close()
  const lengths: number[] = []
  for (let keep = 0; keep <= log.length; keep += 4 * 1024 + 13) {
    writeFileSync(copy, file)
    writeFileSync(`${copy}-wal`, log.subarray(0, keep))
    rmSync(`${copy}-shm`, { force: true })
    const again = await openSqliteStore(copy)
    const head = (await again.conversation(owner, id))?.head
    const history = head ? textsOf(await again.history(owner, head)) : []
    assert.deepEqual(history, texts.slice(0, history.length))
    lengths.push(history.length)
    await again.close()
  }
  assert.deepEqual(
    lengths,
    lengths.toSorted((a, b) => a - b),
  )
  assert.ok(new Set(lengths).size > 5)
})

test('a file or a folder that cannot be written is reported', async (t) => {
  const folder = tempFolder(t)
  const uid = process.getuid?.() === 0 ? 65_534 : undefined
  const path = join(folder, 'log.db')
  await (await openSqliteStore(path)).close()
  if (uid !== undefined) chownSync(path, uid, uid)
  if (uid !== undefined) chownSync(folder, uid, uid)

  const attempt = async (place: string): Promise<Failure> => {
    const worker = startWorker(t, ['touch', place, '', owner, '1'], uid === undefined ? {} : { uid })
    const line = (await worker.next()) ?? ''
    const { error } = JSON.parse(line) as { error?: Failure }
    assert.ok(error, line)
    assert.equal(error.kind, 'storage')
    assert.ok(!error.message.includes('\n') && error.message.length < 250, error.message)
    return error
  }
  chmodSync(path, 0o400)
  const file = await attempt(path)
  assert.ok(file.code === 'read-only' && file.message.includes(path), file.message)
  chmodSync(path, 0o600)
  chmodSync(folder, 0o500)
  const inside = await attempt(path)
  assert.ok(inside.code === 'read-only' && inside.message.includes(folder), inside.message)
  assert.equal((await attempt(join(folder, 'new.db'))).code, 'read-only')
  assert.equal((await attempt(join(folder, 'deep', 'new.db'))).code, 'cannot-open')
  chmodSync(folder, 0o700)
})

test('a file that cannot be made whole is not made at all', (t) => {
  const folder = tempFolder(t)
  const path = join(folder, 'log.db')
  const torn = () =>
    prepareFile(path, (draft) => {
      writeFileSync(draft, 'half')
      throw new Error('power cut')
    })
  assert.throws(torn, /power cut/)
  assert.deepEqual(readdirSync(folder), [])
})

test('when the disk is full nothing is half-written, and all continues when there is space again', async (t) => {
  const db = await connect(join(tempFolder(t), 'log.db'), settings)
  const store = { ...conversationMethods(db), ...entryMethods(db) }
  const { id } = await store.createConversation(owner)
  db.get(`PRAGMA max_page_count = ${Number(Object.values(db.get('PRAGMA page_count') ?? {})[0]) + 20}`)
  const text = 'some words of a message '.repeat(400)
  let written = 0
  let full: unknown
  for (; full === undefined && written < 100; written++) {
    full = await store.append(owner, id, { message: user(`${written} ${text}`) }).then(
      () => undefined,
      (error: unknown) => error,
    )
  }
  written--
  assert.ok(full instanceof SynapseError && full.kind === 'storage' && full.failure.code === 'full', String(full))
  assert.match(full.message, /no space left/)
  const head = (await store.conversation(owner, id))?.head ?? ''
  assert.equal((await store.history(owner, head)).length, written)
  assert.equal((await store.conversation(owner, id))?.entries, written)
  db.get('PRAGMA max_page_count = 100000')
  await store.append(owner, id, { message: user(text) })
  assert.deepEqual({ ...db.get('PRAGMA integrity_check') }, { integrity_check: 'ok' })
  db.close()
})

test('a writer waits for another process that is writing, but not forever', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path, { busyMs: 300 })
  const { id } = await store.createConversation(owner)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  assert.equal((await store.conversations(owner)).items.length, 1)
  const error = await fails(store.append(owner, id, { message: user('blocked') }), 'storage', 'busy')
  assert.ok(error.message.includes(path))
  const waiting = store.append(owner, id, { message: user('patient') })
  other.exec('COMMIT')
  other.close()
  assert.equal((await waiting).depth, 0)
  await store.close()
})

test('deletion removes the text from the file', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  const kept = await store.createConversation(owner, { title: 'kept' })
  await store.append(owner, kept.id, { message: user('a harmless platypus') })
  const gone = await store.createConversation(owner, { title: 'secretquokka', labels: ['secretokapi'] })
  const noise = Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 251)
  const base64 = Buffer.from(noise).toString('base64') + Buffer.from('secretaxolotl '.repeat(40)).toString('base64')
  const entry = await store.append(owner, gone.id, { message: user('secretzebra here') })
  await store.append(owner, gone.id, {
    message: { role: 'user', parts: [{ type: 'media', mediaType: 'x/y', data: { kind: 'base64', base64 } }] },
  })
  const exchange = await store.openExchange(owner, gone.id, request(entry.id, 'secretgnu'))
  await store.journal(owner, exchange.id, 0, [{ type: 'part-delta', index: 0, text: 'secretibis' }])
  await store.finishExchange(owner, exchange.id, { outcome: 'done', reply: { message: reply('secretlemur') } })
  await store.deleteConversation(owner, gone.id)
  await store.vacuum()

  const words = [
    'secretquokka',
    'secretokapi',
    'secretaxolotl',
    'secretzebra',
    'secretgnu',
    'secretibis',
    'secretlemur',
  ]
  for (const file of [path, `${path}-wal`]) {
    const bytes = readFileSync(file)
    for (const word of words) assert.equal(bytes.includes(word.slice(1)), false, `${word} in ${file}`)
  }
  assert.ok(readFileSync(path).includes('platypus'))
  assert.equal((await store.search(owner, { text: 'platypus' })).items.length, 1)
  await store.close()
})

test('the bodies of a growing conversation share what they have in common', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  const { id } = await store.createConversation(owner)
  const entry = await store.append(owner, id, { message: user('x') })
  let body = ''
  let sum = 0
  for (let turn = 0; turn < 60; turn++) {
    // Text that does not compress to nothing.
    for (let i = 0; i < 400; i++) body += `${((turn * 400 + i) * 2_654_435_761) % 4_294_967_296} `
    sum += body.length
    await store.openExchange(owner, id, request(entry.id, body))
  }
  await store.close()
  assert.ok(statSync(path).size < sum / 4, `${statSync(path).size} of ${sum}`)
})

async function filled(t: TestContext): Promise<string> {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  for (let i = 0; i < 3; i++) {
    const { id } = await store.createConversation(owner, { title: `Title ${i}`, labels: ['a'] })
    for (let j = 0; j < 5; j++)
      await store.append(owner, id, { message: user(`message ${i} ${j} ${'words '.repeat(100)}`) })
    const head = (await store.conversation(owner, id))?.head ?? ''
    await store.openExchange(owner, id, request(head, `body ${'x '.repeat(3000)}${i}`))
  }
  await store.close()
  return path
}

/** The messages of every conversation, and the body of every exchange. */
async function readAll(path: string): Promise<string[][]> {
  const store = await openSqliteStore(path)
  try {
    const all: string[][] = []
    for (const { id, head } of (await store.conversations(owner)).items) {
      all.push((await store.history(owner, head ?? '')).map((entry) => JSON.stringify([entry.id, entry.message])))
      for (const { bodySha256 } of (await store.exchanges(owner, id)).items) {
        const body = await store.blob(owner, bodySha256)
        all.push(body ? [Buffer.from(body).toString()] : [])
      }
    }
    return all
  } finally {
    await store.close()
  }
}

async function refusal(path: string, code: string): Promise<SynapseError> {
  const error = await fails(openSqliteStore(path), 'storage', code)
  assert.ok(error.message.includes(path) && !error.message.includes('\n'), error.message)
  return error
}
