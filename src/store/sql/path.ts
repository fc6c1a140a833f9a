// The path from the root to an entry, as both SQL stores read it: rows in order of depth become entries.

import type { Entry } from '../../core/log.ts'
import type { Message } from '../../core/message.ts'
import { inSlices } from '../../core/slices.ts'
import { readMessage } from '../new-entry.ts'
import { outlineOf } from '../outline-message.ts'
import { damaged } from '../store-errors.ts'

/** An array, not an object: reading a path of thousands of entries takes a fifth less time. */
export type PathRow = [id: string, depth: number, at: string, checksum: number, message: string]

export function byDepth(a: PathRow, b: PathRow): number {
  return a[1] - b[1]
}

/** The end of a path, and how many entries its conversation has. */
export interface PathEnd {
  n: number
  depth: number
  conversation: number
  conversation_id: string
  entries: number
}

/** Whether the path is the whole conversation: then it can be read without following parents. */
export function isWhole(end: PathEnd, last: number): boolean {
  return last === Infinity && end.entries === end.depth + 1
}

/** Whether the rows are one unbranched path of this length; a conversation may have grown since. */
export function isLine(rows: readonly PathRow[], end: PathEnd): boolean {
  return rows.length === end.entries && rows.every((row, i) => row[1] === i)
}

/** The last entries of a path, from its rows in order of depth: all of them, or one more than requested. */
export async function wholePath(rows: readonly PathRow[], last: number, conversationId: string): Promise<Entry[]> {
  const end = rows.at(-1)
  if (!end) return []
  const [endId, endDepth] = end
  // The depth of the last one says how many must come before it.
  if (rows.length !== Math.min(endDepth + 1, last + 1)) throw damaged(`The history of entry ${endId}`)
  const entries: Entry[] = []
  await inSlices(Math.max(0, rows.length - last), (from, limit) => {
    const end = Math.min(from + limit, rows.length)
    // By index: iterating over pairs allocates for each row.
    for (let i = from; i < end; i++) {
      const row = rows[i] as PathRow
      const message = readMessage(row[0], row[3], row[4])
      entries.push({
        id: row[0],
        conversationId,
        parentId: rows[i - 1]?.[0] ?? null,
        depth: row[1],
        message,
        at: row[2],
      })
    }
    return end < rows.length ? end : undefined
  })
  return entries
}

/** The message is null if it is not needed; provider and model are those of a reply. */
export type OutlinedRow = [
  id: string,
  depth: number,
  at: string,
  checksum: number,
  role: Message['role'],
  provider: string | null,
  model: string | null,
  message: string | null,
]

/** The beginning of a path, in order of depth, without the content of its messages. */
export function outlinedEntries(rows: readonly OutlinedRow[], conversationId: string): Entry[] {
  return rows.map(([id, depth, at, checksum, role, provider, model, message], i) => ({
    id,
    conversationId,
    parentId: rows[i - 1]?.[0] ?? null,
    depth,
    message: message === null ? outlineOf(role, provider ?? '', model ?? '') : readMessage(id, checksum, message),
    at,
  }))
}
