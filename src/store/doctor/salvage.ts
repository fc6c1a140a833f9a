// Writes everything readable of a damaged file to a new one next to it. The damaged file is not changed: it is read
// from a copy, table by table, and around broken pages. What was certainly lost is reported; only one thing is guessed:
// an entry whose parent cannot be read is joined to the entry that came before the parent.

import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { asFailure, SynapseError } from '../../core/error.ts'
import type { Message } from '../../core/message.ts'
import { joinBlob } from '../blobs.ts'
import { counted, type Repair, type Progress } from './doctor.ts'
import { pointerRepairs } from './pointers.ts'
import { isId, rebuildIndex } from './sqlite.ts'
import { connect, type Connection } from '../sqlite/connection.ts'
import { headerOf } from '../sqlite/file.ts'

type Values = Record<string, SQLInputValue>

export async function salvage(path: string, progress: Progress): Promise<Repair> {
  const folder = mkdtempSync(join(dirname(path), `.${basename(path)}-salvage-`))
  const copy = freeName(path)
  try {
    for (const end of ['', '-wal']) {
      if (existsSync(path + end)) copyFileSync(path + end, join(folder, `damaged${end}`))
    }
    const done = await readInto(join(folder, 'damaged'), copy, path, progress)
    return { done, copy }
  } catch (error) {
    for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true })
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function freeName(path: string): string {
  for (let i = 1; ; i++) {
    const name = `${path}.salvaged${i === 1 ? '' : `-${i}`}`
    if (!existsSync(name)) return name
  }
}

async function readInto(damaged: string, copy: string, path: string, progress: Progress): Promise<string[]> {
  const source = openDamaged(damaged, path)
  const db = await connect(copy, { now: Date.now, leaseSkewMs: () => 0, busyMs: 5000 })
  try {
    db.run('PRAGMA foreign_keys = OFF')
    const summary = db.transaction(() => {
      const lost = copyTables(source, db)
      const repairs = [...repairEntries(db), ...dropBadBlobs(db)]
      dropOrphans(db)
      for (const sql of pointerRepairs((table) => table)) db.run(sql)
      rebuildIndex(db, progress)
      const { n = 0 } = db.get<{ n: number }>('SELECT count(*) AS n FROM entries') ?? {}
      const { c = 0 } = db.get<{ c: number }>('SELECT count(*) AS c FROM conversations') ?? {}
      const saved = `${counted(n, 'entry', 'entries')} of ${counted(c, 'conversation')} could be read.`
      return [saved, ...lost, ...repairs]
    })
    return summary
  } finally {
    db.close()
    source.close()
  }
}

function openDamaged(copy: string, path: string): DatabaseSync {
  try {
    padToWholePages(copy)
    const db = new DatabaseSync(copy, { defensive: false })
    // Damaged definitions are skipped: the other tables can still be read.
    db.exec('PRAGMA writable_schema = ON')
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return db
  } catch (error) {
    throw new SynapseError(
      {
        kind: 'storage',
        code: 'damaged',
        message:
          `Nothing of ${path} can be read (${asFailure(error).message}): the list of its tables is damaged. ` +
          'Keep the file, and restore a backup.',
      },
      { cause: error },
    )
  }
}

/** A truncated page is read as far as possible. */
function padToWholePages(path: string): void {
  const { pageSize, pages } = headerOf(path)
  const { size } = statSync(path)
  if (pageSize >= 512 && size < pageSize * pages) truncateSync(path, Math.ceil(size / pageSize) * pageSize)
}

function copyTables(source: DatabaseSync, db: Connection): string[] {
  const lines: string[] = []
  for (const { name } of db.all<{ name: string }>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%' AND name NOT LIKE 'sqlite%'`,
  )) {
    const { lost } = copyTable(source, db, name)
    if (lost > 0) lines.push(`${lost === Infinity ? 'Some rows' : counted(lost, 'row')} of ${name} could not be read.`)
  }
  return lines
}

function copyTable(source: DatabaseSync, db: Connection, table: string): { lost: number } {
  const expected = db.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).map(({ name }) => name)
  let present: string[]
  try {
    present = source
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map((row) => String(row['name']))
  } catch {
    return { lost: Infinity }
  }
  const columns = expected.filter((name) => present.includes(name))
  if (columns.length === 0) return { lost: 0 }
  const insert = `INSERT OR IGNORE INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`
  const keep = (row: Values): void => {
    try {
      db.run(insert, ...columns.map((name) => row[name] ?? null))
    } catch {
      // a value of the wrong kind is damage too
    }
  }
  const query = `SELECT ${columns.join()} FROM ${table}`
  return columns.includes('n') ? byNumber(source, table, query, keep) : fromBothEnds(source, query, keep)
}

/** Around unreadable rows, by bisecting the range down to one row. */
function byNumber(source: DatabaseSync, table: string, query: string, keep: (row: Values) => void): { lost: number } {
  let lost = 0
  let failures = 0
  const last = lastNumber(source, table)
  const stretches: [number, number][] = [[1, last]]
  for (let next = stretches.pop(); next; next = stretches.pop()) {
    const [from, to] = next
    try {
      for (const row of source.prepare(`${query} WHERE n BETWEEN ? AND ?`).all(from, to)) keep(row)
    } catch {
      if (++failures > 20_000) return { lost: Infinity }
      const middle = Math.floor((from + to) / 2)
      if (from === to) lost++
      else stretches.push([middle + 1, to], [from, middle])
    }
  }
  return { lost }
}

function lastNumber(source: DatabaseSync, table: string): number {
  for (const sql of [`SELECT max(n) AS n FROM ${table}`, `SELECT n FROM ${table} ORDER BY n DESC LIMIT 1`]) {
    try {
      return Number(source.prepare(sql).get()?.['n'] ?? 0)
    } catch {
      // the next way
    }
  }
  return 1_000_000
}

