import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { connect } from '../../src/store/sqlite/connection.ts'
import { indexNow } from '../../src/store/sqlite/search-index.ts'
import { prepareEntry } from '../../src/store/prepare.ts'
import type { Engine, RawStore } from './engine.ts'
import { archive, each, owner } from './messages.ts'

export function sqliteEngine(): Engine {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
  return {
    name: 'SQLite',
    searchBound: 100,
    place: async (name) => join(folder, `${name}.db`),
    raw: async () => rawStore(join(folder, 'raw.db')),
    fill,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

function rawStore(path: string): RawStore {
  const db = new DatabaseSync(path)
  db.exec(
    'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE entries (id INTEGER PRIMARY KEY, message TEXT)',
  )
  const insert = db.prepare('INSERT INTO entries (message) VALUES (?)')
  const select = db.prepare('SELECT message FROM entries ORDER BY id LIMIT ?')
  return {
    append: (json) => insert.run(json),
    load: (count) => select.all(count).map((row) => JSON.parse(String(row['message'])) as unknown),
    close: () => db.close(),
  }
}

async function fill(place: string, conversations: number): Promise<void> {
  await (await openSqliteStore(place)).close()
  const db = await connect(place, { now: Date.now, leaseSkewMs: () => 0, busyMs: 5000 })
  db.get('PRAGMA synchronous = OFF')
  db.run('BEGIN')
  let n = 0
  for (const { id, at, title, messages } of archive(conversations)) {
    const conversation = db.run(
      `INSERT INTO conversations (id, owner, created_at, updated_at, entries, head, title, settings)
       VALUES (?, ?, ?, ?, ?, ?, ?, '{}')`,
      id,
      owner,
      at,
      at,
      each,
      n + each,
      title,
    )
    for (const [depth, message] of messages.entries()) {
      const entry = prepareEntry({ id: `entry-${++n}`, message, at }, 0)
      db.run(
        `INSERT INTO entries (id, conversation, parent, depth, role, at, documents, checksum, message)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        entry.id,
        conversation,
        depth === 0 ? null : n - 1,
        depth,
        entry.role,
        at,
        entry.documents.length,
        entry.checksum,
        entry.json,
      )
    }
  }
  indexNow(db)
  db.run('COMMIT')
  db.close()
}
