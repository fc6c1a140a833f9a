import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { connect } from '../../src/store/sqlite/connection.ts'
import { indexNow } from '../../src/store/sqlite/search-index.ts'
import { prepareEntry } from '../../src/store/new-entry.ts'
import { documentsOf } from '../../src/store/search/search-text.ts'
import { nextId, type Engine, type RawStore } from './engine.ts'
import { archive, each, owner, plainMessages } from './messages.ts'

export function sqliteEngine(): Engine {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
  return {
    name: 'SQLite',
    searchBound: 100,
    place: async (name) => join(folder, `${name}.db`),
    raw: async () => rawStore(join(folder, 'raw.db')),
    fill,
    fillQuickly,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

function rawStore(path: string): RawStore {
  const db = new DatabaseSync(path)
  db.exec(`
    PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
    CREATE TABLE conversations (n INTEGER PRIMARY KEY, id TEXT UNIQUE, owner TEXT, updated_at TEXT, entries INTEGER, head INTEGER);
    CREATE INDEX newest ON conversations (owner, updated_at, id);
    CREATE TABLE entries (n INTEGER PRIMARY KEY, id TEXT UNIQUE, conversation INTEGER, parent INTEGER, message TEXT);
    CREATE INDEX tree ON entries (conversation, parent);
    CREATE TABLE texts (n INTEGER PRIMARY KEY, message TEXT);
    INSERT INTO conversations VALUES (1, 'raw', '${owner}', '', 0, NULL);
  `)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const entry = db.prepare('INSERT INTO entries (id, conversation, parent, message) VALUES (?, 1, ?, ?)')
  const head = db.prepare('UPDATE conversations SET entries = entries + 1, updated_at = ?, head = ? WHERE n = 1')
  const commit = db.prepare('COMMIT')
  const text = db.prepare('INSERT INTO texts (message) VALUES (?)')
  const select = db.prepare('SELECT message FROM entries ORDER BY n LIMIT ?')
  let last: number | bigint | null = null
  return {
    append(json) {
      begin.run()
      last = entry.run(nextId(), last, json).lastInsertRowid
      head.run(new Date().toISOString(), last)
      commit.run()
    },
    insert: (json) => text.run(json),
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
        documentsOf(message).length,
        entry.checksum,
        entry.json,
      )
    }
  }
  indexNow(db)
  db.run('COMMIT')
  db.close()
}

async function fillQuickly(
  place: string,
  { conversations, messages }: { conversations: number; messages: number },
): Promise<void> {
  await (await openSqliteStore(place)).close()
  const db = await connect(place, { now: Date.now, leaseSkewMs: () => 0, busyMs: 5000 })
  const [user, reply] = plainMessages.map((message) => prepareEntry({ message }, 0))
  const at = '2026-01-01T00:00:00.000Z'
  db.get('PRAGMA synchronous = OFF')
  db.run('BEGIN')
  db.run(
    `WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ?)
     INSERT INTO conversations (n, id, owner, created_at, updated_at, entries, head, title, settings)
     SELECT i, 'conversation-' || i, ?, ?, ?, ?, i * ?, 'About ' || i, '{}' FROM c`,
    conversations,
    owner,
    at,
    at,
    messages,
    messages,
  )
  db.run(
    `WITH RECURSIVE m (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM m WHERE i < ? - 1)
     INSERT INTO entries (n, id, conversation, parent, depth, role, at, documents, checksum, message)
     SELECT (c.n - 1) * ? + i + 1, 'entry-' || ((c.n - 1) * ? + i + 1), c.n, CASE WHEN i > 0 THEN (c.n - 1) * ? + i END, i,
       CASE WHEN i % 2 = 0 THEN 'user' ELSE 'assistant' END, ?, 1,
       CASE WHEN i % 2 = 0 THEN ? ELSE ? END, CASE WHEN i % 2 = 0 THEN ? ELSE ? END
     FROM conversations c CROSS JOIN m`,
    messages,
    messages,
    messages,
    messages,
    at,
    user?.checksum ?? 0,
    reply?.checksum ?? 0,
    user?.json ?? '',
    reply?.json ?? '',
  )
  db.run('UPDATE search_upto SET n = (SELECT max(n) FROM entries)')
  db.run('COMMIT')
  db.close()
}
