// Conversations in PostgreSQL, and the check that precedes every write: whether the writer may write.

import type { Conversation } from '../../core/log.ts'
import { checkWriter } from '../fence.ts'
import { mostOnPage, pageOf, pageSize, readCursor } from '../page.ts'
import { cleanLabels, jsonText, plainText } from '../new-entry.ts'
import { fenceOf, toConversation, type ConversationRow, type FenceRow } from '../sql/rows.ts'
import { postgresSelects as selects } from '../sql/selects.ts'
import { conversationValues, type ConversationValues } from '../sql/values.ts'
import { damaged, idTaken, notFound } from '../store-errors.ts'
import type { Conversations, Write } from '../store.ts'
import { dropBlobs } from './blobs.ts'
import type { Database, Queries } from './database.ts'
import { isUniqueViolation } from './errors.ts'

export function conversationMethods(db: Database): Conversations {
  return {
    async createConversation(owner, fields = {}) {
      const values = conversationValues(owner, fields, db.options.now())
      return db.transaction(async (queries) => {
        await insertConversation(queries, owner, values)
        return mustHave(queries, owner, values.id)
      })
    },

    conversation: (owner, id) => readConversation(db, owner, id),

    async conversations(owner, page = {}) {
      const size = pageSize(page)
      // '~' sorts after every time.
      const [at = '~', id = '~'] = page.cursor === undefined ? [] : readCursor(page.cursor, ['string', 'string'])
      const { label, withoutLabel } = page
      const labels = [label, withoutLabel].filter((name) => name !== undefined)
      const labelled =
        label === undefined ? '' : 'AND c.n IN (SELECT conversation FROM synapse.labels WHERE label = $5)'
      const without =
        withoutLabel === undefined
          ? ''
          : `AND NOT EXISTS (SELECT 1 FROM synapse.labels WHERE conversation = c.n AND label = $${4 + labels.length})`
      const order = 'ORDER BY c.updated_at DESC, c.id DESC'
      // The inner limit is for the planner: with $4 alone it assumes that the page is a tenth of the archive, and plans
      // again for each one, which takes as long as reading it.
      const newest = `(
        SELECT c.* FROM synapse.conversations c WHERE c.owner = $1 AND (c.updated_at, c.id) < ($2, $3) ${labelled} ${without}
        ${order} LIMIT ${mostOnPage + 1})`
      const rows = await db.all<LabelledRow>(`${selectFrom(newest)} ${order} LIMIT $4`, [
        owner,
        at,
        id,
        size + 1,
        ...labels,
      ])
      return pageOf(rows, size, (row) => [row.updated_at, row.id], read)
    },

    async updateConversation(owner, id, change) {
      const title = typeof change.title === 'string' ? plainText(change.title) : null
      const settings = change.settings === undefined ? null : jsonText(change.settings, 'The settings')
      const labels = change.labels === undefined ? undefined : cleanLabels(change.labels)
      return db.transaction(async (queries) => {
        const changed = await queries.get<{ n: number }>(
          `UPDATE synapse.conversations SET title = CASE WHEN $3 THEN $4 ELSE title END, settings = coalesce($5, settings)
           WHERE id = $1 AND owner = $2 RETURNING n`,
          [id, owner, change.title !== undefined, title, settings],
        )
        if (!changed) throw notFound('conversation', id)
        if (labels) await setLabels(queries, changed.n, labels)
        return mustHave(queries, owner, id)
      })
    },

    deleteConversation: (owner, id) =>
      db.transaction(async (queries) => {
        const deleted = await queries.get<{ n: number }>(
          'SELECT n FROM synapse.conversations WHERE id = $1 AND owner = $2 FOR UPDATE',
          [id, owner],
        )
        if (!deleted) return false
        await dropBlobs(queries, deleted.n)
        await queries.all('DELETE FROM synapse.conversations WHERE n = $1', [deleted.n])
        return true
      }),
  }
}

/** Also its labels. Call it inside a transaction. */
export async function insertConversation(
  queries: Queries,
  owner: string,
  { id, at, title, settings, labels }: ConversationValues,
): Promise<void> {
  const inserted = await queries.get<{ n: number }>(
    `INSERT INTO synapse.conversations (id, owner, created_at, updated_at, title, settings)
     VALUES ($1, $2, $3, $3, $4, $5) ON CONFLICT (id) DO NOTHING RETURNING n`,
    [id, owner, at, title, settings],
  )
  if (!inserted) throw idTaken('conversation', id)
  if (labels.length > 0) await setLabels(queries, inserted.n, labels)
}

type LabelledRow = ConversationRow & { labels: string[] }

const selectFrom = (conversations: string) => `
  SELECT ${selects.conversationColumns},
    ARRAY(SELECT label FROM synapse.labels l WHERE l.conversation = c.n) AS labels
  FROM ${conversations} c LEFT JOIN synapse.entries h ON h.n = c.head AND h.conversation = c.n`

