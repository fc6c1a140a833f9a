// The checkup, on files that are in a bad way in every way that could be thought of.

import assert from 'node:assert/strict'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { examine, repair, type Finding } from '../../src/store/doctor/doctor.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { newHome } from '../cli/command-line.ts'
import { newPlace, openPlace, reasonToSkip } from '../crash/stores.ts'
import { request } from './conformance/given.ts'
import { call, reply, result, user } from './messages.ts'
import { tempFolder } from './temp.ts'

const owner = 'someone'

test('a store that is well is found to be well, and the checkup changes nothing', async (t) => {
  const path = await filled(t)
  const before = readFileSync(path)
  const { findings } = await examine(path)
  assert.deepEqual(wrong(findings), [])
  assert.ok(findings.some(({ what }) => what === '30 entries, all intact.'))
  assert.ok(findings.some(({ what }) => /durable: synchronous = FULL/.test(what)))
  assert.ok(readFileSync(path).equals(before))
})

test('entries that wait to be indexed are nothing to complain of', async (t) => {
  const path = await filled(t)
  const store = await openSqliteStore(path)
  const { id } = await store.createConversation(owner)
  await store.append(owner, id, { message: user('not in the index yet') })
  await store.close()
  const { findings } = await examine(path)
  assert.deepEqual(wrong(findings), [])
  assert.ok(findings.some(({ what }) => what.startsWith('31 entries')))
})

const stale: [string, string, RegExp][] = [
  ['a mark that the next entries would be missed by', 'UPDATE search_upto SET n = 777', /would not be indexed/],
  ['a mark that is gone', 'DELETE FROM search_upto', /would not be indexed/],
  ['documents that are missing from the search index', 'DELETE FROM search WHERE rowid % 3 = 0', /search index has/],
  [
    'documents that are indexed by other words',
    `UPDATE search SET text = 'one two', filters = 'x' WHERE rowid / 4096 = 3`,
    /not by all words/,
  ],
  [
    'a document of no entry',
    `INSERT INTO search (rowid, text, filters) VALUES (99999999, 'x', 'y')`,
    /search index has/,
  ],
  ['wrong counts', 'UPDATE conversations SET entries = entries + 5', /3 conversations with a wrong count/],
  [
    'a head that leads nowhere',
    'UPDATE conversations SET head = 777 WHERE n = 1',
    /1 conversation whose head is missing/,
  ],
  ['a branch that leads nowhere', `INSERT INTO branches VALUES (1, 'lost', 777)`, /1 named branch that leads nowhere/],
  ['exchanges of nothing', 'UPDATE exchanges SET based_on = 777 WHERE n = 1', /1 exchange without the entry/],
  ['an unused blob', 'DELETE FROM blob_uses WHERE conversation = 2', /1 unused blob/],
]

for (const [what, sql, expected] of stale) {
  test(`${what}: found, and made again from the log`, async (t) => {
    const path = await filled(t)
    const log = await entriesOf(path)
    damage(path, sql)
    const { findings } = await examine(path)
    assert.ok(
      wrong(findings).some((finding) => finding.level === 'stale' && expected.test(finding.what)),
      shown(findings),
    )
    assert.ok(
      wrong(findings).every((finding) => finding.level === 'stale'),
      shown(findings),
    )
    const { copy } = await repair(path, findings)
    assert.equal(copy, undefined)
    assert.deepEqual(wrong((await examine(path)).findings), [])
    assert.deepEqual(await entriesOf(path), log)
    const store = await openSqliteStore(path)
    assert.equal((await store.search(owner, { text: '"question 4"' })).items.length, 3)
    await store.close()
  })
}

const broken: [string, string, RegExp, number][] = [
  [
    'an entry that was changed',
    `UPDATE entries SET message = replace(message, 'question 4', 'question 5') WHERE n = 5`,
    /1 entry is damaged/,
    29,
  ],
  ['a parent that is missing', 'DELETE FROM entries WHERE n = 4', /1 entry whose parent is missing/, 29],
  ['a circle of parents', 'UPDATE entries SET parent = n + 1 WHERE n = 4', /older than its parent/, 30],
  ['entries at the wrong depth', 'UPDATE entries SET depth = 50 WHERE n = 5', /at the wrong depth/, 30],
  ['a conversation that is gone', 'DELETE FROM conversations WHERE n = 2', /without a conversation/, 30],
]

