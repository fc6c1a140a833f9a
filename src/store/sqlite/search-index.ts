// Writing the search index. A row of FTS5 in a transaction of its own costs as much as the rest of an append, and in a
// transaction with others nearly nothing: so entries wait, and every 64th append indexes all that wait, in its own
// transaction. A search looks at the waiting ones itself (see search.ts): nothing is ever missed, and a crash can leave
// nothing behind, because `search_upto` is written with the index.

import { crc32 } from 'node:zlib'
import type { Message } from '../../core/message.ts'
import { documentFilters } from '../filter-words.ts'
import { documentsOf, maxDocuments } from '../search-text.ts'
import { indexText } from '../words.ts'
import type { Connection } from './connection.ts'

/** `n` grows by one with each entry, whichever process writes it. A large message does not wait to be read again. */
export function isTimeToIndex(n: number, length: number): boolean {
  return n % 64 === 0 || length > 65_536
}

/** To be called inside a transaction. */
export function indexNow(db: Connection, progress: (n: number) => void = () => {}): void {
  for (let upto = uptoOf(db); ;) {
    const rows = db.all<WaitingRow>(
      `SELECT e.n, c.id, c.owner, e.documents, e.checksum, e.message
       FROM entries e JOIN conversations c ON c.n = e.conversation WHERE e.n > ? ORDER BY e.n LIMIT 500`,
      upto,
    )
    const last = rows.at(-1)
    if (!last) return
    for (const row of rows) indexEntry(db, row)
    upto = last.n
    db.run('UPDATE search_upto SET n = ?', upto)
    progress(upto)
  }
}

/** Entries above this one are not in the index. */
export function uptoOf(db: Connection): number {
  return db.get<{ n: number }>('SELECT n FROM search_upto')?.n ?? 0
}

export function dropDocuments(db: Connection, conversation: number): void {
  const rows = db.all<{ n: number; documents: number }>(
    'SELECT n, documents FROM entries WHERE conversation = ? AND n <= ?',
    conversation,
    uptoOf(db),
  )
  for (const { n, documents } of rows) {
    for (let i = 0; i < documents; i++) db.run('DELETE FROM search WHERE rowid = ?', n * maxDocuments + i)
  }
}

/** After a deletion, because the numbers of the last entries are given again. */
export function lowerUpto(db: Connection): void {
  db.run('UPDATE search_upto SET n = min(n, (SELECT coalesce(max(n), 0) FROM entries))')
}

type WaitingRow = { n: number; id: string; owner: string; documents: number; checksum: number; message: string }

function indexEntry(db: Connection, { n, id, owner, documents, checksum, message: json }: WaitingRow): void {
  // A damaged message is for the doctor, and must not stand in the way of whoever writes next.
  if (crc32(json) !== checksum) return
  const message = JSON.parse(json) as Message
  const provider = message.role === 'assistant' ? message.origin.provider : undefined
  const found = documentsOf(message)
  for (const [i, document] of found.entries()) {
    db.run(
      'INSERT INTO search (rowid, text, filters) VALUES (?, ?, ?)',
      n * maxDocuments + i,
      indexText(document.text),
      documentFilters(owner, id, provider, document).join(' '),
    )
  }
  if (found.length !== documents) db.run('UPDATE entries SET documents = ? WHERE n = ?', found.length, n)
}
