// One entry, one statement: lock the conversation, check who writes and where, insert, index, move the head. As four
// round trips the same takes more than twice as long.

import type { QueryResultRow } from 'pg'
import type { Entry } from '../../core/log.ts'
import { documentFilters } from '../filter-words.ts'
import type { PreparedEntry } from '../prepare.ts'
import { damaged, headMoved, idTaken } from '../refusals.ts'
import { maxDocuments } from '../search-text.ts'
import type { Write } from '../store.ts'
import { clock, placeOf, writable } from './conversations.ts'
import type { Database, Queries } from './database.ts'
import { isLost, isUniqueViolation } from './errors.ts'
import { wordVector } from './words.ts'

export async function appendAlone(
  db: Database,
  owner: string,
  conversationId: string,
  entry: PreparedEntry,
  write: Write | undefined,
): Promise<Entry> {
  const sent = await insert(db, valuesOf(db, owner, conversationId, entry, write), entry.id).then(
    (row) => ({ row, lost: false }),
    (error: unknown) => {
      if (isLost(error)) return { row: undefined, lost: true }
      throw error
    },
  )
  if (sent.row) return toEntry(conversationId, entry, sent.row)
  return db.transaction(async (queries) => {
    const known = sent.lost && (await written(queries, owner, conversationId, entry))
    if (known) return known
    await writable(db, queries, owner, conversationId, write)
    return appendEntry(db, queries, owner, conversationId, entry, write)
  })
}

/**
 * The entry, if a statement whose answer was lost has written it. Under the lock of the conversation: one that is still
 * on its way will then fail, because its id is taken.
 */
async function written(
  queries: Queries,
  owner: string,
  conversationId: string,
  entry: PreparedEntry,
): Promise<Entry | undefined> {
  await queries.all('SELECT 1 FROM synapse.conversations WHERE id = $1 AND owner = $2 FOR NO KEY UPDATE', [
    conversationId,
    owner,
  ])
  const row = await queries.get<Place & QueryResultRow>(
    `SELECT p.id AS parent_id, e.depth FROM synapse.entries e JOIN synapse.conversations c ON c.n = e.conversation
     LEFT JOIN synapse.entries p ON p.n = e.parent WHERE e.id = $1 AND e.checksum = $2 AND c.id = $3 AND c.owner = $4`,
    [entry.id, entry.checksum, conversationId, owner],
  )
  return row && toEntry(conversationId, entry, row)
}

/** Inside a transaction that has locked the conversation by `writable`. */
export async function appendEntry(
  db: Database,
  queries: Queries,
  owner: string,
  conversationId: string,
  entry: PreparedEntry,
  write: Write | undefined,
): Promise<Entry> {
  const row = await insert(queries, valuesOf(db, owner, conversationId, entry, write), entry.id)
  if (row) return toEntry(conversationId, entry, row)
  throw await reason(db, queries, owner, conversationId, entry, write)
}

function valuesOf(
  db: Database,
  owner: string,
  conversationId: string,
  entry: PreparedEntry,
  write: Write | undefined,
): unknown[] {
  const words = entry.documents.map((document) =>
    wordVector(document.text, documentFilters(owner, conversationId, entry.provider, document)),
  )
  return [
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
    words,
  ]
}

interface Place {
  parent_id: string | null
  depth: number
}

function toEntry(conversationId: string, { id, at, message }: PreparedEntry, place: Place): Entry {
  return { id, conversationId, parentId: place.parent_id, depth: place.depth, message, at }
}

/**
 * Gives no row when something stands against it. Without a lock before it that can also be this: while the statement
 * waited, another transaction wrote the head, and the statement, which sees the rows of when it began, does not find it.
 */
const statement = `
  WITH c AS (
    SELECT n, owner, head, branch, lease_holder, lease_epoch, lease_expires FROM synapse.conversations
    WHERE id = $1 AND owner = $2 FOR NO KEY UPDATE
  ), p AS (
    SELECT e.n, e.id, e.depth FROM c JOIN synapse.entries e ON e.n = c.head AND e.conversation = c.n
    WHERE $5::boolean
    UNION ALL
    SELECT e.n, e.id, e.depth FROM c JOIN synapse.entries e ON e.id = $6::text AND e.conversation = c.n
    WHERE NOT $5::boolean
  ), ok AS (
    SELECT c.*, p.n AS parent, p.id AS parent_id, coalesce(p.depth + 1, 0) AS depth FROM c LEFT JOIN p ON true
    WHERE CASE WHEN $3::bigint IS NULL THEN c.lease_holder IS NULL OR c.lease_expires <= ${clock} + $4::bigint
               ELSE c.lease_epoch = $3::bigint AND c.lease_holder IS NOT NULL END
      AND (p.n IS NOT NULL OR CASE WHEN $5::boolean THEN c.head IS NULL ELSE $6::text IS NULL END)
      AND ($7::text <> 'advance' OR p.n IS NOT DISTINCT FROM c.head)
  ), e AS (
    INSERT INTO synapse.entries (id, conversation, parent, depth, role, at, checksum, message)
    SELECT $8, n, parent, depth, $9, $10, $11, $12 FROM ok RETURNING n
  ), s AS (
    INSERT INTO synapse.search (n, conversation, owner, words)
    SELECT e.n * ${maxDocuments} + d.i - 1, ok.n, ok.owner, d.words::tsvector
    FROM ok, e, unnest($13::text[]) WITH ORDINALITY AS d (words, i)
  ), b AS (
    UPDATE synapse.branches b SET entry = e.n FROM ok, e
    WHERE $7::text <> 'stay' AND ok.parent IS NOT DISTINCT FROM ok.head
      AND b.conversation = ok.n AND b.name = ok.branch
  ), u AS (
    UPDATE synapse.conversations c SET
      entries = c.entries + 1,
      updated_at = greatest(c.updated_at, $10),
      lease_holder = CASE WHEN $3::bigint IS NOT NULL THEN c.lease_holder END,
      head = CASE WHEN $7::text = 'stay' THEN c.head ELSE e.n END,
      branch = CASE WHEN $7::text = 'stay' OR ok.parent IS NOT DISTINCT FROM ok.head THEN c.branch END
    FROM ok, e WHERE c.n = ok.n
  )
  SELECT ok.parent_id, ok.depth FROM ok, e`

async function insert(queries: Queries, values: unknown[], id: string): Promise<Place | undefined> {
  try {
    return await queries.get<Place & QueryResultRow>(statement, values)
  } catch (error) {
    throw isUniqueViolation(error) ? idTaken('entry', id) : error
  }
}

async function reason(
  db: Database,
  queries: Queries,
  owner: string,
  conversationId: string,
  entry: PreparedEntry,
  write: Write | undefined,
): Promise<Error> {
  const conversation = await writable(db, queries, owner, conversationId, write)
  const { head_id: head } = conversation
  const parentId = entry.parentId === undefined ? head : entry.parentId
  if (entry.head === 'advance' && parentId !== head) return headMoved(conversationId, parentId, head)
  if (parentId !== null) await placeOf(queries, conversation, parentId)
  return damaged(`Conversation ${conversationId}`)
}
