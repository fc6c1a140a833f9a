import type { JsonObject } from '../../core/json.ts'
import type { Conversation } from '../../core/log.ts'
import { checkWriter, type Fence } from '../fence.ts'
import { mostOnPage, pageOf, pageSize, readCursor } from '../page.ts'
import { cleanLabels, givenId, jsonText, plainText } from '../new-entry.ts'
import { damaged, idTaken, isoTime, notFound } from '../store-errors.ts'
import type { Conversations, Write } from '../store.ts'
import { dropBlobs } from './blobs.ts'
import type { Database, Queries } from './database.ts'
import { isUniqueViolation } from './errors.ts'

export function conversationMethods(db: Database): Conversations {
  return {
    async createConversation(owner, fields = {}) {
      const now = db.options.now()
      const id = givenId(fields.id, now)
      const at =
        fields.at === undefined ? new Date(now).toISOString() : isoTime(fields.at, 'The time of a conversation')
      const title = fields.title === undefined ? null : plainText(fields.title)
      const settings = jsonText(fields.settings ?? {}, 'The settings')
      const labels = cleanLabels(fields.labels)
      return db.transaction(async (queries) => {
        const made = await queries.get<{ n: number }>(
          `INSERT INTO synapse.conversations (id, owner, created_at, updated_at, title, settings)
           VALUES ($1, $2, $3, $3, $4, $5) ON CONFLICT (id) DO NOTHING RETURNING n`,
          [id, owner, at, title, settings],
        )
        if (!made) throw idTaken('conversation', id)
        if (labels.length > 0) await setLabels(queries, made.n, labels)
        return mustHave(queries, owner, id)
      })
    },

    conversation: (owner, id) => readConversation(db, owner, id),

    async conversations(owner, page = {}) {
      const size = pageSize(page)
      // '~' sorts after every time.
      const [at = '~', id = '~'] = page.cursor === undefined ? [] : readCursor(page.cursor, ['string', 'string'])
      const labelled =
        page.label === undefined ? '' : 'AND c.n IN (SELECT conversation FROM synapse.labels WHERE label = $5)'
      const order = 'ORDER BY c.updated_at DESC, c.id DESC'
      // The inner limit is for the planner: with $4 alone it takes the page for a tenth of the archive, and so plans
      // again for each one, which takes as long as reading it.
      const newest = `(
        SELECT c.* FROM synapse.conversations c WHERE c.owner = $1 AND (c.updated_at, c.id) < ($2, $3) ${labelled}
        ${order} LIMIT ${mostOnPage + 1})`
      const rows = await db.all<ConversationRow>(`${selectFrom(newest)} ${order} LIMIT $4`, [
        owner,
        at,
        id,
        size + 1,
        ...(page.label === undefined ? [] : [page.label]),
      ])
      return pageOf(rows, size, (row) => [row.updated_at, row.id], toConversation)
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
        const gone = await queries.get<{ n: number }>(
          'SELECT n FROM synapse.conversations WHERE id = $1 AND owner = $2 FOR UPDATE',
          [id, owner],
        )
        if (!gone) return false
        await dropBlobs(queries, gone.n)
        await queries.all('DELETE FROM synapse.conversations WHERE n = $1', [gone.n])
        return true
      }),
  }
}

interface ConversationRow {
  id: string
  owner: string
  title: string | null
  labels: string[]
  settings: string
  created_at: string
  updated_at: string
  head_n: number | null
  head: string | null
  branch: string | null
  entries: number
}

const selectFrom = (conversations: string) => `
  SELECT c.id, c.owner, c.title, c.settings, c.created_at, c.updated_at, c.branch, c.entries, c.head AS head_n, h.id AS head,
    ARRAY(SELECT label FROM synapse.labels l WHERE l.conversation = c.n) AS labels
  FROM ${conversations} c LEFT JOIN synapse.entries h ON h.n = c.head AND h.conversation = c.n`

const select = selectFrom('synapse.conversations')

async function readConversation(queries: Queries, owner: string, id: string): Promise<Conversation | undefined> {
  const row = await queries.get<ConversationRow>(`${select} WHERE c.id = $1 AND c.owner = $2`, [id, owner])
  return row && toConversation(row)
}

export async function mustHave(queries: Queries, owner: string, id: string): Promise<Conversation> {
  const found = await readConversation(queries, owner, id)
  if (!found) throw notFound('conversation', id)
  return found
}

export interface FenceRow {
  id: string
  lease_holder: string | null
  lease_epoch: number
  lease_since: number
  lease_expires: number
  clock: number
}

/** A conversation as a writer needs it. */
export interface WritableRow extends FenceRow {
  n: number
  head_id: string | null
}

/** The clock of the database, also while a transaction waited for a lock. */
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
  const row = await queries.get<WritableRow & { head: number | null }>(
    `SELECT c.n, c.head, ${fenceColumns} FROM synapse.conversations c WHERE c.id = $1 AND c.owner = $2
     FOR NO KEY UPDATE`,
    [id, owner],
  )
  if (!row) throw notFound('conversation', id)
  const { takes } = checkWriter(fenceOf(row), write, row.clock + db.options.leaseSkewMs())
  if (takes) await queries.all('UPDATE synapse.conversations SET lease_holder = NULL WHERE n = $1', [row.n])
  if (row.head === null) return { ...row, head_id: null }
  const head = await queries.get<{ id: string }>('SELECT id FROM synapse.entries WHERE n = $1 AND conversation = $2', [
    row.head,
    row.n,
  ])
  if (!head) throw damaged(`The head of conversation ${id}`)
  return { ...row, head_id: head.id }
}

/** The number of an entry of the conversation. */
export async function placeOf(queries: Queries, conversation: { n: number }, entryId: string): Promise<number> {
  const found = await queries.get<{ n: number }>('SELECT n FROM synapse.entries WHERE id = $1 AND conversation = $2', [
    entryId,
    conversation.n,
  ])
  if (!found) throw notFound('entry', entryId)
  return found.n
}

export function fenceOf(row: FenceRow): Fence {
  return {
    conversationId: row.id,
    holder: row.lease_holder,
    epoch: row.lease_epoch,
    since: row.lease_since,
    expires: row.lease_expires,
  }
}

export async function insertUnique<T>(insert: Promise<T>, taken: () => Error): Promise<T> {
  try {
    return await insert
  } catch (error) {
    throw isUniqueViolation(error) ? taken() : error
  }
}

export async function setLabels(queries: Queries, conversation: number, labels: readonly string[]): Promise<void> {
  await queries.all('DELETE FROM synapse.labels WHERE conversation = $1', [conversation])
  await queries.all('INSERT INTO synapse.labels (conversation, label) SELECT $1, unnest($2::text[])', [
    conversation,
    labels,
  ])
}

function toConversation(row: ConversationRow): Conversation {
  if (row.head_n !== null && row.head === null) throw damaged(`The head of conversation ${row.id}`)
  return {
    id: row.id,
    owner: row.owner,
    ...(row.title !== null && { title: row.title }),
    labels: row.labels.sort(),
    settings: JSON.parse(row.settings) as JsonObject,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    head: row.head,
    ...(row.branch !== null && { branch: row.branch }),
    entries: row.entries,
  }
}
