// Values computed for a list of messages, reused for the next list with the same beginning: a conversation is planned
// again for every request, and nearly all of it is unchanged. Lists that were given here must never be mutated.

import { sharedLength } from '../core/lists.ts'
import type { Message } from '../core/message.ts'

export interface Prefixes<T> {
  /**
   * The value of the list that shares the longest prefix with this one, and the length of that prefix. `fits`: only of
   * those whose value can be used.
   */
  longest(messages: readonly Message[], fits?: (value: T) => boolean): { shared: number; value: T } | undefined
  keep(messages: readonly Message[], value: T): void
}

interface Memo<T> {
  messages: readonly Message[]
  value: T
}

/** A history and the views that policies derive from it begin with the same message: folded, and with a mention. */
const most = 3

export function prefixes<T>(): Prefixes<T> {
  const lists = new WeakMap<Message, Memo<T>[]>()
  return {
    longest(messages, fits) {
      let best: { shared: number; value: T } | undefined
      for (const memo of messages[0] ? (lists.get(messages[0]) ?? []) : []) {
        if (fits && !fits(memo.value)) continue
        // Another one is only better if it has the next message too.
        const next = best?.shared ?? 0
        if (best && (next >= messages.length || memo.messages[next] !== messages[next])) continue
        const shared = sharedBy(messages, memo.messages)
        if (!best || shared > best.shared) best = { shared, value: memo.value }
      }
      return best
    },
    keep(messages, value) {
      const [first] = messages
      if (!first) return
      // One that this one extends is no longer needed. Another one may have the same end, but not the same fold.
      const others = (lists.get(first) ?? []).filter(
        (memo) =>
          messages[memo.messages.length - 1] !== memo.messages.at(-1) ||
          sharedBy(messages, memo.messages) < memo.messages.length,
      )
      lists.set(first, [{ messages, value }, ...others].slice(0, most))
    },
  }
}

/** Whether one of the messages has a property. The beginning of a list without it is not checked again. */
export function hasOne(is: (message: Message) => boolean): (messages: readonly Message[]) => boolean {
  const without = prefixes<true>()
  return (messages) => {
    let index = without.longest(messages)?.shared ?? 0
    while (index < messages.length && !is(messages[index] as Message)) index++
    if (index < messages.length) return true
    without.keep(messages, true)
    return false
  }
}

/**
 * The last comparison of a list: a plan asks the same for each thing that it derives from the list. The other list is
 * known by a number, because a reference would keep it in memory, a weak one too as long as no task of the event loop ends.
 */
const compared = new WeakMap<readonly Message[], { other: number; shared: number }>()
const numbers = new WeakMap<readonly Message[], number>()
let lastNumber = 0

/** How many messages two lists have in common at their beginning. */
export function sharedBy(a: readonly Message[], b: readonly Message[]): number {
  if (a === b) return a.length
  const other = numbers.get(b) ?? ++lastNumber
  numbers.set(b, other)
  const known = compared.get(a)
  if (known?.other === other) return known.shared
  const shared = sharedLength(a, b)
  compared.set(a, { other, shared })
  return shared
}
