// Entries in PostgreSQL: appending them, and reading paths and trees.

import type { QueryResultRow } from 'pg'
import type { Entry } from '../../core/log.ts'
import { prepareEntry } from '../new-entry.ts'
import { byDepth, isLine, isWhole, wholePath, type PathEnd, type PathRow } from '../sql/path.ts'
import { toEntry, toOutline, type EntryRow, type OutlineRow } from '../sql/rows.ts'
import { postgresSelects as selects } from '../sql/selects.ts'
import type { Entries } from '../store.ts'
import { appendAlone, appendEntry, type Appending } from './append.ts'
import { storeBlobs } from './blobs.ts'
import { writable } from './conversations.ts'
import type { Database, Transaction } from './database.ts'
import { putAll } from './records.ts'
import { indexIfMany } from './search-index.ts'

export function entryMethods(db: Database): Entries {
  return {
    async append(owner, conversationId, entry, write) {
      const prepared = prepareEntry(entry, db.options.now())
      const alone = prepared.blobs.length === 0 && prepared.named.length === 0
      const append = { owner, conversationId, entry: prepared, write }
      if (alone) return appendAlone(db, append)
      return db.transaction(async (queries) => {
        await writable(db, queries, owner, conversationId, write)
        return appendWhole(db, queries, append)
      })
    },

    async appendAll(owner, conversationId, entries, write, records = []) {
      const prepared = entries.map((entry) => prepareEntry(entry, db.options.now()))
      return db.transaction(async (queries) => {
        const { n } = await writable(db, queries, owner, conversationId, write)
        const appended: Entry[] = []
        for (const entry of prepared) {
          appended.push(await appendWhole(db, queries, { owner, conversationId, entry, write }))
        }
        await indexIfMany(queries, n, prepared.length)
        if (records.length > 0) await putAll(db, queries, records)
        return appended
      })
    },

    async entry(owner, entryId) {
      const row = await db.get<EntryRow>(`${selects.entries} WHERE e.id = $1 AND c.owner = $2`, [entryId, owner])
      return row && toEntry(row)
    },

    async history(owner, entryId, options = {}) {
      const end = await db.get<PathEnd & QueryResultRow>(`${selects.pathEnd} WHERE e.id = $1 AND c.owner = $2`, [
        entryId,
        owner,
      ])
      return end ? pathTo(db, end, options.last ?? Infinity) : []
    },

    async children(owner, conversationId, entryId) {
      const parent = entryId === null ? 'e.parent IS NULL' : 'p.id = $3'
      const rows = await db.all<EntryRow>(
        `${selects.entries} WHERE c.id = $1 AND c.owner = $2 AND ${parent} ORDER BY e.n`,
        [conversationId, owner, ...(entryId === null ? [] : [entryId])],
      )
      return rows.map(toEntry)
    },

    async outline(owner, conversationId, part) {
      const select = `${selects.outline} WHERE c.id = $1 AND c.owner = $2`
      if (!part) return (await db.all<OutlineRow>(`${select} ORDER BY e.n`, [conversationId, owner])).map(toOutline)
      const rows = await db.all<OutlineRow>(
        `${select} AND ($3::text IS NULL OR e.n < (SELECT n FROM synapse.entries WHERE id = $3)) ORDER BY e.n DESC LIMIT $4`,
        [conversationId, owner, part.before ?? null, part.last],
      )
      return rows.toReversed().map(toOutline)
    },
  }
}

async function pathTo(db: Database, end: PathEnd, last: number): Promise<Entry[]> {
  if (isWhole(end, last)) {
    const rows = await db.lists<PathRow>(
      'SELECT id, depth, at, checksum, message FROM synapse.entries WHERE conversation = $1',
      [end.conversation],
    )
    if (isLine(rows.sort(byDepth), end)) return wholePath(rows, last, end.conversation_id)
  }
  // The rows are selected in the recursion: joined afterwards, they could come from a scan of the whole table.
  const rows = await db.lists<PathRow>(
    `WITH RECURSIVE up AS (
       SELECT n, parent, conversation, id, depth, at, checksum, message FROM synapse.entries WHERE n = $1
       UNION ALL
       SELECT e.n, e.parent, e.conversation, e.id, e.depth, e.at, e.checksum, e.message
       FROM up JOIN synapse.entries e
         ON e.n = up.parent AND e.depth = up.depth - 1 AND e.conversation = up.conversation
     )
     SELECT id, depth, at, checksum, message FROM up LIMIT $2`,
    [end.n, last === Infinity ? null : last + 1],
  )
  return wholePath(rows.sort(byDepth), last, end.conversation_id)
}

/** The entry with the blobs that it includes or names, inside a transaction that has locked the conversation. */
export async function appendWhole(db: Database, queries: Transaction, append: Appending): Promise<Entry> {
  const stored = await appendEntry(db, queries, append)
  await storeBlobs(queries, append.owner, append.conversationId, append.entry.blobs, append.entry.named)
  return stored
}
