// Writing the search index: every 64th append indexes the waiting entries, in its own transaction. A very long message,
// and many messages, are indexed in the next ones: others get their turn in between. A crash cannot leave anything
// inconsistent, because `search_upto` is written with the index.

import type { Message } from '../../core/message.ts'
import { filteredDocuments, searchableOf, type FilteredDocument, type Searchable } from '../search/filter-words.ts'
import { documentsIn, large } from '../search/hits.ts'
import type { PreparedEntry } from '../new-entry.ts'
import { maxDocuments } from '../search/search-text.ts'
import { indexText } from '../search/tokenize.ts'
import type { Connection } from './connection.ts'

/** Entries that are indexed in one transaction, in a few milliseconds. */
export const mostAtOnce = 256

/** All entries that wait. Call it inside a transaction. */
export function indexAll(db: Connection, progress: (n: number) => void = () => {}): void {
  indexWaiting(db, Infinity, progress)
}

/** Call it inside a transaction. What is left is indexed in the next ones. */
export function indexNow(db: Connection): void {
  if (!planned.has(db) && !indexWaiting(db, mostAtOnce)) indexSoon(db)
}

/** Whether none is left. */
function indexWaiting(db: Connection, most: number, progress: (n: number) => void = () => {}): boolean {
  let upto = uptoOf(db)
  for (let count = 0; count < most;) {
    const rows = db.lists<WaitingRow>(
      `SELECT e.n, e.id, c.id, c.owner, e.documents, e.checksum,
         CASE WHEN octet_length(e.message) <= ? THEN e.message END
       FROM entries e JOIN conversations c ON c.n = e.conversation WHERE e.n > ? ORDER BY e.n LIMIT 16`,
      large,
      upto,
    )
    const last = rows.at(-1)
    if (!last) {
      unread.delete(db)
      return true
    }
    for (const row of rows) indexEntry(db, row)
    count += rows.length
    upto = last[0]
    db.run('UPDATE search_upto SET n = ?', upto)
    progress(upto)
  }
  return false
}

/** Characters of the JSON of a message. Reading and indexing it takes as long as storing it. */
export const veryLong = 1024 * 1024

/** What large entries have for the index, by their ids: reading them again and checking them takes long too. */
const unread = new WeakMap<Connection, Map<string, { checksum: number; searchable: Searchable }>>()

/** Call it before the entry is indexed. */
export function rememberToIndex(db: Connection, { id, checksum }: PreparedEntry, message: Message): void {
  const cached = unread.get(db) ?? new Map<string, { checksum: number; searchable: Searchable }>()
  cached.set(id, { checksum, searchable: searchableOf(message) })
  unread.set(db, cached)
}

/** What waits is going to be indexed in transactions of its own. */
const planned = new WeakSet<Connection>()

/** Indexes what waits from the next transaction on, and not in this one. If that fails, the next append does it. */
export function indexSoon(db: Connection): void {
  if (planned.has(db)) return
  planned.add(db)
  setImmediate(() => {
    const step = (): void => {
      planned.delete(db)
      indexNow(db)
    }
    void db.write(step, false).catch(() => planned.delete(db))
  })
}

/** Entries above this one are not in the index. */
export function uptoOf(db: Connection): number {
  return db.get<{ n: number }>('SELECT n FROM search_upto')?.n ?? 0
}

/**
 * Entries of a conversation, with their documents: each before its parent, in the order of an index. Call it inside the
 * transaction. Returns how many.
 */
export function dropEntries(db: Connection, conversation: number, limit: number): number {
  const upto = uptoOf(db)
  const rows = db.all<{ n: number; documents: number }>(
    'SELECT n, documents FROM entries WHERE conversation = ? ORDER BY parent DESC, n DESC LIMIT ? + 0',
    conversation,
    Number.isFinite(limit) ? limit : -1,
  )
  for (const { n, documents } of rows) {
    const indexed = n <= upto ? documents : 0
    for (let i = 0; i < indexed; i++) db.run('DELETE FROM search WHERE rowid = ?', n * maxDocuments + i)
    db.run('DELETE FROM entries WHERE n = ?', n)
  }
  db.run('UPDATE conversations SET entries = entries - ? WHERE n = ?', rows.length, conversation)
  lowerUpto(db)
  return rows.length
}

/** After a deletion, because the numbers of the last entries are reused. */
export function lowerUpto(db: Connection): void {
  db.run('UPDATE search_upto SET n = min(n, (SELECT coalesce(max(n), 0) FROM entries))')
}

/** Precedes the owner of a conversation that is being imported: it is found once it is complete. */
export const importingFor = 'synapse:importing '

type WaitingRow = [
  n: number,
  id: string,
  conversation: string,
  owner: string,
  documents: number,
  checksum: number,
  /** Null: it is large. */
  message: string | null,
]

function indexEntry(db: Connection, row: WaitingRow): void {
  const [n, , , , documents] = row
  const indexed = documentsOfRow(db, row)
  for (const [i, { text, filters }] of indexed.entries()) {
    db.run(
      'INSERT INTO search (rowid, text, filters) VALUES (?, ?, ?)',
      n * maxDocuments + i,
      indexText(text),
      filters.join(' '),
    )
  }
  if (indexed.length !== documents) db.run('UPDATE entries SET documents = ? WHERE n = ?', indexed.length, n)
}

function documentsOfRow(db: Connection, row: WaitingRow): FilteredDocument[] {
  const [n, id, conversation_id, holder, , checksum, message] = row
  const owner = holder.startsWith(importingFor) ? holder.slice(importingFor.length) : holder
  if (message !== null) return documentsIn(owner, { conversation_id, checksum, message })
  const cached = unread.get(db)?.get(id)
  // It may have been written by another process, or in a transaction that failed.
  if (cached?.checksum === checksum) return filteredDocuments(owner, conversation_id, cached.searchable)
  const read = db.get<{ message: string }>('SELECT message FROM entries WHERE n = ?', n)
  return documentsIn(owner, { conversation_id, checksum, message: read?.message ?? '' })
}
