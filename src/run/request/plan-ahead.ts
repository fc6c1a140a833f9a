// A plan derives something from every message of a history, once. For a long history that was just opened this is done
// here first, in slices, so that the rest of the process does not wait for all of it.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Entry } from '../../core/log.ts'
import { placesOf } from '../../context/along-path.ts'
import { baseView } from '../../context/assemble.ts'
import { requestsOn } from '../../context/cache-history.ts'
import { estimateMessage } from '../../context/count.ts'
import { noDecisions } from '../../context/decisions.ts'
import { inSlices } from '../../core/slices.ts'
import { draftOf, type DraftSource } from './draft.ts'
import { outlineEnd } from '../log/path-cache.ts'

/** Entries that are paired and checked at once, in about 10 ms. Each slice also compares what it continues. */
const sliceSize = 4000

/** How much of a path was prepared, by its first entry. */
const prepared = new WeakMap<Entry, number>()

export async function planAhead(run: DraftSource, history: readonly Entry[]): Promise<void> {
  const [first] = history
  const before = (first && prepared.get(first)) ?? 0
  if (!first || history.length - before < sliceSize / 4) return
  prepared.set(first, history.length)
  // What a summary replaces is not counted, and there is little to check in it.
  const outlined = outlineEnd(history)
  await inSlices(Math.max(before, outlined + 1), (from, most) => {
    for (const { message } of history.slice(from, from + most)) estimateMessage(message)
    return from + most < history.length ? from + most : undefined
  })
  for (let end = before; end < history.length;) {
    end = Math.min(end + (end < outlined ? 4 * sliceSize : sliceSize), history.length)
    const beginning = history.slice(0, end)
    placesOf(beginning)
    requestsOn(beginning)
    baseView(draftOf(run, beginning, noDecisions))
    await nextTurn()
  }
}
