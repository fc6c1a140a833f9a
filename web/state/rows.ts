// The rows of the chat. A row is a message; tool results are part of the row of their reply. An unchanged row stays the
// same object, so that it need not be rendered again.

import type { Entry, EntryOutline } from '../api/types.ts'

/** At least one entry. */
type Group = [EntryOutline, ...EntryOutline[]]

export interface Row {
  key: string
  role: EntryOutline['role']
  /** The entry, then the tool results that belong to it. */
  outlines: Group
  /** Absent if not loaded yet. */
  entry: Entry | undefined
  results: Entry[]
}

let lastPath: readonly EntryOutline[] = []
let lastRows: Row[] = []

export function rowsOf(path: readonly EntryOutline[], entries: ReadonlyMap<string, Entry>): Row[] {
  const groups = path === lastPath ? lastRows.map((row) => row.outlines) : groupsOf(path)
  // At the same index after new entries, and elsewhere after older ones.
  let byKey: Map<string, Row> | undefined
  const rows = groups.map((group, i) => {
    const key = group[0].id
    let old = lastRows[i]
    if (old?.key !== key) {
      byKey ??= new Map(lastRows.map((row) => [row.key, row]))
      old = byKey.get(key)
    }
    return old && isCurrent(old, group, entries) ? old : rowOf(group, entries)
  })
  lastPath = path
  lastRows = rows
  return rows
}

function groupsOf(path: readonly EntryOutline[]): Group[] {
  const made: Group[] = []
  for (const outline of path) {
    const last = made.at(-1)
    const role = last?.[0].role
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

function rowOf(group: Group, entries: ReadonlyMap<string, Entry>): Row {
  const { id, role } = group[0]
  const results = group.length === 1 ? [] : group.slice(1).flatMap((outline) => entries.get(outline.id) ?? [])
  return { key: id, role, outlines: group, entry: entries.get(id), results }
}
