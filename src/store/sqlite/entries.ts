import type { Entry } from '../../core/log.ts'
import { isTimeToIndex } from '../hits.ts'
import { byDepth, isLine, isWhole, messageOf, outlinedEntries, prepareEntry, wholePath } from '../new-entry.ts'
import type { OutlinedRow, PathEnd, PathRow, PreparedEntry } from '../new-entry.ts'
import { headMoved, idTaken, notFound } from '../store-errors.ts'
import { toEntry, toOutline, type EntryRow, type OutlineRow } from '../sql/rows.ts'
import { sqliteSelects as selects } from '../sql/selects.ts'
import type { Entries } from '../store.ts'
import { storeBlob, useNamedBlob } from './blobs.ts'
import type { Connection, Row } from './connection.ts'
import { insertUnique, writable, type WritableRow } from './conversations.ts'
import { putAll } from './records.ts'
import { indexNow } from './search-index.ts'

export function entryMethods(db: Connection): Entries {
  return {
    async append(owner, conversationId, entry, write) {
      const prepared = prepareEntry(entry, db.options.now())
      return db.write(() => appendEntry(db, writable(db, owner, conversationId, write), prepared))
    },

    async appendAll(owner, conversationId, entries, write, records = []) {
      const prepared = entries.map((entry) => prepareEntry(entry, db.options.now()))
      return db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        if (records.length > 0) putAll(db, records)
        return prepared.map((entry) => appendEntry(db, conversation, entry))
      })
    },

    entry: (owner, entryId) =>
      db.read(() => {
        const row = db.get<EntryRow>(`${selects.entries} WHERE e.id = ? AND c.owner = ?`, entryId, owner)
        return row && toEntry(row)
      }),

    history: (owner, entryId, options = {}) =>
      db.read(() => {
        const end = db.get<PathEnd & Row>(`${selects.pathEnd} WHERE e.id = ? AND c.owner = ?`, entryId, owner)
        if (!end) return []
        const { last = Infinity, outlineThrough: through } = options
        return (through !== undefined && outlinedPath(db, end, through)) || pathTo(db, end, last)
      }),

    children: (owner, conversationId, entryId) =>
      db.read(() =>
        db
          .all<EntryRow>(
            `${selects.entries} WHERE c.id = ? AND c.owner = ? AND e.parent IS (SELECT n FROM entries WHERE id = ?)
             AND (? IS NULL OR e.parent IS NOT NULL) ORDER BY e.n`,
            conversationId,
            owner,
            entryId,
            entryId,
          )
          .map(toEntry),
      ),

    outline: (owner, conversationId) =>
      db.read(() =>
        db
          .all<OutlineRow>(`${selects.outline} WHERE c.id = ? AND c.owner = ? ORDER BY e.n`, conversationId, owner)
          .map(toOutline),
      ),
  }
}

function pathTo(db: Connection, end: PathEnd, last: number): Entry[] {
  if (isWhole(end, last)) {
    const rows = db.lists<PathRow>(
      'SELECT id, depth, at, checksum, message FROM entries WHERE conversation = ? ORDER BY parent',
      end.conversation,
    )
    if (isLine(rows, end)) return wholePath(rows, last, end.conversation_id)
  }
  // Without joins and sorting, which would copy the messages: the entries of a path refer to each other.
  const rows = db.lists<PathRow>(
    `WITH RECURSIVE up (n, parent, depth, conversation) AS (
       SELECT n, parent, depth, conversation FROM entries WHERE n = ?
       UNION ALL
       SELECT e.n, e.parent, e.depth, e.conversation FROM up
       JOIN entries e ON e.n = up.parent AND e.depth = up.depth - 1 AND e.conversation = up.conversation
       LIMIT ? + 0
     )
     SELECT e.id, e.depth, e.at, e.checksum, e.message FROM up CROSS JOIN entries e ON e.n = up.n`,
    end.n,
    last === Infinity ? -1 : last + 1,
  )
  rows.sort(byDepth)
  return wholePath(rows, last, end.conversation_id)
}

