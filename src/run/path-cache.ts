// The path to the head of a conversation, cached from one run to the next. Entries never change, so they are read once;
// and since they are the same objects, they need not be encoded again either.

import type { Entry } from '../core/log.ts'
import type { Store } from '../store/store.ts'

/** The path from the root to an entry. The caller owns the array and appends to it as the conversation continues. */
export type PathTo = (head: string | null) => Promise<Entry[]>

/** Usually more than another process adds between two runs. */
const tailLength = 16

interface CachedPath {
  path: Entry[]
}

export function cachedPath(store: Pick<Store, 'history'>, owner: string, known: CachedPath = { path: [] }): PathTo {
  return async (head) => {
    known.path = head === null ? [] : (backTo(head) ?? (await onTo(head)))
    return known.path
  }

  function backTo(head: string): Entry[] | undefined {
    const { path } = known
    const place = path.findLastIndex((entry) => entry.id === head)
    return place < 0 ? undefined : path.slice(0, place + 1)
  }

  async function onTo(head: string): Promise<Entry[]> {
    const { path } = known
    const tail = path.length === 0 ? [] : await store.history(owner, head, { last: tailLength })
    const [first] = tail
    const meets = first && first.depth > 0 && path[first.depth - 1]?.id === first.parentId
    return meets ? [...path.slice(0, first.depth), ...tail] : store.history(owner, head)
  }
}

const room = { conversations: 64, entries: 20_000 }

/** For a process with many conversations: the paths of the most recent ones, up to a size limit. */
export function pathCache(store: Pick<Store, 'history'>): (owner: string, conversationId: string) => PathTo {
  const latest = new Map<string, CachedPath>()
  return (owner, conversationId) => {
    const name = JSON.stringify([owner, conversationId])
    const known = latest.get(name) ?? { path: [] }
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
