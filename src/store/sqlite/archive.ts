// Importing an archive into SQLite. A long one is written in several transactions, because all other writers of the file
// wait for each: until the last of them it belongs to a reserved owner. What a crash leaves of it is deleted by the next
// import.

import type { Conversation } from '../../core/log.ts'
import { inSlices } from '../../core/slices.ts'
import type { Archive, Archives } from '../archive.ts'
import { prepareEntry } from '../new-entry.ts'
import { archivedRows, conversationValues, type ArchivedRow } from '../sql/values.ts'
import { idTaken } from '../store-errors.ts'
import type { Connection } from './connection.ts'
import { insertConversation, insertUnique, mustHave, writable, type WritableRow } from './conversations.ts'
import { deleteConversation } from './delete.ts'
import { appendEntries, findEntry } from './entries.ts'
import { importingFor } from './search-index.ts'

/** Written in one transaction, in a few milliseconds. */
const fewEntries = 128
/** Between two transactions. */
const restMs = 4
/** An import that has written nothing for this long has been interrupted. */
const interruptedMs = 600_000

export function archiveMethods(db: Connection): Archives {
  return {
    importConversation: (owner, archive) =>
      archive.entries.length <= fewEntries ? importAtOnce(db, owner, archive) : importInSlices(db, owner, archive),
  }
}

async function importAtOnce(db: Connection, owner: string, archive: Archive): Promise<Conversation> {
  const now = db.options.now()
  const values = conversationValues(owner, { ...archive.conversation, at: archive.conversation.createdAt }, now)
  const prepared = archive.entries.map((entry) => prepareEntry({ ...entry, head: 'stay' }, now))
  return db.write(() => {
    insertConversation(db, owner, values)
    const conversation = writable(db, owner, values.id, undefined)
    appendEntries(db, conversation, prepared)
    for (const row of archivedRows(archive, conversation.n, placesIn(db, conversation), now)) insertRow(db, row)
    return handOver(db, conversation, owner, archive)
  })
}

async function importInSlices(db: Connection, owner: string, archive: Archive): Promise<Conversation> {
  const now = db.options.now()
  const hidden = importingFor + owner
  const values = conversationValues(owner, { ...archive.conversation, at: archive.conversation.createdAt }, now)
  await deleteInterrupted(db)
  const conversation = await db.write(() => {
    insertConversation(db, hidden, values)
    // Its messages may name blobs of their owner.
    return { ...writable(db, hidden, values.id, undefined), owner }
  })
  const { entries } = archive
  const slices = async (length: number, write: (from: number, to: number) => () => void): Promise<void> =>
    inSlices(
      0,
      async (from, limit) => {
        const to = Math.min(length, from + limit)
        const work = write(from, to)
        const step = (): void => {
          db.run('UPDATE conversations SET lease_expires = ? WHERE n = ?', Date.now() + interruptedMs, conversation.n)
          work()
        }
        await db.write(step, false)
        return to < length ? to : undefined
      },
      restMs,
    )
  try {
    await slices(entries.length, (from, to) => {
      const prepared = entries.slice(from, to).map((entry) => prepareEntry({ ...entry, head: 'stay' }, now))
      return () => void appendEntries(db, conversation, prepared)
    })
    const rows = await db.read(() => archivedRows(archive, conversation.n, placesIn(db, conversation), now))
    await slices(rows.length, (from, to) => () => {
      for (const row of rows.slice(from, to)) insertRow(db, row)
    })
    return await db.write(() => handOver(db, conversation, owner, archive))
  } catch (error) {
    // If that fails too, the next import deletes it.
    await deleteConversation(db, hidden, values.id).catch(() => {})
    throw error
  }
}

function placesIn(db: Connection, conversation: WritableRow): (entryId: string) => number {
  return (entryId) => findEntry(db, conversation, entryId).n
}

/** The last step: now it is there, and complete. */
function handOver(
  db: Connection,
  conversation: WritableRow,
  owner: string,
  { conversation: about }: Archive,
): Conversation {
  db.run(
    'UPDATE conversations SET owner = ?, head = ?, branch = ?, lease_expires = 0 WHERE n = ?',
    owner,
    about.head === null ? null : placesIn(db, conversation)(about.head),
    about.branch ?? null,
    conversation.n,
  )
  return mustHave(db, owner, conversation.id)
}

async function deleteInterrupted(db: Connection): Promise<void> {
  const unfinished = await db.read(() =>
    db.all<{ id: string; owner: string }>(
      'SELECT id, owner FROM conversations WHERE owner >= ? AND owner < ? AND lease_expires < ?',
      importingFor,
      `${importingFor}\u{10FFFF}`,
      Date.now(),
    ),
  )
  for (const { id, owner } of unfinished) await deleteConversation(db, owner, id)
}

function insertRow(db: Connection, { table, values, id }: ArchivedRow): void {
  const columns = Object.keys(values)
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
  const bound = Object.values(values).map((value) => (typeof value === 'boolean' ? Number(value) : value))
  insertUnique(
    () => db.run(sql, ...bound),
    (error) => (id ? idTaken(id.kind, id.id) : error),
  )
}
