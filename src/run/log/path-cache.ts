// The path to the head of a conversation, cached from one run to the next. Entries never change, so they are read once;
// and since they are the same objects, they need not be encoded again either. Of a long path, what a recorded summary
// replaces in every request is read without its content.

import type { Conversation, Entry } from '../../core/log.ts'
import { isOutline } from '../../store/outline-message.ts'
import type { Store } from '../../store/store.ts'

type ConversationHead = Pick<Conversation, 'id' | 'head' | 'entries'>

/**
 * The path to the head. The caller owns the array and appends to it as the conversation continues. `whole`: with the
 * content of all messages.
 */
export type PathTo = (conversation: ConversationHead, whole?: boolean) => Promise<Entry[]>

type PathStore = Pick<Store, 'history' | 'overlays'>

/** Usually more than another process adds between two runs. */
const tailLength = 16

/** Shorter paths are read at once: to look for a summary first would take as long. */
const longPath = 1000

interface CachedPath {
  path: Entry[]
  /** How much of the path must stay for its summary to apply, if its beginning is an outline. */
  least: number
}

export function cachedPath(store: PathStore, owner: string, cached: CachedPath = { path: [], least: 0 }): PathTo {
  return async ({ id, head, entries }, whole = false) => {
    if (head === null || (whole && cached.least > 0)) Object.assign(cached, { path: [], least: 0 })
    if (head === null) return cached.path
    cached.path =
      shorterPath(head) ?? (await longerPath(head)) ?? (await readPath(id, head, whole || entries < longPath))
    return cached.path
  }

  /** The beginning of the cached path, if the head is on it. */
  function shorterPath(head: string): Entry[] | undefined {
    const { path, least } = cached
    const index = path.findLastIndex((entry) => entry.id === head)
    return index < 0 || index < least - 1 ? undefined : path.slice(0, index + 1)
  }

  /** The cached path with the entries that were added to it. */
  async function longerPath(head: string): Promise<Entry[] | undefined> {
    const { path, least } = cached
    const tail = path.length === 0 ? [] : await store.history(owner, head, { last: tailLength })
    const [first] = tail
    const continues = first && first.depth > 0 && path[first.depth - 1]?.id === first.parentId
    return continues && first.depth >= least ? [...path.slice(0, first.depth), ...tail] : undefined
  }

  async function readPath(id: string, head: string, whole: boolean): Promise<Entry[]> {
    cached.least = 0
    const summary = whole ? undefined : await lastSummary(store, owner, id)
    if (!summary) return store.history(owner, head)
    const path = await store.history(owner, head, { outlineThrough: summary.through })
    if (outlineEnd(path) < 0) return path
    const madeAt = path.findLastIndex((entry) => entry.id === summary.madeAt)
    if (madeAt < 0) return store.history(owner, head)
    cached.least = madeAt + 1
    return path
  }
}

/** A summary that every model can read. */
async function lastSummary(
  store: PathStore,
  owner: string,
  conversationId: string,
): Promise<{ through: string; madeAt: string } | undefined> {
  const overlays = await store.overlays(owner, conversationId)
  const last = overlays.findLast(
    ({ kind, undone, data }) => kind === 'compaction' && !undone && typeof data.text === 'string',
  )
  return typeof last?.data.through === 'string' ? { through: last.data.through, madeAt: last.entryId } : undefined
}

/** The index of the last entry whose content was not read; -1: there is none. */
export function outlineEnd(path: readonly Entry[]): number {
  // All from the second one on, except for messages of the system.
  for (let index = 1; index < path.length; index++) {
    const { message } = path[index] as Entry
    if (isOutline(message)) return path.findLastIndex((entry) => isOutline(entry.message))
    if (message.role !== 'system') return -1
  }
  return -1
}

/** The same path with the content of all messages. The last entries may not be stored yet. */
export async function readWhole(
  { store, owner }: { store: Pick<Store, 'history'>; owner: string },
  path: readonly Entry[],
): Promise<readonly Entry[]> {
  const end = path[outlineEnd(path)]
  return end ? [...(await store.history(owner, end.id)), ...path.slice(end.depth + 1)] : path
}

const cacheLimits = { conversations: 64, entries: 20_000 }

/** For a process with many conversations: the paths of the most recent ones, up to a size limit. */
export function pathCache(store: PathStore): (owner: string, conversationId: string) => PathTo {
  const latest = new Map<string, CachedPath>()
  return (owner, conversationId) => {
    const name = JSON.stringify([owner, conversationId])
    const cached = latest.get(name) ?? { path: [], least: 0 }
    latest.delete(name)
    latest.set(name, cached)
    evict()
    return cachedPath(store, owner, cached)
  }

  function evict(): void {
    let entries = 0
    for (const [i, [name, { path }]] of [...latest].toReversed().entries()) {
      entries += path.length
      if (i >= cacheLimits.conversations || (i > 0 && entries > cacheLimits.entries)) latest.delete(name)
    }
  }
}
