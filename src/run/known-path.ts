// The path to where a conversation goes on, from one run to the next. Entries never change, so those that were read
// once are not read again; and being the same objects, they need not be written anew for a wire either.

import type { Entry } from '../core/log.ts'
import type { Store } from '../store/store.ts'

/** The path from the root to an entry. The array is the caller's, who appends to it as the conversation goes on. */
export type PathTo = (head: string | null) => Promise<Entry[]>

/** More than another process adds between two runs, as a rule. */
const tailLength = 16

export function knownPath(store: Pick<Store, 'history'>, owner: string): PathTo {
  let path: Entry[] = []
  return async (head) => {
    path = head === null ? [] : (backTo(head) ?? (await onTo(head)))
    return path
  }

  function backTo(head: string): Entry[] | undefined {
    const place = path.findLastIndex((entry) => entry.id === head)
    return place < 0 ? undefined : path.slice(0, place + 1)
  }

  async function onTo(head: string): Promise<Entry[]> {
    const tail = path.length === 0 ? [] : await store.history(owner, head, { last: tailLength })
    const [first] = tail
    const meets = first && first.depth > 0 && path[first.depth - 1]?.id === first.parentId
    return meets ? [...path.slice(0, first.depth), ...tail] : store.history(owner, head)
  }
}