function fromBothEnds(source: DatabaseSync, query: string, keep: (row: Values) => void): { lost: number } {
  let broken = 0
  for (const order of ['', 'ORDER BY 1 DESC, 2 DESC']) {
    try {
      for (const row of source.prepare(`${query} ${order}`).iterate()) keep(row)
      return { lost: 0 }
    } catch {
      broken++
    }
  }
  return { lost: broken > 0 ? Infinity : 0 }
}

type EntryRow = { n: number; conversation: number; parent: number | null; depth: number }

/** Damaged entries are removed; those after them are joined to what came before. */
function repairEntries(db: Connection): string[] {
  const parents = new Map<number, number | null>()
  let bad = 0
  for (const row of db.all<EntryRow & { id: string; role: string; checksum: number; message: string }>(
    'SELECT n, id, role, conversation, parent, depth, checksum, message FROM entries',
  )) {
    if (crc32(row.message) === row.checksum) {
      const { role } = JSON.parse(row.message) as Message
      const id = isId(row.id) ? row.id : `salvaged-${row.n}`
      if (role !== row.role || id !== row.id) db.run('UPDATE entries SET role = ?, id = ? WHERE n = ?', role, id, row.n)
      continue
    }
    bad++
    parents.set(row.n, row.parent)
    db.run('DELETE FROM entries WHERE n = ?', row.n)
  }
  const rows = db.all<EntryRow>('SELECT n, conversation, parent, depth FROM entries ORDER BY conversation, n')
  const depths = new Map<number, number>()
  const before = new Map(rows.map((row) => [row.n, row]))
  let joined = 0
  for (const row of rows) {
    let parent = row.parent
    while (parent !== null && parents.has(parent)) parent = parents.get(parent) ?? null
    if (parent !== null && (before.get(parent)?.conversation !== row.conversation || parent >= row.n)) {
      parent = nearest(rows, row, parent)
    }
    if (parent !== row.parent) joined++
    const depth = parent === null ? 0 : (depths.get(parent) ?? -1) + 1
    depths.set(row.n, depth)
    if (parent !== row.parent || depth !== row.depth) {
      db.run('UPDATE entries SET parent = ?, depth = ? WHERE n = ?', parent, depth, row.n)
    }
  }
  const homeless = db.all<{ conversation: number }>(
    'SELECT DISTINCT conversation FROM entries WHERE conversation NOT IN (SELECT n FROM conversations)',
  )
  for (const { conversation } of homeless) {
    db.run(
      `INSERT INTO conversations (n, id, owner, created_at, updated_at, head, title, settings)
       SELECT ?, 'salvaged-' || ?, 'local', min(at), max(at), max(n), 'Salvaged: its title is lost', '{}'
       FROM entries WHERE conversation = ?`,
      conversation,
      conversation,
      conversation,
    )
  }
  return [
    ...(bad > 0 ? [`${counted(bad, 'entry', 'entries')} damaged, left out.`] : []),
    ...(joined > 0 ? [`${counted(joined, 'entry', 'entries')} joined to what came before a lost one.`] : []),
    ...(homeless.length > 0
      ? [`${counted(homeless.length, 'conversation')} without title and owner: given to "local".`]
      : []),
  ]
}

/** The last entry before the lost parent at the depth of the parent's own parent. */
function nearest(rows: readonly EntryRow[], { conversation, depth, n }: EntryRow, lost: number): number | null {
  const until = Math.min(lost, n)
  const parent = rows.findLast((row) => row.conversation === conversation && row.n < until && row.depth <= depth - 2)
  return parent?.n ?? null
}

function dropBadBlobs(db: Connection): string[] {
  let bad = 0
  for (const { n, sha256 } of db.all<{ n: number; sha256: string }>('SELECT n, sha256 FROM blobs')) {
    const pieces = db.all<{ data: Uint8Array<ArrayBuffer>; packed: number }>(
      'SELECT p.data, p.packed FROM blob_pieces b JOIN pieces p ON p.n = b.piece WHERE b.blob = ? ORDER BY b.i',
      n,
    )
    try {
      joinBlob(
        sha256,
        pieces.map(({ data, packed }) => ({ data, packed: packed === 1 })),
      )
    } catch {
      bad++
      for (const table of ['blob_uses', 'blob_pieces']) db.run(`DELETE FROM ${table} WHERE blob = ?`, n)
      db.run('DELETE FROM blobs WHERE n = ?', n)
    }
  }
  return bad > 0 ? [`${counted(bad, 'blob')} (media or bodies of requests) damaged, left out.`] : []
}

/** Rows with a dangling foreign key, until there are none: removing one can leave others. */
function dropOrphans(db: Connection): void {
  for (;;) {
    const rows = db.all<{ table: string; rowid: number | null; parent: string; fkid: number }>(
      'PRAGMA foreign_key_check',
    )
    if (rows.length === 0) return
    for (const { table, rowid } of rows) if (rowid !== null) db.run(`DELETE FROM ${table} WHERE rowid = ?`, rowid)
    for (const [table, column, target] of keyless) {
      db.run(`DELETE FROM ${table} WHERE ${column} NOT IN (SELECT n FROM ${target})`)
    }
  }
}

/** Tables without row ids. */
const keyless = [
  ['labels', 'conversation', 'conversations'],
  ['branches', 'conversation', 'conversations'],
  ['blob_uses', 'conversation', 'conversations'],
  ['blob_uses', 'blob', 'blobs'],
  ['blob_pieces', 'blob', 'blobs'],
  ['blob_pieces', 'piece', 'pieces'],
] as const
