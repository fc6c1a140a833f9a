// What was worked out for a list of messages, for the next list that begins like it: a conversation is planned again for
// every request, and nearly all of it is as it was. Lists that were given here must not be changed any more.

import type { Message } from '../core/message.ts'

export interface Prefixes<T> {
  /** The value of the list that shares the most with this one, and how many messages they share. */
  longest(messages: readonly Message[]): { shared: number; value: T } | undefined
  keep(messages: readonly Message[], value: T): void
}

interface Kept<T> {
  messages: readonly Message[]
  value: T
}

/** A history, and what policies leave of it, begin with the same message. */
const most = 2

export function prefixes<T>(): Prefixes<T> {
  const lists = new WeakMap<Message, Kept<T>[]>()
  return {
    longest(messages) {
      let best: { shared: number; value: T } | undefined
      for (const kept of messages[0] ? (lists.get(messages[0]) ?? []) : []) {
        const shared = sharedBy(messages, kept.messages)
        if (!best || shared > best.shared) best = { shared, value: kept.value }
      }
      return best
    },
    keep(messages, value) {
      const [first] = messages
      if (!first) return
      // One that this one continues from is not needed any more.
      const others = (lists.get(first) ?? []).filter(
        (kept) => messages[kept.messages.length - 1] !== kept.messages.at(-1),
      )
      lists.set(first, [{ messages, value }, ...others].slice(0, most))
    },
  }
}

function sharedBy(a: readonly Message[], b: readonly Message[]): number {
  const end = Math.min(a.length, b.length)
  let shared = 0
  while (shared < end && a[shared] === b[shared]) shared++
  return shared
}
