// Entries in SQLite: appending them, and reading paths and trees.

import type { Entry } from '../../core/log.ts'
import { isTimeToIndex, large } from '../search/hits.ts'
import { messageOf, prepareEntry, type PreparedEntry } from '../new-entry.ts'
import type { PathEnd } from '../sql/path.ts'
import { headMoved, idTaken, notFound } from '../store-errors.ts'
import { toEntry, toOutline, type EntryRow, type OutlineRow } from '../sql/rows.ts'
import { sqliteSelects as selects } from '../sql/selects.ts'
import type { Entries } from '../store.ts'
import { storeBlob, useNamedBlob } from './blobs.ts'
import type { Connection, Row } from './connection.ts'
import { insertUnique, writable, type WritableRow } from './conversations.ts'
import { outlinedPath, pathTo } from './path.ts'
import { putAll } from './records.ts'
import { indexNow, indexSoon, mostAtOnce, rememberToIndex, veryLong } from './search-index.ts'

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
        if (prepared.length > mostAtOnce) indexSoon(db)
        return appendEntries(db, conversation, prepared)
      })
    },

    entry: (owner, entryId) =>
      db.read(() => {
        const row = db.get<EntryRow>(`${selects.entries} WHERE e.id = ? AND c.owner = ?`, entryId, owner)
        return row && toEntry(row)
      }),

    async history(owner, entryId, { last = Infinity, outlineThrough: through } = {}) {
      const findEnd = () =>
        db.read(() => db.get<PathEnd & Row>(`${selects.pathEnd} WHERE e.id = ? AND c.owner = ?`, entryId, owner))
      const end = await findEnd()
      if (!end) return []
      try {
        return (through !== undefined && (await outlinedPath(db, end, through))) || (await pathTo(db, end, last))
      } catch (error) {
        // It may have been deleted since.
        if (await findEnd()) throw error
        return []
      }
    },

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

    outline: (owner, conversationId, part) =>
      db.read(() => {
        const select = `${selects.outline} WHERE c.id = ? AND c.owner = ?`
        if (!part) return db.all<OutlineRow>(`${select} ORDER BY e.n`, conversationId, owner).map(toOutline)
        const rows = db.all<OutlineRow>(
          `${select} AND (? IS NULL OR e.n < (SELECT n FROM entries WHERE id = ?)) ORDER BY e.n DESC LIMIT ? + 0`,
          conversationId,
          owner,
          part.before ?? null,
          part.before ?? null,
          part.last,
        )
        return rows.toReversed().map(toOutline)
      }),
  }
}

/** Call it inside the transaction. */
export function appendEntry(db: Connection, conversation: WritableRow, entry: PreparedEntry): Entry {
  const appended = insertEntry(db, conversation, entry)
  updateConversation(db, conversation, 1, entry.at)
  return appended
}

/** The same for many. */
export function appendEntries(db: Connection, conversation: WritableRow, entries: readonly PreparedEntry[]): Entry[] {
  let latest = ''
  const appended = entries.map((entry) => {
    if (entry.at > latest) latest = entry.at
    return insertEntry(db, conversation, entry)
  })
  updateConversation(db, conversation, entries.length, latest)
  return appended
}

/** Moves the head in `conversation`, for the next entry of the same one. */
function insertEntry(db: Connection, conversation: WritableRow, entry: PreparedEntry): Entry {
  const { head_id: head } = conversation
  const parentId = entry.parentId === undefined ? head : entry.parentId
  if (entry.head === 'advance' && parentId !== head) throw headMoved(conversation.id, parentId, head)
  const parent = parentId === null ? undefined : findEntry(db, conversation, parentId)
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
  const message = messageOf(entry)
  if (entry.json.length > large) rememberToIndex(db, entry, message)
  if (entry.json.length > veryLong) indexSoon(db)
  else if (isTimeToIndex(n, entry.json.length)) indexNow(db)
  moveHead(db, conversation, entry, { n, depth, parentId })
  return { id: entry.id, conversationId: conversation.id, parentId, depth, message, at: entry.at }
}

/** Most entries have one document; if not, indexing corrects it. */
const documentsGuess = 1

/** The number of an entry of the conversation, by its id. */
export function findEntry(db: Connection, conversation: WritableRow, entryId: string): { n: number; depth: number } {
  const { head, head_id, head_depth } = conversation
  if (entryId === head_id && head !== null && head_depth !== null) return { n: head, depth: head_depth }
  const row = db.get<{ n: number; depth: number }>(
    'SELECT n, depth FROM entries WHERE id = ? AND conversation = ?',
    entryId,
    conversation.n,
  )
  if (!row) throw notFound('entry', entryId)
  return row
}

function moveHead(
  db: Connection,
  conversation: WritableRow,
  entry: PreparedEntry,
  position: { n: number; depth: number; parentId: string | null },
): void {
  if (entry.head === 'stay') return
  if (position.parentId !== conversation.head_id) conversation.branch = null
  conversation.head = position.n
  conversation.head_id = entry.id
  conversation.head_depth = position.depth
  if (conversation.branch === null) return
  db.run(
    'UPDATE branches SET entry = ? WHERE conversation = ? AND name = ?',
    position.n,
    conversation.n,
    conversation.branch,
  )
}

function updateConversation(db: Connection, conversation: WritableRow, added: number, latest: string): void {
  db.run(
    `UPDATE conversations SET entries = entries + ?, updated_at = max(updated_at, ?), head = ?, branch = ?
     WHERE n = ?`,
    added,
    latest,
    conversation.head,
    conversation.branch,
    conversation.n,
  )
}
