// One entry, one statement: look up the parent, lock the conversation, check who writes and where, move the head,
// insert. As four round trips the same takes more than twice as long.

import type { QueryResultRow } from 'pg'
import type { Entry } from '../../core/log.ts'
import { messageOf, type PreparedEntry } from '../new-entry.ts'
import { damaged, headMoved, idTaken } from '../store-errors.ts'
import type { Write } from '../store.ts'
import { clock, entryNumber, writable } from './conversations.ts'
import type { Database, Queries, Transaction } from './database.ts'
import { isUniqueViolation } from './errors.ts'

/** An entry, its writer, and its position. */
export interface Appending {
  owner: string
  conversationId: string
  entry: PreparedEntry
  write: Write | undefined
}

export async function appendAlone(db: Database, append: Appending): Promise<Entry> {
  const sent = await insert(db, append, (values) => db.once(statement, values))
  const { row, lost } = sent as { row: Inserted | undefined; lost: boolean }
  if (row) {
    db.indexing.appended(row.n, append.entry.json.length)
    return toEntry(append, row)
  }
  return db.transaction(async (queries) => {
    const stored = lost && (await findWritten(queries, append))
    if (stored) return stored
    await writable(db, queries, append.owner, append.conversationId, append.write)
    return appendEntry(db, queries, append)
  }, lost)
}

/**
 * The entry, if a statement whose answer was lost has written it. Under the lock of the conversation: one that is still
 * in transit will then fail, because its id is taken.
 */
async function findWritten(queries: Queries, append: Appending): Promise<Entry | undefined> {
  const { owner, conversationId, entry } = append
  await queries.all('SELECT 1 FROM synapse.conversations WHERE id = $1 AND owner = $2 FOR NO KEY UPDATE', [
    conversationId,
    owner,
  ])
  const row = await queries.get<Place & QueryResultRow>(
    `SELECT p.id AS parent_id, e.depth FROM synapse.entries e JOIN synapse.conversations c ON c.n = e.conversation
     LEFT JOIN synapse.entries p ON p.n = e.parent WHERE e.id = $1 AND e.checksum = $2 AND c.id = $3 AND c.owner = $4`,
    [entry.id, entry.checksum, conversationId, owner],
  )
  return row && toEntry(append, row)
}

/** Inside a transaction that has locked the conversation by `writable`. */
export async function appendEntry(db: Database, queries: Transaction, append: Appending): Promise<Entry> {
  const row = await insert(db, append, (values) => queries.get<Inserted>(statement, values))
  if (!row) throw await refusalReason(db, queries, append)
  queries.onceCommitted(() => db.indexing.appended(row.n, append.entry.json.length))
  return toEntry(append, row)
}

interface Place {
  parent_id: string | null
  depth: number
}

type Inserted = Place & { n: number } & QueryResultRow

function toEntry({ conversationId, entry }: Appending, { parent_id: parentId, depth }: Place): Entry {
  return { id: entry.id, conversationId, parentId, depth, message: messageOf(entry), at: entry.at }
}

/**
 * Returns no row if a check fails, even if another transaction moved the head or changed the branch while this one
 * waited for it. `seen` is the conversation as it was when the statement began, `c` after locking it. The parent was
 * committed before that, so its number is lower than `seen.next`.
 */
const statement = `
  WITH moved AS (
    UPDATE synapse.conversations c SET
      entries = c.entries + 1,
      updated_at = greatest(c.updated_at, $10),
      lease_holder = CASE WHEN $3::bigint IS NOT NULL THEN c.lease_holder END,
      head = CASE WHEN $7::text = 'stay' THEN c.head ELSE seen.next END,
      branch = CASE WHEN $7::text = 'stay' OR seen.parent IS NOT DISTINCT FROM seen.head THEN c.branch END
    FROM (
      SELECT o.head, o.branch, p.n AS parent, p.id AS parent_id, p.depth, nextval('synapse.entries_n_seq') AS next
      FROM synapse.conversations o LEFT JOIN synapse.entries p ON p.conversation = o.n AND p.n = CASE
        WHEN $5::boolean THEN o.head ELSE (SELECT n FROM synapse.entries WHERE id = $6::text) END
      WHERE o.id = $1
    ) seen
    WHERE c.id = $1 AND c.owner = $2 AND c.head IS NOT DISTINCT FROM seen.head AND c.branch IS NOT DISTINCT FROM seen.branch
      AND CASE WHEN $3::bigint IS NULL THEN c.lease_holder IS NULL OR c.lease_expires <= ${clock} + $4::bigint
               ELSE c.lease_epoch = $3::bigint AND c.lease_holder IS NOT NULL END
      AND (seen.parent IS NOT NULL OR CASE WHEN $5::boolean THEN seen.head IS NULL ELSE $6::text IS NULL END)
      AND ($7::text <> 'advance' OR seen.parent IS NOT DISTINCT FROM seen.head)
    RETURNING c.n AS conversation, c.branch, seen.next AS n, seen.parent, seen.parent_id, coalesce(seen.depth + 1, 0) AS depth
  ), e AS (
    INSERT INTO synapse.entries (n, id, conversation, parent, depth, role, at, checksum, message)
    OVERRIDING SYSTEM VALUE SELECT n, $8, conversation, parent, depth, $9, $10, $11, $12 FROM moved
  ), w AS (
    INSERT INTO synapse.waiting (entry) SELECT n FROM moved
  ), b AS (
    UPDATE synapse.branches b SET entry = moved.n FROM moved
    WHERE $7::text <> 'stay' AND b.conversation = moved.conversation AND b.name = moved.branch
  )
  SELECT n, parent_id, depth FROM moved`

async function insert<T>(db: Database, append: Appending, send: (values: unknown[]) => Promise<T>): Promise<T> {
  const { owner, conversationId, entry, write } = append
  const values = [
    conversationId,
    owner,
    write?.epoch ?? null,
    db.options.leaseSkewMs(),
    entry.parentId === undefined,
    entry.parentId ?? null,
    entry.head,
    entry.id,
    entry.role,
    entry.at,
    entry.checksum,
    entry.json,
  ]
  try {
    return await send(values)
  } catch (error) {
    throw isUniqueViolation(error) ? idTaken('entry', entry.id) : error
  }
}

/** Why the statement returned no row. */
async function refusalReason(
  db: Database,
  queries: Queries,
  { owner, conversationId, entry, write }: Appending,
): Promise<Error> {
  const conversation = await writable(db, queries, owner, conversationId, write)
  const { head_id: head } = conversation
  const parentId = entry.parentId === undefined ? head : entry.parentId
  if (entry.head === 'advance' && parentId !== head) return headMoved(conversationId, parentId, head)
  if (parentId !== null) await entryNumber(queries, conversation, parentId)
  return damaged(`Conversation ${conversationId}`)
}