function read(row: LabelledRow): Conversation {
  return toConversation(row, row.labels)
}

const select = selectFrom('synapse.conversations')

async function readConversation(queries: Queries, owner: string, id: string): Promise<Conversation | undefined> {
  const row = await queries.get<LabelledRow>(`${select} WHERE c.id = $1 AND c.owner = $2`, [id, owner])
  return row && read(row)
}

export async function mustHave(queries: Queries, owner: string, id: string): Promise<Conversation> {
  const conversation = await readConversation(queries, owner, id)
  if (!conversation) throw notFound('conversation', id)
  return conversation
}

/** A conversation as needed for a write. */
export type WritableRow = FenceRow & { n: number; head_id: string | null }

/** The clock of the database, even while a transaction waits for a lock. */
export const clock = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

export const fenceColumns = `c.id, c.lease_holder, c.lease_epoch, c.lease_since, c.lease_expires, ${clock} AS clock`

/** Locks the conversation for the rest of the transaction and checks that the writer may write to it. */
export async function writable(
  db: Database,
  queries: Queries,
  owner: string,
  id: string,
  write: Write | undefined,
): Promise<WritableRow> {
  // In two steps: the second one sees what was written while the first one waited for the lock.
  const row = await lockConversation(db, queries, owner, id, write)
  if (row.head === null) return { ...row, head_id: null }
  const head = await queries.get<{ id: string }>('SELECT id FROM synapse.entries WHERE n = $1 AND conversation = $2', [
    row.head,
    row.n,
  ])
  if (!head) throw damaged(`The head of conversation ${id}`)
  return { ...row, head_id: head.id }
}

type LockedRow = FenceRow & { n: number; head: number | null }

const lockedColumns = `SELECT c.n, c.head, ${fenceColumns} FROM synapse.conversations c`

/** The same without its head. What is asked for after it, in the same transaction, sees what was written before the lock. */
export async function lockConversation(
  db: Database,
  queries: Queries,
  owner: string,
  id: string,
  write: Write | undefined,
): Promise<LockedRow> {
  const row = await queries.get<LockedRow>(`${lockedColumns} WHERE c.id = $1 AND c.owner = $2 FOR NO KEY UPDATE`, [
    id,
    owner,
  ])
  if (!row) throw notFound('conversation', id)
  return checkLocked(db, queries, row, write)
}

/** The conversation of an exchange; nothing where there is no such exchange. */
export async function lockByExchange(
  db: Database,
  queries: Queries,
  owner: string,
  exchangeId: string,
  write: Write | undefined,
): Promise<LockedRow | undefined> {
  const row = await queries.get<LockedRow>(
    `${lockedColumns} WHERE c.owner = $2 AND c.n = (SELECT conversation FROM synapse.exchanges WHERE id = $1)
     FOR NO KEY UPDATE`,
    [exchangeId, owner],
  )
  return row && checkLocked(db, queries, row, write)
}

async function checkLocked(
  db: Database,
  queries: Queries,
  row: LockedRow,
  write: Write | undefined,
): Promise<LockedRow> {
  const { takes } = checkWriter(fenceOf(row), write, row.clock + db.options.leaseSkewMs())
  if (takes) await queries.all('UPDATE synapse.conversations SET lease_holder = NULL WHERE n = $1', [row.n])
  return row
}

/** The number of an entry of the conversation with this id. */
export async function entryIn(queries: Queries, conversationId: string, entryId: string): Promise<number> {
  const row = await queries.get<{ n: number }>(
    `SELECT e.n FROM synapse.entries e JOIN synapse.conversations c ON c.n = e.conversation
     WHERE e.id = $1 AND c.id = $2`,
    [entryId, conversationId],
  )
  if (!row) throw notFound('entry', entryId)
  return row.n
}

/** The number of an entry of the conversation. */
export async function entryNumber(queries: Queries, conversation: { n: number }, entryId: string): Promise<number> {
  const row = await queries.get<{ n: number }>('SELECT n FROM synapse.entries WHERE id = $1 AND conversation = $2', [
    entryId,
    conversation.n,
  ])
  if (!row) throw notFound('entry', entryId)
  return row.n
}

export async function insertUnique<T>(insert: Promise<T>, onTaken: (error: unknown) => unknown): Promise<T> {
  try {
    return await insert
  } catch (error) {
    throw isUniqueViolation(error) ? onTaken(error) : error
  }
}

async function setLabels(queries: Queries, conversation: number, labels: readonly string[]): Promise<void> {
  await queries.all('DELETE FROM synapse.labels WHERE conversation = $1', [conversation])
  await queries.all('INSERT INTO synapse.labels (conversation, label) SELECT $1, unnest($2::text[])', [
    conversation,
    labels,
  ])
}
