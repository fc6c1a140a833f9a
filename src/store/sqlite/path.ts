// The path to an entry. Entries never change, so a long path is read in slices, and other work of the process continues
// in between.

import type { SQLOutputValue } from 'node:sqlite'
import type { Entry } from '../../core/log.ts'
import { byDepth, isLine, isWhole, outlinedEntries, wholePath } from '../sql/path.ts'
import type { OutlinedRow, PathEnd, PathRow } from '../sql/path.ts'
import { inSlices } from '../../core/slices.ts'
import type { Connection } from './connection.ts'

export async function pathTo(db: Connection, end: PathEnd, last: number): Promise<Entry[]> {
  if (isWhole(end, last)) {
    const rows = await lineTo<PathRow>(db, end, pathColumns)
    if (isLine(rows, end)) return wholePath(rows, last, end.conversation_id)
  }
  const rows = await upFrom<PathRow>(db, end, pathColumns, last + 1)
  return wholePath(rows.sort(byDepth), last, end.conversation_id)
}

/** Undefined if the path does not lead through the entry. */
export async function outlinedPath(db: Connection, end: PathEnd, through: string): Promise<Entry[] | undefined> {
  const ancestor = await db.read(() =>
    db.get<{ n: number; depth: number }>(
      'SELECT n, depth FROM entries WHERE id = ? AND conversation = ?',
      through,
      end.conversation,
    ),
  )
  if (!ancestor || ancestor.depth >= end.depth) return undefined
  const tail = await pathTo(db, end, end.depth - ancestor.depth)
  if (tail[0]?.parentId !== through) return undefined
  const place = { ...ancestor, conversation: end.conversation }
  const rows = isWhole(end, Infinity)
    ? await lineTo<OutlinedRow>(db, place, outlinedColumns)
    : (await upFrom<OutlinedRow>(db, place, outlinedColumns, Infinity)).toReversed()
  const isComplete = rows.length === ancestor.depth + 1 && rows.every((row, i) => row[1] === i)
  return isComplete ? [...outlinedEntries(rows, end.conversation_id), ...tail] : undefined
}

const pathColumns = 'e.id, e.depth, e.at, e.checksum, e.message'

const outlinedColumns = `e.id, e.depth, e.at, e.checksum, e.role,
  CASE e.role WHEN 'assistant' THEN e.message ->> '$.origin.provider' END,
  CASE e.role WHEN 'assistant' THEN e.message ->> '$.origin.model' END,
  CASE WHEN e.depth = 0 OR e.role = 'system' THEN e.message END`

type Place = Pick<PathEnd, 'n' | 'depth' | 'conversation'>

/** The rows of a conversation without branches, from its root to this depth. */
async function lineTo<R extends SQLOutputValue[]>(db: Connection, end: Place, columns: string): Promise<R[]> {
  const select = `SELECT ${columns}, e.n FROM entries e WHERE e.conversation = ? AND e.depth <= ? AND`
  const rows: R[] = []
  await inSlices(0, async (parent, limit) => {
    const page = await db.read(() =>
      parent === 0
        ? db.lists<R>(`${select} e.parent IS NULL`, end.conversation, end.depth)
        : db.lists<R>(
            `${select} e.parent >= ? ORDER BY e.parent LIMIT ? + 0`,
            end.conversation,
            end.depth,
            parent,
            limit,
          ),
    )
    rows.push(...page)
    // The next one refers to the last of these.
    return page.length === 0 ? undefined : Number(page.at(-1)?.at(-1))
  })
  return rows
}

/** The rows of at most so many entries, from the end of a path towards its root. */
async function upFrom<R extends SQLOutputValue[]>(
  db: Connection,
  end: Place,
  columns: string,
  count: number,
): Promise<R[]> {
  const rows: R[] = []
  await inSlices({ n: end.n, depth: end.depth }, async ({ n, depth }, pageLimit) => {
    const limit = Math.min(pageLimit, count - rows.length)
    // Without joins and sorting, which would copy the messages: the entries of a path refer to each other.
    const page = await db.read(() =>
      db.lists<R>(
        `WITH RECURSIVE up (n, parent, depth) AS (
           SELECT n, parent, depth FROM entries WHERE n = ? AND depth = ? AND conversation = ?
           UNION ALL
           SELECT e.n, e.parent, e.depth FROM up
           JOIN entries e ON e.n = up.parent AND e.depth = up.depth - 1 AND e.conversation = ?
           LIMIT ? + 0
         )
         SELECT ${columns}, e.parent FROM up CROSS JOIN entries e ON e.n = up.n`,
        n,
        depth,
        end.conversation,
        end.conversation,
        limit,
      ),
    )
    rows.push(...page)
    const parent = page.at(-1)?.at(-1)
    if (typeof parent !== 'number' || rows.length >= count) return undefined
    return { n: parent, depth: depth - page.length }
  })
  return rows
}
