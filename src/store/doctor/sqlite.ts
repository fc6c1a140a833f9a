// The checkup of a SQLite file, and its repair in place: everything that is derived from the log. The file is opened
// read-only, so that a checkup cannot harm a damaged file.

import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { asFailure, badInput, SynapseError } from '../../core/error.ts'
import type { Message } from '../../core/message.ts'
import { joinBlob } from '../blobs.ts'
import { counted, finding, indexFinding, type Finding, type Repair, type Progress } from './doctor.ts'
import { pointerChecks, pointerRepairs } from './pointers.ts'
import { documentsIn } from '../search/hits.ts'
import { maxDocuments } from '../search/search-text.ts'
import { connect, type Connection } from '../sqlite/connection.ts'
import { isSafeVersion, nodeToInstall } from '../sqlite/node-version.ts'
import { folderError, fromSqlite, type StorageCode } from '../sqlite/errors.ts'
import { beforeOpening, isLogLost, lostLogSentence, type BeforeOpening } from '../sqlite/lost-log.ts'
import { migrations } from '../sqlite/migrations.ts'
import { indexAll } from '../sqlite/search-index.ts'
import { indexText } from '../search/tokenize.ts'

export async function examineSqlite(path: string, progress: Progress): Promise<Finding[]> {
  if (!existsSync(path)) throw badInput(`There is no file ${path}.`)
  if (statSync(path).isDirectory()) throw folderError(path)
  const findings: Finding[] = []
  // Opening a file, even for reading, may create a log.
  const before = beforeOpening(path)
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 1000 })
    const version = checkFormat(db, path, findings)
    if (version !== undefined) {
      checkPages(db, findings)
      if (version === migrations.length) {
        checkLostLog(db, path, before, findings)
        checkPointers(db, findings)
        checkLog(db, findings, progress)
        checkIndex(db, findings)
        checkBlobs(db, findings)
      }
      checkUnfinished(db, findings)
    }
  } catch (error) {
    const failure = fromSqlite(error, path)
    // A file that may not be opened, or is being written to, is not a damaged one.
    if (failure instanceof SynapseError && notDamage.has(failure.failure.code)) throw failure
    findings.push(finding('broken', `${path} cannot be read to its end: ${asFailure(error).message}.`))
  } finally {
    db?.close()
  }
  await checkSettings(path, findings)
  return findings
}

const notDamage: ReadonlySet<string | undefined> = new Set<StorageCode>(['read-only', 'cannot-open', 'busy'])

/** Returns the version if the file is ours and known. */
function checkFormat(db: DatabaseSync, path: string, findings: Finding[]): number | undefined {
  const sqlite = String(scalar(db, 'SELECT sqlite_version()'))
  findings.push(
    isSafeVersion(sqlite)
      ? finding('fine', `SQLite ${sqlite}.`)
      : finding(
          'warning',
          `SQLite ${sqlite} can damage files that two processes write to. Install Node ${nodeToInstall(process.version)} or later.`,
        ),
  )
  const version = Number(scalar(db, 'PRAGMA user_version'))
  if (scalar(db, 'PRAGMA application_id') !== 0x53796e61) {
    findings.push(finding('broken', `${path} is not marked as a store of Synapse.`))
    return undefined
  }
  if (version > migrations.length) {
    findings.push(
      finding('warning', `The format is ${version}, newer than this Synapse, which knows ${migrations.length}.`),
    )
    return undefined
  }
  findings.push(
    version === migrations.length
      ? finding('fine', `The format is ${version}, as this Synapse writes it.`)
      : finding('warning', `The format is ${version}; "synapse migrate" brings it to ${migrations.length}.`),
  )
  return version
}

