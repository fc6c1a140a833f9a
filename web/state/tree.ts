// The tree of a conversation without its messages: the entries, and the displayed path. It is loaded completely, the
// newest entries first, so that a list of ten thousand messages has a known length and known branches.

import type { EntryOutline } from '../api/types.ts'

export interface Tree {
  byId: Map<string, EntryOutline>
  children: Map<string | null, string[]>
}

export function treeOf(entries: readonly EntryOutline[]): Tree {
  const tree: Tree = { byId: new Map(), children: new Map() }
  for (const entry of entries) addTo(tree, entry)
  return tree
}

/**
 * With the newest entries, as the server sent them. Known entries before the first of them stay before; a log is
 * append-only, so the others have come since the request. Undefined if nothing shows how both belong together.
 */
export function updated(tree: Tree, entries: readonly EntryOutline[], isWhole: boolean): Tree | undefined {
  const known = [...tree.byId.values()]
  const sent = new Set(entries.map(({ id }) => id))
  const met = known.findIndex(({ id }) => sent.has(id))
  if (met < 0 && known.length > 0 && !isWhole) return undefined
  return treeOf([...known.slice(0, Math.max(0, met)), ...entries, ...known.slice(Math.max(0, met))])
}

/** With entries that come before all known ones. */
export function withOlder(tree: Tree, entries: readonly EntryOutline[]): Tree {
  return treeOf([...entries, ...tree.byId.values()])
}

/** Whether it was new. */
export function addTo(tree: Tree, entry: EntryOutline): boolean {
  if (tree.byId.has(entry.id)) return false
  tree.byId.set(entry.id, entry)
  const siblings = tree.children.get(entry.parentId)
  if (siblings) siblings.push(entry.id)
  else tree.children.set(entry.parentId, [entry.id])
  return true
}

export function pathTo(tree: Tree, leaf: string | null): EntryOutline[] {
  const path: EntryOutline[] = []
  for (let at = leaf === null ? undefined : tree.byId.get(leaf); at;) {
    path.push(at)
    at = at.parentId === null ? undefined : tree.byId.get(at.parentId)
  }
  return path.toReversed()
}

/** The alternatives at the same position, oldest first, including this one. */
export function siblingsOf(tree: Tree, entry: EntryOutline): string[] {
  return (tree.children.get(entry.parentId) ?? []).filter((id) => tree.byId.get(id)?.role === entry.role)
}

/** The end of the path through an entry, taking the newest at every fork. */
export function newestLeaf(tree: Tree, id: string): string {
  let leaf = id
  for (let next = tree.children.get(leaf)?.at(-1); next !== undefined; next = tree.children.get(leaf)?.at(-1))
    leaf = next
  return leaf
}

export function isOnPath(tree: Tree, ancestor: string, leaf: string | null): boolean {
  return pathTo(tree, leaf).some((entry) => entry.id === ancestor)
}
