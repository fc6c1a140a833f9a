// A page of the history of a conversation.

import type { Entry } from '../core/log.ts'
import type { Store } from '../store/store.ts'
import { missing, requireConversation } from './route.ts'
import type { EntriesQuery } from './schema.ts'
import type { EntriesPage } from './views.ts'

/** The common case, upward from the end, reads only the page; any other reads the outline of the whole conversation. */
export function isUpward({ after, around }: EntriesQuery): boolean {
  return after === undefined && around === undefined
}

export async function pageOf(store: Store, owner: string, id: string, query: EntriesQuery): Promise<EntriesPage> {
  const conversation = await requireConversation(store, owner, id)
  const { limit = 50, before, after, around } = query
  const leaf = query.leaf ?? conversation.head
  for (const entryId of [query.leaf, before, after, around]) {
    const entry = entryId === undefined ? undefined : await store.entry(owner, entryId)
    if (entryId !== undefined && entry?.conversationId !== id) throw missing('entry', entryId)
  }
  if (isUpward(query)) {
    const last = before === undefined ? leaf : ((await store.entry(owner, before))?.parentId ?? null)
    const read = last === null ? [] : await store.history(owner, last, { last: limit })
    const items = entriesAround(read, read.length - 1)
    return { items, before: cursorOf(items), after: before === undefined ? null : (items.at(-1)?.id ?? null) }
  }
  const path = await pathThrough(store, owner, id, after ?? around ?? '', leaf)
  const place = path.indexOf(after ?? around ?? '')
  const from = after === undefined ? Math.max(0, place - Math.floor(limit / 2)) : place + 1
  const page = path.slice(from, from + limit)
  const end = page.at(-1)
  const read = end === undefined ? [] : await store.history(owner, end, { last: page.length })
  const items = entriesAround(read, after === undefined ? place - from : 0)
  const last = items.at(-1)?.id ?? null
  return { items, before: cursorOf(items), after: last === path.at(-1) ? null : last }
}

/** Characters of a page, about: a result of a tool may be very long. */
const mostInPage = 4_000_000

/** The one at a place, and as many before and after it as fit in a page. */
function entriesAround(entries: readonly Entry[], place: number): Entry[] {
  if (entries.length === 0) return []
  let [from, to] = [place, place]
  for (let size = 0; from > 0 || to < entries.length;) {
    const isBefore = to > place && from > 0 && (to === entries.length || place - from < to - place)
    const entry = entries[isBefore ? from - 1 : to]
    size += JSON.stringify(entry).length
    if (size > mostInPage && to > place) break
    if (isBefore) from--
    else to++
  }
  return entries.slice(from, to)
}

function cursorOf(items: readonly Entry[]): string | null {
  return items[0] && items[0].parentId !== null ? items[0].id : null
}

/** The ids from the root to a leaf, through the entry: to the given leaf if it follows, otherwise to the newest one. */
async function pathThrough(
  store: Store,
  owner: string,
  conversationId: string,
  entryId: string,
  leaf: string | null,
): Promise<string[]> {
  const outline = await store.outline(owner, conversationId)
  const parents = new Map(outline.map((entry) => [entry.id, entry.parentId]))
  const up = (from: string | null): string[] => {
    const path: string[] = []
    for (let at: string | null = from; at !== null; at = parents.get(at) ?? null) path.push(at)
    return path.toReversed()
  }
  const ids = up(leaf)
  if (ids.includes(entryId)) return ids
  // In the order of writing, so a child comes after its parent, and the newest child is the last.
  let end = entryId
  const below = new Set([entryId])
  for (const { id, parentId } of outline) {
    if (parentId === null || !below.has(parentId)) continue
    below.add(id)
    end = id
  }
  return up(end)
}