for (const [what, sql, expected, left] of broken) {
  test(`${what}: found; the file is not changed, and everything readable is written to a copy`, async (t) => {
    const path = await filled(t)
    const log = await entriesOf(path)
    damage(path, sql)
    const before = readFileSync(path)
    const { findings } = await examine(path)
    assert.ok(
      wrong(findings).some((finding) => finding.level === 'broken' && expected.test(finding.what)),
      shown(findings),
    )
    const { copy = '', done } = await repair(path, findings)
    assert.ok(readFileSync(path).equals(before), 'the damaged file is untouched')
    assert.deepEqual(wrong((await examine(copy)).findings), [], done.join('\n'))
    const saved = await entriesOf(copy)
    assert.equal(saved.size, left)
    for (const [id, message] of saved) assert.equal(message, log.get(id), 'nothing is made up')
    const store = await openSqliteStore(copy)
    for (const who of [owner, 'local']) {
      for (const { head } of (await store.conversations(who)).items) {
        assert.ok((await store.history(who, head ?? '')).length > 5)
      }
    }
    await store.close()
  })
}

test('bytes flipped anywhere: the result is what was written, or is reported as lost', async (t) => {
  const path = await filled(t)
  const log = await entriesOf(path)
  const written = new Set(log.values())
  const whole = readFileSync(path)
  const folder = tempFolder(t)
  let [salvaged, complete] = [0, 0]
  for (let at = 100; at < whole.length; at += 4096 + 811) {
    const copy = join(folder, `flipped-${at}.db`)
    const bytes = Buffer.from(whole)
    for (let i = 0; i < 40; i++) bytes[at + i] = (bytes[at + i] ?? 0) ^ 0xa5
    writeFileSync(copy, bytes)
    const { findings } = await examine(copy)
    if (wrong(findings).length === 0) {
      assert.deepEqual(await entriesOf(copy), log, `byte ${at}`)
      continue
    }
    let mended
    try {
      mended = await repair(copy, findings)
    } catch (error) {
      // The page that names the tables.
      assert.ok(error instanceof SynapseError && /Keep the file/.test(error.message), `byte ${at}: ${String(error)}`)
      continue
    }
    assert.deepEqual(wrong((await examine(mended.copy ?? copy)).findings), [], `byte ${at}`)
    const saved = await entriesOf(mended.copy ?? copy)
    // An id has no checksum, so it may be another one; what was said has.
    for (const message of saved.values()) assert.ok(written.has(message), `byte ${at}`)
    if (mended.copy !== undefined) salvaged++
    if (saved.size === log.size) complete++
  }
  assert.ok(salvaged > 3 && complete > 0, `${salvaged} salvaged, ${complete} complete`)
})

test('a truncated file is salvaged as far as possible', async (t) => {
  const path = await filled(t)
  const log = await entriesOf(path)
  truncateSync(path, Math.floor(statSync(path).size / 4096 / 2) * 4096)
  await assert.rejects(openSqliteStore(path), /synapse doctor --repair/)
  const { findings } = await examine(path)
  assert.ok(
    wrong(findings).some(({ level }) => level === 'broken'),
    shown(findings),
  )
  const { copy = '' } = await repair(path, findings).catch((error: unknown) => {
    assert.match(String(error), /Keep the file/)
    return { copy: undefined }
  })
  if (copy !== '') for (const [id, message] of await entriesOf(copy)) assert.equal(message, log.get(id))
})

test('a write-ahead log cut at any place leaves a store that is well', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  const { id } = await store.createConversation(owner)
  for (let i = 0; i < 8; i++) await store.append(owner, id, { message: user(`message ${i}`) })
  const [file, wal] = [readFileSync(path), readFileSync(`${path}-wal`)]
  await store.close()
  let before = 0
  const cuts = Array.from({ length: Math.ceil(wal.length / 6656) }, (_, i) => i * 6656)
  for (const keep of [...cuts, wal.length]) {
    const copy = join(dirname(path), `cut-${keep}.db`)
    writeFileSync(copy, file)
    writeFileSync(`${copy}-wal`, wal.subarray(0, keep))
    assert.deepEqual(wrong((await examine(copy)).findings), [], `cut at ${keep}`)
    const { size } = await entriesOf(copy)
    assert.ok(size >= before, 'a longer log never holds less')
    before = size
  }
  assert.equal(before, 8)
})

