import { documentFilters, filterWord, queryFilters } from '../filter-words.ts'
import { pageOf, pageSize, readCursor } from '../page.ts'
import { readMessage, type PreparedEntry } from '../prepare.ts'
import { parseQuery, timeSpan, type Term } from '../query.ts'
import { documentsOf, maxDocuments } from '../search-text.ts'
import { hitOf } from '../snippet.ts'
import type { Search, SearchQuery } from '../store.ts'
import { indexText } from '../words.ts'
import type { Connection } from './connection.ts'
import type { WritableRow } from './conversations.ts'

export function searchMethods(db: Connection): Search {
  return {
    async search(owner, query) {
      const size = pageSize(query)
      const terms = parseQuery(query.text)
      if (terms.length === 0) return { items: [] }
      const below =
        query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(readCursor(query.cursor, ['number'])[0])
      const { after, before } = timeSpan(query)
      const rows = await db.read(() => {
        const narrow = labelFilter(db, owner, query)
        // CROSS JOIN keeps the index in front: it gives the last written first, and the rest is read for hits only.
        return db.all<HitRow>(
          `SELECT s.rowid AS place, e.id, e.at, e.checksum, e.message, c.id AS conversation_id, c.title
           FROM search s CROSS JOIN entries e ON e.n = s.rowid / ${maxDocuments}
           CROSS JOIN conversations c ON c.n = e.conversation
           WHERE search MATCH ? AND s.rowid < ? AND c.owner = ? AND e.at >= ? AND e.at < ?
             AND (? IS NULL OR EXISTS (SELECT 1 FROM labels l WHERE l.conversation = c.n AND l.label = ?))
           ORDER BY s.rowid DESC LIMIT ?`,
          `filters : (${[...queryFilters(owner, query), ...narrow].join(' AND ')}) AND text : (${matchText(terms)})`,
          below,
          owner,
          after,
          before,
          query.label ?? null,
          query.label ?? null,
          size + 1,
        )
      })
      return pageOf(
        rows,
        size,
        (row) => [row.place],
        (row) => {
          const document = documentsOf(readMessage(row))[row.place % maxDocuments] ?? { kind: 'user', text: '' }
          return hitOf({ ...row, conversationId: row.conversation_id, entryId: row.id }, document, terms)
        },
      )
    },
  }
}

/** To be called inside the transaction that writes the entry. */
export function indexDocuments(
  db: Connection,
  conversation: Pick<WritableRow, 'id' | 'owner'>,
  n: number,
  entry: Pick<PreparedEntry, 'documents' | 'provider'>,
): void {
  for (const [i, document] of entry.documents.entries()) {
    db.run(
      'INSERT INTO search (rowid, text, filters) VALUES (?, ?, ?)',
      n * maxDocuments + i,
      indexText(document.text),
      documentFilters(conversation.owner, conversation.id, entry.provider, document).join(' '),
    )
  }
}

export function dropDocuments(db: Connection, conversation: number): void {
  const rows = db.all<{ n: number; documents: number }>(
    'SELECT n, documents FROM entries WHERE conversation = ?',
    conversation,
  )
  for (const { n, documents } of rows) {
    for (let i = 0; i < documents; i++) db.run('DELETE FROM search WHERE rowid = ?', n * maxDocuments + i)
  }
}

type HitRow = {
  place: number
  id: string
  at: string
  checksum: number
  message: string
  conversation_id: string
  title: string | null
}

/** A label on few conversations is looked for inside the index too; one on many is common enough to meet on the way. */
function labelFilter(db: Connection, owner: string, query: SearchQuery): string[] {
  if (query.label === undefined) return []
  const rows = db.all<{ id: string }>(
    `SELECT c.id FROM labels l JOIN conversations c ON c.n = l.conversation WHERE l.label = ? AND c.owner = ? LIMIT ?`,
    query.label,
    owner,
    mostNamed + 1,
  )
  if (rows.length > mostNamed) return []
  return [`(${rows.map(({ id }) => filterWord('conversation', id)).join(' OR ') || 'nothing'})`]
}

const mostNamed = 200

/** The words come from `wordsOf`: letters and digits only, so nothing in them is syntax. */
function matchText(terms: readonly Term[]): string {
  return terms.map(({ words, prefix }) => `"${words.join(' ')}"${prefix ? ' *' : ''}`).join(' AND ')
}
