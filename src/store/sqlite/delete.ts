// Deleting a conversation from SQLite. A long one is deleted in several transactions, because the thread of the process
// and all other writers of the file wait for each. The first one gives it to a reserved owner, so that from then on it
// is gone for everyone; what a crash leaves of it is deleted when the file is opened next.

import { inSlices } from '../../core/slices.ts'
import { dropBlobs } from './blobs.ts'
import type { Connection } from './connection.ts'
import { dropEntries, lowerUpto } from './search-index.ts'

/** Deleted in one transaction, in a few milliseconds. */
const fewEntries = 128
/** Between two transactions. */
const restMs = 4
/** Precedes the owner of a conversation that is being deleted. */
const deletingFor = 'synapse:deleting '

/** False: not found. */
export async function deleteConversation(db: Connection, owner: string, id: string): Promise<boolean> {
  const conversation = await db.write(() => {
    const row = db.get<Found>('SELECT n, id, owner, entries FROM conversations WHERE id = ? AND owner = ?', id, owner)
    if (!row) return undefined
    if (row.entries > fewEntries) return hide(db, row)
    for (const remove of removals) remove(db, row.n, Infinity)
    return row
  })
  if (conversation && conversation.owner !== owner) await deleteHidden(db, conversation)
  return conversation !== undefined
}

/** Deletes what was being deleted when its process ended. It stops early if the file is to be closed. */
export async function finishDeletions(db: Connection, isClosing: () => boolean): Promise<void> {
  const hidden = await db.read(() =>
    db.all<Found>(
      'SELECT n, id, owner, entries FROM conversations WHERE owner >= ? AND owner < ?',
      deletingFor,
      `${deletingFor}\u{10FFFF}`,
    ),
  )
  for (const conversation of hidden) await deleteHidden(db, conversation, isClosing)
}

interface Found extends Record<string, string | number> {
  n: number
  id: string
  owner: string
  entries: number
}

/** Call it inside the transaction. It is not found afterwards, and nothing in it points to a deleted entry. */
function hide(db: Connection, conversation: Found): Found {
  const { n } = conversation
  const owner = deletingFor + conversation.owner
  db.run('UPDATE conversations SET owner = ?, head = NULL, branch = NULL, lease_holder = NULL WHERE n = ?', owner, n)
  for (const table of ['records', 'branches', 'overlays', 'states']) {
    db.run(`DELETE FROM ${table} WHERE conversation = ?`, n)
  }
  return { ...conversation, owner }
}

async function deleteHidden(
  db: Connection,
  { n, id, owner }: Found,
  isClosing: () => boolean = () => false,
): Promise<void> {
  // Each by itself: rows of one table take much longer than those of another.
  for (const remove of removals) {
    let isOver = false
    await inSlices(
      remove,
      async (_, limit) => {
        isOver = isClosing()
        if (isOver) return undefined
        return db.write(() => {
          // Another process may have deleted the rest, and its number may be in use again.
          isOver = !db.get('SELECT 1 FROM conversations WHERE n = ? AND id = ? AND owner = ?', n, id, owner)
          return isOver || remove(db, n, limit) < limit ? undefined : remove
        }, false)
      },
      restMs,
    )
    if (isOver) return
  }
}

/** In this order, so that nothing points to what is gone. Each deletes up to `count` rows, and returns how many. */
const removals: ((db: Connection, conversation: number, count: number) => number)[] = [
  rowsOf('exchanges'),
  rowsOf('tool_runs'),
  rowsOf('streams'),
  dropEntries,
  dropBlobs,
  (db, n) => {
    db.run('DELETE FROM conversations WHERE n = ?', n)
    lowerUpto(db)
    return 0
  },
]

function rowsOf(table: string) {
  return (db: Connection, conversation: number, count: number): number => {
    const limit = Number.isFinite(count) ? count : -1
    const rows = db.all<{ n: number }>(`SELECT n FROM ${table} WHERE conversation = ? LIMIT ? + 0`, conversation, limit)
    for (const { n } of rows) db.run(`DELETE FROM ${table} WHERE n = ?`, n)
    return rows.length
  }
}
