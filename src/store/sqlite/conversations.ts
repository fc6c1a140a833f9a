// Conversations in SQLite, and the check that precedes every write: whether the writer may write.

import type { SQLInputValue } from 'node:sqlite'
import type { Conversation } from '../../core/log.ts'
import { checkWriter } from '../fence.ts'
import { pageOf, pageSize, readCursor } from '../page.ts'
import { cleanLabels, jsonText, plainText } from '../new-entry.ts'
import { toConversation, type ConversationRow } from '../sql/rows.ts'
import { sqliteSelects as selects } from '../sql/selects.ts'
import { conversationValues, type ConversationValues } from '../sql/values.ts'
import { damaged, idTaken, notFound } from '../store-errors.ts'
import type { Conversations, Write } from '../store.ts'
import type { Connection } from './connection.ts'
import { deleteConversation } from './delete.ts'
import { isUniqueViolation } from './errors.ts'

export function conversationMethods(db: Connection): Conversations {
  return {
    async createConversation(owner, fields = {}) {
      const values = conversationValues(owner, fields, db.options.now())
      return db.write(() => {
        insertConversation(db, owner, values)
        return mustHave(db, owner, values.id)
      })
    },

    conversation: (owner, id) => db.read(() => readConversation(db, owner, id)),

    async conversations(owner, page = {}) {
      const size = pageSize(page)
      // '~' sorts after every time.
      const [at = '~', id = '~'] = page.cursor === undefined ? [] : readCursor(page.cursor, ['string', 'string'])
      const { label, withoutLabel } = page
      const labelled = label === undefined ? '' : 'AND c.n IN (SELECT conversation FROM labels WHERE label = ?)'
      const without =
        withoutLabel === undefined ? '' : 'AND NOT EXISTS (SELECT 1 FROM labels WHERE conversation = c.n AND label = ?)'
      const labels = [label, withoutLabel].filter((name) => name !== undefined)
      const values: SQLInputValue[] = [owner, at, id, ...labels, size + 1]
      const rows = await db.read(() =>
        db.all<LabelledRow>(
          `${select} WHERE c.owner = ? AND (c.updated_at, c.id) < (?, ?) ${labelled} ${without}
           ORDER BY c.updated_at DESC, c.id DESC LIMIT ? + 0`,
          ...values,
        ),
      )
      return pageOf(rows, size, (row) => [row.updated_at, row.id], read)
    },

    async updateConversation(owner, id, change) {
      const settings = change.settings === undefined ? null : jsonText(change.settings, 'The settings')
      const labels = change.labels === undefined ? undefined : cleanLabels(change.labels)
      return db.write(() => {
        const before = mustHave(db, owner, id)
        const title = change.title === undefined ? before.title : change.title
        db.run(
          'UPDATE conversations SET title = ?, settings = coalesce(?, settings) WHERE id = ?',
          title === undefined || title === null ? null : plainText(title),
          settings,
          id,
        )
        if (labels) setLabels(db, id, labels)
        return mustHave(db, owner, id)
      })
    },

    deleteConversation: (owner, id) => deleteConversation(db, owner, id),
  }
}

/** Also its labels. Call it inside the transaction. */
export function insertConversation(db: Connection, owner: string, values: ConversationValues): void {
  const { id, at, title, settings, labels } = values
  insertUnique(
    () =>
      db.run(
        `INSERT INTO conversations (id, owner, created_at, updated_at, title, settings) VALUES (?, ?, ?, ?, ?, ?)`,
        id,
        owner,
        at,
        at,
        title,
        settings,
      ),
    () => idTaken('conversation', id),
  )
  setLabels(db, id, labels)
}

type LabelledRow = ConversationRow & { labels: string }

const select = `
  SELECT ${selects.conversationColumns},
    (SELECT json_group_array(label) FROM labels WHERE conversation = c.n) AS labels
  FROM conversations c LEFT JOIN entries h ON h.n = c.head AND h.conversation = c.n`

function read(row: LabelledRow): Conversation {
  return toConversation(row, JSON.parse(row.labels) as string[])
}

function readConversation(db: Connection, owner: string, id: string): Conversation | undefined {
  const row = db.get<LabelledRow>(`${select} WHERE c.id = ? AND c.owner = ?`, id, owner)
  return row && read(row)
}

export function mustHave(db: Connection, owner: string, id: string): Conversation {
  const conversation = readConversation(db, owner, id)
  if (!conversation) throw notFound('conversation', id)
  return conversation
}

/** A conversation as needed for a write. */
export interface WritableRow {
  n: number
  id: string
  owner: string
  head: number | null
  head_id: string | null
  head_depth: number | null
  branch: string | null
}

const clock = `CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)`

export const fenceColumns = `c.id, c.lease_holder, c.lease_epoch, c.lease_since, c.lease_expires, ${clock} AS clock`

/** A list of columns, and the clock only if it matters: this precedes every write. */
const selectWritable = `
  SELECT c.n, c.head, h.id, h.depth, c.branch, c.lease_holder, c.lease_epoch, c.lease_since, c.lease_expires,
    CASE WHEN c.lease_holder IS NULL THEN 0 ELSE ${clock} END
  FROM conversations c LEFT JOIN entries h ON h.n = c.head AND h.conversation = c.n WHERE c.id = ? AND c.owner = ?`

type WritableColumns = [
  n: number,
  head: number | null,
  headId: string | null,
  headDepth: number | null,
  branch: string | null,
  holder: string | null,
  epoch: number,
  since: number,
  expires: number,
  clock: number,
]

/** Finds the conversation and checks that the writer may write to it; call it inside the transaction. */
export function writable(db: Connection, owner: string, id: string, write: Write | undefined): WritableRow {
  const [row] = db.lists<WritableColumns>(selectWritable, id, owner)
  if (!row) throw notFound('conversation', id)
  const [n, head, head_id, head_depth, branch, holder, epoch, since, expires, now] = row
  if (head !== null && head_id === null) throw damaged(`The head of conversation ${id}`)
  const fence = { conversationId: id, holder, epoch, since, expires }
  const { takes } = checkWriter(fence, write, now + db.options.leaseSkewMs())
  if (takes) db.run('UPDATE conversations SET lease_holder = NULL WHERE n = ?', n)
  return { n, id, owner, head, head_id, head_depth, branch }
}

export function insertUnique(insert: () => number, onTaken: (error: unknown) => unknown): number {
  try {
    return insert()
  } catch (error) {
    throw isUniqueViolation(error) ? onTaken(error) : error
  }
}

function setLabels(db: Connection, id: string, labels: readonly string[]): void {
  db.run('DELETE FROM labels WHERE conversation = (SELECT n FROM conversations WHERE id = ?)', id)
  for (const label of labels) {
    db.run('INSERT INTO labels (conversation, label) SELECT n, ? FROM conversations WHERE id = ?', label, id)
  }
}
