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
 * With the newest entries, as the server sent them. A log is append-only: a known entry that is not among them is older
 * than the first of them, or has come since the request. Undefined if nothing shows how both belong together.
 */
export function updated(tree: Tree, entries: readonly EntryOutline[], isWhole: boolean): Tree | undefined {
  const isMet = entries.some(({ id }) => tree.byId.has(id))
  if (!isMet && tree.byId.size > 0 && !isWhole) return undefined
  const places = new Map(entries.map(({ id }, i) => [id, i]))
  const start = entries[0]?.at ?? ''
  const placeOf = (id: string) => places.get(id) ?? ((tree.byId.get(id)?.at ?? '') < start ? -1 : entries.length)
  for (const entry of entries) {
    const old = tree.byId.get(entry.id)
    if (old?.parentId === entry.parentId && old.depth === entry.depth) continue
    if (old) removeFrom(tree, old)
    addTo(tree, entry)
    tree.children.get(entry.parentId)?.sort((a, b) => placeOf(a) - placeOf(b))
  }
  return { ...tree }
}

/** For an entry whose position was only assumed. */
function removeFrom(tree: Tree, { id, parentId }: EntryOutline): void {
  tree.byId.delete(id)
  const others = (tree.children.get(parentId) ?? []).filter((one) => one !== id)
  if (others.length > 0) tree.children.set(parentId, others)
  else tree.children.delete(parentId)
}

/** Adds entries that come before all known ones. */
export function addOlder(tree: Tree, entries: readonly EntryOutline[]): void {
  for (const entry of entries.toReversed()) {
    if (tree.byId.has(entry.id)) continue
    tree.byId.set(entry.id, entry)
    const siblings = tree.children.get(entry.parentId)
    if (siblings) siblings.unshift(entry.id)
    else tree.children.set(entry.parentId, [entry.id])
  }
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

export function isOnPath({ byId }: Tree, ancestor: string, leaf: string | null): boolean {
  for (let at = leaf; at !== null; at = byId.get(at)?.parentId ?? null) if (at === ancestor) return byId.has(at)
  return false
}