test('a foreign file, and a newer one, is reported and not changed', async (t) => {
  const folder = tempFolder(t)
  const foreign = join(folder, 'foreign.db')
  const other = new DatabaseSync(foreign)
  other.exec('CREATE TABLE bookmarks (url TEXT)')
  other.close()
  assert.match(shown((await examine(foreign)).findings), /is not marked as a store of Synapse/)
  writeFileSync(join(folder, 'text.db'), 'Dear diary, '.repeat(500))
  assert.match(shown((await examine(join(folder, 'text.db'))).findings), /cannot be read/)
  const newer = await filled(t)
  damage(newer, 'PRAGMA user_version = 99')
  const { findings } = await examine(newer)
  assert.match(shown(findings), /format is 99, newer/)
  assert.deepEqual(wrong(findings), [])
  await assert.rejects(examine(join(folder, 'nothing.db')), /There is no file/)
  await assert.rejects(examine(folder), /is a folder/)
})

test(
  'on PostgreSQL the log, the index and the settings are looked at too',
  { skip: reasonToSkip('postgres') },
  async (t) => {
    const place = await newPlace(t, 'postgres')
    const store = await openPlace(place)
    await fill(store)
    const young = (await examine(place.url)).findings
    assert.deepEqual(wrong(young), [])
    assert.match(shown(young), /0 documents of the log; 30 entries wait to be indexed/)
    await store.vacuum()
    await store.close()
    assert.deepEqual(wrong((await examine(place.url)).findings), [])
    const { default: pg } = await import('pg')
    const client = new pg.Client(place.url)
    await client.connect()
    await client.query('DELETE FROM synapse.search WHERE n % 3 = 0')
    await client.query(
      'UPDATE synapse.conversations SET entries = 1, head = 777 WHERE n = (SELECT min(n) FROM synapse.conversations)',
    )
    const { findings } = await examine(place.url)
    assert.match(shown(findings), /cannot be found by the search/)
    assert.match(shown(findings), /1 conversation whose head is missing/)
    await repair(place.url, findings)
    assert.deepEqual(wrong((await examine(place.url)).findings), [])
    await client.query(`UPDATE synapse.entries SET message = replace(message, 'question 4', 'question 5')`)
    assert.match(shown((await examine(place.url)).findings), /3 entries are damaged/)
    await client.end()
  },
)

test('the command: exit code 0 when all is well, 1 when not, and --repair repairs', async (t) => {
  const { synapse, folder } = newHome(t)
  const path = await filled(t)
  const well = await synapse(['doctor', '--db', path])
  assert.equal(well.code, 0, well.err)
  assert.match(well.out, /ok {2}30 entries, all intact/)
  damage(path, 'DELETE FROM search')
  const ill = await synapse(['doctor', '--db', path])
  assert.equal(ill.code, 1)
  assert.match(ill.err, /synapse doctor --repair/)
  assert.equal((await synapse(['doctor', '--repair', '--db', path])).code, 0)
  assert.equal((await synapse(['doctor', '--db', path])).code, 0)

  damage(path, 'DELETE FROM entries WHERE n = 4')
  const salvaged = await synapse(['doctor', '--repair', '--db', path])
  assert.equal(salvaged.code, 1)
  assert.match(salvaged.err, /29 entries of 3 conversations could be read/)
  assert.ok(existsSync(`${path}.salvaged`) && salvaged.err.includes(`${path}.salvaged`))
  assert.equal((await synapse(['doctor', '--db', `${path}.salvaged`])).code, 0)
  assert.equal((await synapse(['doctor', '--db', join(folder, 'nothing.db')])).code, 2)
})

test('a store that cannot be written is still looked at', async (t) => {
  if (process.getuid?.() === 0) return t.skip('root may write everywhere')
  const path = await filled(t)
  chmodSync(path, 0o400)
  const { findings } = await examine(path)
  assert.deepEqual(wrong(findings), [])
  assert.match(shown(findings), /cannot be read and written/)
})

