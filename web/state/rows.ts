// The rows of the chat. A row is a message; tool results are part of the row of their reply. An unchanged row stays the
// same object, so that it need not be rendered again.

import type { Entry, EntryOutline } from '../api/types.ts'

export interface Row {
  key: string
  role: EntryOutline['role']
  /** The entry, then the tool results that belong to it. */
  outlines: EntryOutline[]
  /** Absent if not loaded yet. */
  entry: Entry | undefined
  results: Entry[]
}

let lastPath: readonly EntryOutline[] = []
let groups: EntryOutline[][] = []
let lastRows = new Map<string, Row>()

export function rowsOf(path: readonly EntryOutline[], entries: ReadonlyMap<string, Entry>): Row[] {
  const isSamePath = path === lastPath
  if (!isSamePath) groups = groupsOf(path)
  lastPath = path
  const rows: Row[] = []
  for (const group of groups) {
    const [first] = group
    if (!first) continue
    const old = lastRows.get(first.id)
    rows.push(old && isCurrent(old, group, entries) ? old : rowOf(first, group, entries))
  }
  if (!isSamePath) lastRows = new Map()
  for (const row of rows) lastRows.set(row.key, row)
  return rows
}

function groupsOf(path: readonly EntryOutline[]): EntryOutline[][] {
  const made: EntryOutline[][] = []
  for (const outline of path) {
    const last = made.at(-1)
    const role = last?.[0]?.role
    if (last && outline.role === 'tool' && (role === 'assistant' || role === 'tool')) last.push(outline)
    else made.push([outline])
  }
  return made
}

function isCurrent(row: Row, group: readonly EntryOutline[], entries: ReadonlyMap<string, Entry>): boolean {
  if (row.outlines.length !== group.length || row.entry !== entries.get(row.key)) return false
  let at = 0
  for (let i = 1; i < group.length; i++) {
    const result = entries.get(group[i]?.id ?? '')
    if (result && row.results[at++] !== result) return false
  }
  return at === row.results.length
}

function rowOf(first: EntryOutline, group: EntryOutline[], entries: ReadonlyMap<string, Entry>): Row {
  const results = group.slice(1).flatMap(({ id }) => entries.get(id) ?? [])
  return { key: first.id, role: first.role, outlines: group, entry: entries.get(first.id), results }
}
