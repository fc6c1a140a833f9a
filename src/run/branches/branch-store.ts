// The store as seen by a run with its own branch: its head is the end of the branch, and the head of the conversation
// does not move. So several models can answer the same message at the same time, under one lease.

import type { NewEntry, Store } from '../../store/store.ts'

export interface BranchStore {
  store: Store
  /** Where the branch ends. */
  head(): string
}

/** The branch of each request of a comparison. */
export type RequestsOfBranches = Map<string, object>

export function branchStore(
  base: Store,
  conversationId: string,
  start: string,
  requests: RequestsOfBranches,
): BranchStore {
  const branch = {}
  let head = start
  let last: Promise<unknown> = Promise.resolve()

  /** One write at a time: tools that run concurrently end in any order, and each result follows the previous one. */
  function inOrder<T>(write: () => Promise<T>): Promise<T> {
    const done = last.then(write)
    last = done.catch(() => {})
    return done
  }

  function here<E extends NewEntry>(entry: E): E {
    return { ...entry, parentId: entry.parentId ?? head, head: 'stay' }
  }

  // Each write waits here for the previous one.
  const { ordered: _, ...unordered } = base
  const store: Store = {
    ...unordered,
    async conversation(owner, id) {
      const stored = await base.conversation(owner, id)
      if (!stored || id !== conversationId) return stored
      const { branch: _, ...rest } = stored
      return { ...rest, head }
    },
    append: (owner, id, entry, write) =>
      inOrder(async () => {
        const added = await base.append(owner, id, here(entry), write)
        head = added.id
        return added
      }),
    appendAll: async (owner, id, entries, write) => {
      const added = []
      for (const entry of entries) added.push(await store.append(owner, id, entry, write))
      return added
    },
    async setHead(owner, id, to) {
      if ('entryId' in to && to.entryId !== null) head = to.entryId
      const stored = await store.conversation(owner, id)
      if (!stored) throw new TypeError('the conversation of a branch is gone')
      return stored
    },
    async openExchange(owner, id, exchange, write) {
      const opened = await base.openExchange(owner, id, exchange, write)
      requests.set(opened.id, branch)
      return opened
    },
    finishExchange: (owner, id, end, write) =>
      inOrder(async () => {
        const { reply } = end
        const finished = await base.finishExchange(owner, id, { ...end, ...(reply && { reply: here(reply) }) }, write)
        if (finished.entry) head = finished.entry.id
        return finished
      }),
    async exchanges(owner, id, page) {
      let cursor = page?.cursor
      for (;;) {
        const { items, next } = await base.exchanges(owner, id, { ...page, ...(cursor !== undefined && { cursor }) })
        const mine = items.filter((one) => (requests.get(one.id) ?? branch) === branch)
        // A page with only other branches' requests is not the end.
        if (mine.length > 0 || next === undefined) return { items: mine, ...(next !== undefined && { next }) }
        cursor = next
      }
    },
    finishTool: (owner, id, callId, end, write) =>
      inOrder(async () => {
        const done = await base.finishTool(owner, id, callId, { ...end, result: here(end.result) }, write)
        head = done.entry.id
        return done
      }),
  }
  return { store, head: () => head }
}