test('a salvage that fails leaves nothing behind', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  writeFileSync(path, 'SQLite format 3\0')
  appendFileSync(path, Buffer.alloc(9000, 7))
  const { findings } = await examine(path)
  await assert.rejects(repair(path, findings), /Keep the file/)
  assert.deepEqual(readdirSync(dirname(path)), ['log.db'])
})

function wrong(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ level }) => level === 'stale' || level === 'broken')
}

function shown(findings: readonly Finding[]): string {
  return findings.map(({ level, what, examples = [] }) => `${level}: ${what} ${examples.join(', ')}`).join('\n')
}

async function filled(t: TestContext): Promise<string> {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  await fill(store)
  // Else all entries would still wait to be indexed.
  await store.vacuum()
  await store.close()
  return path
}

/** Three conversations of ten entries, each with an exchange and its body. */
async function fill(store: Store): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const { id } = await store.createConversation(owner, { title: `Title ${i}`, labels: ['a', 'b'] })
    for (let j = 0; j < 6; j++) {
      await store.append(owner, id, { message: user(`question ${j} ${'words of many kinds '.repeat(60)}`) })
    }
    const { head } = (await store.conversation(owner, id)) ?? {}
    const exchange = await store.openExchange(owner, id, request(head ?? '', `body ${i} ${'x y '.repeat(3000)}`))
    const message = reply('calling', [call('c1', 'clock', { zone: 'UTC' })])
    const { entry } = await store.finishExchange(owner, exchange.id, { outcome: 'done', reply: { message } })
    await store.startTool(owner, id, { callId: 'c1', entryId: entry?.id ?? '', name: 'clock', argsSha256: 'x' })
    await store.finishTool(owner, id, 'c1', { outcome: 'done', result: { message: result('c1', 'clock', '12:00') } })
    await store.append(owner, id, { message: reply('It is noon in Málaga.') })
    await store.append(owner, id, { message: user('東京タワー, thanks') })
    await store.addOverlay(owner, id, { entryId: head ?? '', kind: 'fold', data: {} })
  }
}

function damage(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA foreign_keys = OFF')
  db.exec(sql)
  db.close()
}

/** Every entry that is in the file, by its id. */
async function entriesOf(path: string): Promise<Map<string, string>> {
  const copy = `${path}.read`
  copyFileSync(path, copy)
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`)
  const db = new DatabaseSync(copy)
  const rows = db.prepare('SELECT id, message FROM entries').all()
  db.close()
  return new Map(rows.map(({ id, message }) => [String(id), String(message)]))
}

test('a file that lost its last bytes is reported as broken, and everything readable is written to a copy', async (t) => {
  const home = newHome(t)
  const path = join(home.folder, 'log.db')
  assert.equal((await home.synapse(['--offline', '--db', path, 'What is 17 + 25?'])).code, 0)
  const whole = (await home.synapse(['log', '--json', '--db', path])).out
  truncateSync(path, statSync(path).size - 1000)

  const refused = await home.synapse(['log', '--db', path])
  assert.equal(refused.code, 1)
  assert.match(refused.err, /is cut off at \d+ bytes.*"synapse doctor --repair" saves what can be read to a copy/)
  const looked = await home.synapse(['doctor', '--db', path])
  assert.equal(looked.code, 1)
  assert.match(looked.out, /no {2}.*(is cut off at|cannot be read to its end)/)
  const before = readFileSync(path)
  const repaired = await home.synapse(['doctor', '--repair', '--db', path])
  assert.equal(repaired.code, 1)
  assert.match(repaired.err, /Everything readable was written to .*log\.db\.salvaged/)
  assert.ok(readFileSync(path).equals(before), 'the damaged file is left as it was')

  const copy = `${path}.salvaged`
  const after = (await home.synapse(['log', '--json', '--db', copy])).out
  assert.deepEqual(JSON.parse(after), JSON.parse(whole))
  assert.equal((await home.synapse(['doctor', '--db', copy])).code, 0)
  assert.equal((await home.synapse(['--offline', '-c', '--db', copy, 'And now?'])).code, 0)
})
