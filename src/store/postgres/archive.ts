// Importing an archive into PostgreSQL, in one transaction.

import type { Archives } from '../archive.ts'
import { prepareEntry } from '../new-entry.ts'
import { archivedRows, conversationValues, type ArchivedRow } from '../sql/values.ts'
import { idTaken, notFound } from '../store-errors.ts'
import { insertConversation, insertUnique, mustHave, writable } from './conversations.ts'
import type { Database, Queries } from './database.ts'
import { appendWhole } from './entries.ts'
import { indexIfMany } from './search-index.ts'

export function archiveMethods(db: Database): Archives {
  return {
    async importConversation(owner, archive) {
      const { conversation: about, entries } = archive
      const now = db.options.now()
      const values = conversationValues(owner, { ...about, at: about.createdAt }, now)
      const prepared = entries.map((entry) => prepareEntry({ ...entry, head: 'stay' }, now))
      return db.transaction(async (queries) => {
        await insertConversation(queries, owner, values)
        const { n } = await writable(db, queries, owner, values.id, undefined)
        for (const entry of prepared) {
          await appendWhole(db, queries, { owner, conversationId: values.id, entry, write: undefined })
        }
        await indexIfMany(queries, n, prepared.length)
        const numberOf = await entryNumbers(queries, n)
        for (const row of archivedRows(archive, n, numberOf, now)) await insertRow(queries, row)
        await queries.all('UPDATE synapse.conversations SET head = $1, branch = $2 WHERE n = $3', [
          about.head === null ? null : numberOf(about.head),
          about.branch ?? null,
          n,
        ])
        return mustHave(queries, owner, values.id)
      })
    },
  }
}

/** The numbers of all entries of a conversation, by their ids. */
async function entryNumbers(queries: Queries, conversation: number): Promise<(entryId: string) => number> {
  const rows = await queries.all<{ id: string; n: number }>(
    'SELECT id, n FROM synapse.entries WHERE conversation = $1',
    [conversation],
  )
  const numbers = new Map(rows.map((row) => [row.id, row.n]))
  return (entryId) => {
    const n = numbers.get(entryId)
    if (n === undefined) throw notFound('entry', entryId)
    return n
  }
}

async function insertRow(queries: Queries, { table, values, tokens, id }: ArchivedRow): Promise<void> {
  const row: Record<string, unknown> = { ...values, ...(tokens && { tokens }) }
  const columns = Object.keys(row)
  await insertUnique(
    queries.all(
      `INSERT INTO synapse.${table} (${columns.join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})`,
      Object.values(row),
    ),
    (error) => (id ? idTaken(id.kind, id.id) : error),
  )
}
