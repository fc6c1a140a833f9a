// The path to the head of a conversation, cached from one run to the next. Entries never change, so they are read once;
// and since they are the same objects, they need not be encoded again either. Of a long path, what a recorded summary
// replaces in every request is read without its content.

import type { Conversation, Entry } from '../../core/log.ts'
import { isOutline } from '../../store/outline-message.ts'
import type { Store } from '../../store/store.ts'

type Place = Pick<Conversation, 'id' | 'head' | 'entries'>

/**
 * The path to the head. The caller owns the array and appends to it as the conversation continues. `whole`: with the
 * content of all messages.
 */
export type PathTo = (conversation: Place, whole?: boolean) => Promise<Entry[]>

type PathStore = Pick<Store, 'history' | 'overlays'>

/** Usually more than another process adds between two runs. */
const tailLength = 16

/** Shorter ones are read at once: to look for a summary first would take as long. */
const longPath = 1000

interface CachedPath {
  path: Entry[]
  /** How much of the path must stay for its summary to apply, if its beginning is an outline. */
  least: number
}

export function cachedPath(store: PathStore, owner: string, known: CachedPath = { path: [], least: 0 }): PathTo {
  return async ({ id, head, entries }, whole = false) => {
    if (head === null || (whole && known.least > 0)) Object.assign(known, { path: [], least: 0 })
    if (head === null) return known.path
    known.path = backTo(head) ?? (await onTo(head)) ?? (await readPath(id, head, whole || entries < longPath))
    return known.path
  }

  function backTo(head: string): Entry[] | undefined {
    const { path, least } = known
    const place = path.findLastIndex((entry) => entry.id === head)
    return place < 0 || place < least - 1 ? undefined : path.slice(0, place + 1)
  }

  async function onTo(head: string): Promise<Entry[] | undefined> {
    const { path, least } = known
    const tail = path.length === 0 ? [] : await store.history(owner, head, { last: tailLength })
    const [first] = tail
    const meets = first && first.depth > 0 && path[first.depth - 1]?.id === first.parentId
    return meets && first.depth >= least ? [...path.slice(0, first.depth), ...tail] : undefined
  }

  async function readPath(id: string, head: string, whole: boolean): Promise<Entry[]> {
    known.least = 0
    const summary = whole ? undefined : await lastSummary(store, owner, id)
    if (!summary) return store.history(owner, head)
    const path = await store.history(owner, head, { outlineThrough: summary.through })
    if (outlineEnd(path) < 0) return path
    const madeAt = path.findLastIndex((entry) => entry.id === summary.madeAt)
    if (madeAt < 0) return store.history(owner, head)
    known.least = madeAt + 1
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

const room = { conversations: 64, entries: 20_000 }

/** For a process with many conversations: the paths of the most recent ones, up to a size limit. */
export function pathCache(store: PathStore): (owner: string, conversationId: string) => PathTo {
  const latest = new Map<string, CachedPath>()
  return (owner, conversationId) => {
    const name = JSON.stringify([owner, conversationId])
    const known = latest.get(name) ?? { path: [], least: 0 }
    latest.delete(name)
    latest.set(name, known)
    forget()
    return cachedPath(store, owner, known)
  }

  function forget(): void {
    let entries = 0
    for (const [i, [name, { path }]] of [...latest].toReversed().entries()) {
      entries += path.length
      if (i >= room.conversations || (i > 0 && entries > room.entries)) latest.delete(name)
    }
  }
}
