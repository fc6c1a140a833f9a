// Importing an archive into SQLite, in one transaction.

import type { Archives } from '../archive.ts'
import { prepareEntry } from '../new-entry.ts'
import { archivedRows, conversationValues, type ArchivedRow } from '../sql/values.ts'
import { idTaken } from '../store-errors.ts'
import type { Connection } from './connection.ts'
import { insertConversation, insertUnique, mustHave, writable } from './conversations.ts'
import { appendEntry, placeOf } from './entries.ts'

export function archiveMethods(db: Connection): Archives {
  return {
    async importConversation(owner, archive) {
      const { conversation: about, entries } = archive
      const now = db.options.now()
      const values = conversationValues({ ...about, at: about.createdAt }, now)
      const prepared = entries.map((entry) => prepareEntry({ ...entry, head: 'stay' }, now))
      return db.write(() => {
        insertConversation(db, owner, values)
        const conversation = writable(db, owner, values.id, undefined)
        for (const entry of prepared) appendEntry(db, conversation, entry)
        const place = (entryId: string): number => placeOf(db, conversation, entryId).n
        for (const row of archivedRows(archive, conversation.n, place, now)) insertRow(db, row)
        db.run(
          'UPDATE conversations SET head = ?, branch = ? WHERE n = ?',
          about.head === null ? null : place(about.head),
          about.branch ?? null,
          conversation.n,
        )
        return mustHave(db, owner, values.id)
      })
    },
  }
}

function insertRow(db: Connection, { table, values, id }: ArchivedRow): void {
  const columns = Object.keys(values)
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
  const given = Object.values(values).map((value) => (typeof value === 'boolean' ? Number(value) : value))
  insertUnique(
    () => db.run(sql, ...given),
    (error) => (id ? idTaken(id.kind, id.id) : error),
  )
}
