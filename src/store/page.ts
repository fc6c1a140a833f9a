// Keyset pages: the cursor contains the last row's sort key, so that a page costs the same at any depth and rows that
// are added or deleted in between shift nothing.

import { badInput } from '../core/error.ts'
import type { Page, PageOf } from './store.ts'

export const mostOnPage = 500

export function pageSize(page: PageOf | undefined): number {
  const limit = page?.limit ?? 50
  if (!Number.isInteger(limit) || limit < 1)
    throw badInput(`A page cannot have ${limit} rows: ask for 1 to ${mostOnPage}.`)
  return Math.min(limit, mostOnPage)
}

/** `rows` has one more than requested, if there is more. */
export function pageOf<Row, T>(
  rows: readonly Row[],
  size: number,
  key: (row: Row) => readonly (string | number)[],
  item: (row: Row) => T,
): Page<T> {
  const last = rows.length > size ? rows[size - 1] : undefined
  return {
    items: rows.slice(0, size).map(item),
    ...(last !== undefined && { next: Buffer.from(JSON.stringify(key(last))).toString('base64url') }),
  }
}

/** The sort key in a cursor: its fields have these types. */
export function readCursor(cursor: string, types: readonly ('string' | 'number')[]): (string | number)[] {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(key) && key.length === types.length && key.every((field, i) => typeof field === types[i])) {
      return key as (string | number)[]
    }
  } catch {
    // reported below
  }
  throw badInput('This cursor is not from a page of this list. Begin again without one.')
}

/** Rows with a number below this one come next; all are below that of the first page. */
export function cursorNumber(cursor: string | undefined, first = Number.MAX_SAFE_INTEGER): number {
  return cursor === undefined ? first : Number(readCursor(cursor, ['number'])[0])
}