/** Undefined if the path does not lead through the entry. */
function outlinedPath(db: Connection, end: PathEnd, through: string): Entry[] | undefined {
  const found = db.get<{ n: number; depth: number }>(
    'SELECT n, depth FROM entries WHERE id = ? AND conversation = ?',
    through,
    end.conversation,
  )
  if (!found || found.depth >= end.depth) return undefined
  const tail = pathTo(db, end, end.depth - found.depth)
  if (tail[0]?.parentId !== through) return undefined
  const rows = isWhole(end, Infinity)
    ? db.lists<OutlinedRow>(
        `SELECT ${outlinedColumns} FROM entries e WHERE e.conversation = ? AND e.depth <= ? ORDER BY e.parent`,
        end.conversation,
        found.depth,
      )
    : db.lists<OutlinedRow>(
        `WITH RECURSIVE up (n, parent) AS (
           SELECT n, parent FROM entries WHERE n = ?
           UNION ALL SELECT e.n, e.parent FROM up JOIN entries e ON e.n = up.parent
         )
         SELECT ${outlinedColumns} FROM up CROSS JOIN entries e ON e.n = up.n ORDER BY e.depth`,
        found.n,
      )
  const isLine = rows.length === found.depth + 1 && rows.every((row, i) => row[1] === i)
  return isLine ? [...outlinedEntries(rows, end.conversation_id), ...tail] : undefined
}

const outlinedColumns = `e.id, e.depth, e.at, e.checksum, e.role,
  CASE e.role WHEN 'assistant' THEN e.message ->> '$.origin.provider' END,
  CASE e.role WHEN 'assistant' THEN e.message ->> '$.origin.model' END,
  CASE WHEN e.depth = 0 OR e.role = 'system' THEN e.message END`

/** Call it inside the transaction. Moves the head in `conversation` too, for the next entry of the same one. */
export function appendEntry(db: Connection, conversation: WritableRow, entry: PreparedEntry): Entry {
  const { head_id: head } = conversation
  const parentId = entry.parentId === undefined ? head : entry.parentId
  if (entry.head === 'advance' && parentId !== head) throw headMoved(conversation.id, parentId, head)
  const parent = parentId === null ? undefined : placeOf(db, conversation, parentId)
  const depth = parent ? parent.depth + 1 : 0
  const n = insertUnique(
    () =>
      db.run(
        `INSERT INTO entries (id, conversation, parent, depth, role, at, documents, checksum, message)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        entry.id,
        conversation.n,
        parent?.n ?? null,
        depth,
        entry.role,
        entry.at,
        documentsGuess,
        entry.checksum,
        entry.json,
      ),
    () => idTaken('entry', entry.id),
  )
  for (const sha256 of entry.named) useNamedBlob(db, conversation, sha256)
  for (const blob of entry.blobs) storeBlob(db, conversation.n, blob)
  if (isTimeToIndex(n, entry.json.length)) indexNow(db)
  moveHead(db, conversation, entry, { n, depth, parentId })
  return { id: entry.id, conversationId: conversation.id, parentId, depth, message: messageOf(entry), at: entry.at }
}

/** Most entries have one document; if not, indexing corrects it. */
const documentsGuess = 1

/** The number of an entry of the conversation, by its id. */
export function placeOf(db: Connection, conversation: WritableRow, entryId: string): { n: number; depth: number } {
  const { head, head_id, head_depth } = conversation
  if (entryId === head_id && head !== null && head_depth !== null) return { n: head, depth: head_depth }
  const found = db.get<{ n: number; depth: number }>(
    'SELECT n, depth FROM entries WHERE id = ? AND conversation = ?',
    entryId,
    conversation.n,
  )
  if (!found) throw notFound('entry', entryId)
  return found
}

function moveHead(
  db: Connection,
  conversation: WritableRow,
  entry: PreparedEntry,
  place: { n: number; depth: number; parentId: string | null },
): void {
  if (entry.head !== 'stay') {
    if (place.parentId !== conversation.head_id) conversation.branch = null
    conversation.head = place.n
    conversation.head_id = entry.id
    conversation.head_depth = place.depth
    if (conversation.branch !== null) {
      db.run(
        'UPDATE branches SET entry = ? WHERE conversation = ? AND name = ?',
        place.n,
        conversation.n,
        conversation.branch,
      )
    }
  }
  db.run(
    'UPDATE conversations SET entries = entries + 1, updated_at = max(updated_at, ?), head = ?, branch = ? WHERE n = ?',
    entry.at,
    conversation.head,
    conversation.branch,
    conversation.n,
  )
}
