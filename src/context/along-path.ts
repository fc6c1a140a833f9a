// State derived from a path of the log, continued from where it was: a conversation is planned again for every request,
// and only its end is new. An entry has only one path to it, so if the last processed entry is still at its position,
// everything before it is too.

import type { Entry } from '../core/log.ts'

type Placed = Pick<Entry, 'id'>

interface Known<S> {
  state: S
  length: number
  last: string
}

/**
 * Returns the state of a path: that of its beginning, as last computed, plus what each new entry adds to it. If
 * `startsAnew` holds for an entry, the state before it is irrelevant, so a new path is read from the last such entry.
 */
export function alongPath<E extends Placed, S>(
  begin: () => S,
  add: (state: S, entry: E, place: number) => void,
  startsAnew: (entry: E) => boolean = () => false,
): (entries: readonly E[]) => S {
  const paths = new WeakMap<E, Known<S>>()
  return (entries) => {
    const [first] = entries
    if (!first) return begin()
    let known = paths.get(first)
    if (!known || known.length > entries.length || entries[known.length - 1]?.id !== known.last) {
      known = { state: begin(), length: Math.max(0, entries.findLastIndex(startsAnew)), last: '' }
      paths.set(first, known)
    }
    for (; known.length < entries.length; known.length++) {
      const entry = entries[known.length] as E
      add(known.state, entry, known.length)
      known.last = entry.id
    }
    return known.state
  }
}

/** The position of each entry of a path, by its id. */
export const placesOf: (entries: readonly Placed[]) => ReadonlyMap<string, number> = alongPath(
  () => new Map<string, number>(),
  (places, entry, place) => void places.set(entry.id, place),
)