function checkPages(db: DatabaseSync, findings: Finding[]): void {
  const problems = all(db, 'PRAGMA integrity_check(20)').map((row) => String(row['integrity_check']))
  if (problems.join() === 'ok') findings.push(finding('fine', 'All pages and indexes of the file are consistent.'))
  else {
    // An index that misses rows is rebuilt from its table; anything else is damage of the table itself.
    const onlyIndexes = problems.every((line) => /^(row \d+ missing from|wrong # of entries in) index/.test(line))
    findings.push(finding(onlyIndexes ? 'stale' : 'broken', 'The pages of the file are inconsistent.', problems))
  }
  const orphans = all(db, 'PRAGMA foreign_key_check').map((row) => `${String(row['table'])} ${Number(row['rowid'])}`)
  if (orphans.length > 0) {
    const level = orphans.some((row) => row.startsWith('entries')) ? 'broken' : 'stale'
    findings.push(finding(level, `${counted(orphans.length, 'row')} without what they belong to.`, orphans))
  }
}

/** A write-ahead log that is missing now, or was when the file was opened. */
function checkLostLog(db: DatabaseSync, path: string, before: BeforeOpening, findings: Finding[]): void {
  const since = scalar(db, 'SELECT since FROM writers')
  if (isLogLost(before, typeof since === 'number' ? since : undefined)) {
    findings.push(finding('warning', lostLogSentence(path)))
  }
  const days = all(db, 'SELECT at FROM lost_logs ORDER BY at').map(({ at }) => String(at))
  if (days.length === 0) return
  const times = counted(days.length, 'time')
  findings.push(finding('warning', `The file was opened ${times} without the log of its last changes.`, days))
}

function checkPointers(db: DatabaseSync, findings: Finding[]): void {
  let wrong = 0
  for (const { singular, plural, level, sql } of pointerChecks((table) => table)) {
    const rows = all(db, sql).map((row) => String(Object.values(row)[0]))
    if (rows.length === 0) continue
    wrong++
    findings.push(finding(level, `${counted(rows.length, singular, plural)}.`, rows))
  }
  if (wrong === 0) findings.push(finding('fine', 'All references between records are valid.'))
}

/** Every message is intact, and the index has a row for each of its documents, or they wait to be indexed. */
function checkLog(db: DatabaseSync, findings: Finding[], progress: Progress): void {
  const count = Number(scalar(db, 'SELECT count(*) FROM entries'))
  const damaged: string[] = []
  const unindexed: string[] = []
  const upto = Number(scalar(db, 'SELECT n FROM search_upto'))
  const indexed = db.prepare('SELECT sz FROM search_docsize WHERE id = ?')
  let checked = 0
  for (const row of db.prepare('SELECT n, id, role, checksum, documents, message FROM entries').iterate()) {
    if (++checked % 1000 === 0) progress(checked / count)
    const { n, id, message } = { n: Number(row['n']), id: String(row['id']), message: String(row['message']) }
    if (crc32(message) !== row['checksum'] || !isId(id)) {
      damaged.push(id)
      continue
    }
    const parsed = JSON.parse(message) as Message
    if (parsed.role !== row['role']) damaged.push(id)
    if (n > upto) continue
    // Only the texts matter here, not their owners.
    const documents = documentsIn('', { conversation_id: '', checksum: row['checksum'], message })
    const fits = documents.every(({ text }, i) => {
      const size = indexed.get(n * maxDocuments + i)?.['sz']
      return size instanceof Uint8Array && firstVarint(size) === tokensIn(indexText(text))
    })
    if (!fits || documents.length !== row['documents']) unindexed.push(id)
  }
  findings.push(
    damaged.length === 0
      ? finding('fine', `${counted(count, 'entry', 'entries')}, all intact.`)
      : finding('broken', `${counted(damaged.length, 'entry is', 'entries are')} damaged.`, damaged),
  )
  if (unindexed.length > 0) {
    const subject = counted(unindexed.length, 'entry', 'entries')
    findings.push(finding('stale', `${subject} cannot be found by the search, or not by all words.`, unindexed))
  }
}

function checkIndex(db: DatabaseSync, findings: Finding[]): void {
  const upto = Number(scalar(db, 'SELECT n FROM search_upto'))
  if (!(upto <= Number(scalar(db, 'SELECT coalesce(max(n), 0) FROM entries')))) {
    findings.push(finding('stale', 'New entries would not be indexed.'))
    return
  }
  const expected = Number(scalar(db, `SELECT coalesce(sum(documents), 0) FROM entries WHERE n <= ${upto}`))
  const indexed = Number(scalar(db, 'SELECT count(*) FROM search_docsize'))
  const waiting = Number(scalar(db, `SELECT count(*) FROM entries WHERE n > ${upto}`))
  findings.push(indexFinding(indexed, expected, waiting))
}

function checkBlobs(db: DatabaseSync, findings: Finding[]): void {
  const bad: string[] = []
  const blobs = all(db, 'SELECT n, sha256, size FROM blobs')
  const pieces = db.prepare(
    'SELECT p.data, p.packed FROM blob_pieces b JOIN pieces p ON p.n = b.piece WHERE b.blob = ? ORDER BY b.i',
  )
  for (const { n, sha256 } of blobs) {
    const parts = pieces.all(n ?? 0).map((row) => ({ data: row['data'] as Uint8Array, packed: row['packed'] === 1 }))
    try {
      joinBlob(String(sha256), parts)
    } catch {
      bad.push(String(sha256))
    }
  }
  findings.push(
    bad.length === 0
      ? finding('fine', `${counted(blobs.length, 'blob')}, each as its hash says.`)
      : finding('broken', `${counted(bad.length, 'blob')} not as the hash says.`, bad),
  )
}

function checkUnfinished(db: DatabaseSync, findings: Finding[]): void {
  const open = Number(
    scalar(
      db,
      `SELECT count(*) FROM (SELECT conversation FROM exchanges WHERE outcome = 'open'
       UNION SELECT conversation FROM tool_runs WHERE outcome IS NULL)`,
    ),
  )
  if (open === 0) return
  const conversations = counted(open, 'conversation')
  findings.push(finding('fine', `${conversations} with an active or interrupted run: opening closes it.`))
}

/** As Synapse opens it; `PRAGMA synchronous` is a setting of the connection. */
async function checkSettings(path: string, findings: Finding[]): Promise<void> {
  const wal = existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0
  if (wal > 64 * 1024 * 1024) {
    const size = `${Math.round(wal / 1024 / 1024)} MiB`
    findings.push(finding('warning', `The write-ahead log has grown to ${size}: a reader still uses an old state.`))
  }
  if (findings.some(({ level }) => level === 'broken')) return
  // A file of another format is refused or upgraded: a checkup does neither.
  if (findings.some(({ level, what }) => level === 'warning' && what.startsWith('The format is'))) return
  try {
    const db = await connect(path, settings)
    const sync = db.get<{ synchronous: number }>('PRAGMA synchronous')?.synchronous ?? 0
    const mode = db.get<{ journal_mode: string }>('PRAGMA journal_mode')?.journal_mode ?? ''
    db.close()
    const durable = sync >= 2
    findings.push(
      durable
        ? finding('fine', `A commit is durable: synchronous = FULL, journal_mode = ${mode}.`)
        : finding('warning', `A commit may be lost with the power: synchronous = ${sync}.`),
    )
  } catch (error) {
    const { code, message } = asFailure(error)
    // What keeps a file from being opened is not a mere warning, even if all of it can be read here.
    findings.push(finding(code === damaged ? 'broken' : 'warning', message))
  }
}

const damaged: StorageCode = 'damaged'

const settings = { now: Date.now, leaseSkewMs: () => 0, busyMs: 5000 }

/** Nothing here changes an entry. */
export async function repairSqlite(path: string, progress: Progress): Promise<Repair> {
  const db = await connect(path, settings)
  try {
    db.transaction(() => {
      for (const sql of pointerRepairs((table) => table)) db.run(sql)
      rebuildIndex(db, progress)
    })
    db.run('REINDEX')
    return {
      done: [
        'The search index and all other indexes were built again from the log.',
        'Counts and pointers were repaired.',
      ],
    }
  } finally {
    db.close()
  }
}

/** In the form that `checkId` accepts. */
export function isId(id: string): boolean {
  return /^[A-Za-z0-9._:-]{1,100}$/.test(id)
}

/** Call it inside a transaction. */
export function rebuildIndex(db: Connection, progress: Progress): void {
  const { sql } = db.get<{ sql: string }>(`SELECT sql FROM sqlite_schema WHERE name = 'search'`) ?? {}
  // Rebuilt rather than emptied: a damaged index cannot be emptied.
  if (sql !== undefined) {
    db.run('DROP TABLE search')
    db.run(sql)
  }
  db.run('DELETE FROM search_upto')
  db.run('INSERT INTO search_upto (n) VALUES (0)')
  const [last = 0] = Object.values(db.get<{ n: number }>('SELECT max(n) AS n FROM entries') ?? {})
  indexAll(db, (n) => progress(n / last))
}

/** The index stores for each document how many words each column has; the text comes first. */
function firstVarint(bytes: Uint8Array): number {
  let value = 0
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) break
  }
  return value
}

/** As counted by the ascii tokenizer of FTS5. */
function tokensIn(text: string): number {
  return text.match(/[A-Za-z0-9\u0080-\u{10FFFF}]+/gu)?.length ?? 0
}

function all(db: DatabaseSync, sql: string): Record<string, string | number | bigint | Uint8Array | null>[] {
  return db.prepare(sql).all()
}

function scalar(db: DatabaseSync, sql: string): unknown {
  return Object.values(db.prepare(sql).get() ?? {})[0]
}
