// A plan derives something from every message of a history, once. For a long history that was just opened this is done
// here first, in slices, so that the rest of the process does not wait for all of it.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Entry, Overlay } from '../../core/log.ts'
import type { Message } from '../../core/message.ts'
import { placesOf } from '../../context/along-path.ts'
import { baseView } from '../../context/assemble.ts'
import { requestsOn } from '../../context/cache-history.ts'
import { countedBefore, estimateMessage, estimateResults } from '../../context/count.ts'
import { foldingsIn, noDecisions, type Decisions, type FoldDecision } from '../../context/decisions.ts'
import { readDecisions } from '../../context/overlay-codec.ts'
import { findToolTurns, foldedAhead, isWorthFolding, leastSaving } from '../../context/tool-turns.ts'
import type { View } from '../../context/view.ts'
import type { FoldStyle } from '../../settings/policy.ts'
import { inSlices, takeInSlices } from '../../core/slices.ts'
import { draftOf, type DraftSource } from './draft.ts'
import { outlineEnd } from '../log/path-cache.ts'

/** Entries that are paired and checked at once, in about 10 ms. Each slice also compares what it continues. */
const sliceSize = 4000

/** The last entry that was prepared, by the first one of its path. */
const prepared = new WeakMap<Entry, Entry>()

export async function planAhead(
  run: DraftSource,
  history: readonly Entry[],
  overlays: Promise<readonly Overlay[]>,
): Promise<void> {
  const [first] = history
  const last = first && prepared.get(first)
  // What is derived from a path is kept for one branch at a time.
  const before = last && history[last.depth]?.id === last.id ? last.depth + 1 : 0
  if (!first || history.length - before < sliceSize / 4) return
  prepared.set(first, history.at(-1) as Entry)
  // What a summary replaces is not counted, and there is little to check in it.
  const outlined = outlineEnd(history)
  for (let end = before; end < history.length;) {
    end = Math.min(end + (end < outlined ? 4 * sliceSize : sliceSize), history.length)
    const beginning = history.slice(0, end)
    placesOf(beginning)
    requestsOn(beginning)
    baseView(draftOf(run, beginning, noDecisions))
    await nextTurn()
  }
  const count = counting(readDecisions(history, await overlays).folds)
  await inSlices(Math.max(before, outlined + 1), (from, most) => {
    for (let place = from; place < Math.min(from + most, history.length); place++) {
      count((history[place] as Entry).message, place)
    }
    return from + most < history.length ? from + most : undefined
  })
}

/** Of results that are folded, only as much is counted as shows that they are worth it: they are not sent. */
function counting(folds: readonly FoldDecision[]): (message: Message, place: number) => void {
  const ranges = folds.toSorted((a, b) => a.from - b.from)
  let at = 0
  let isFolded = false
  return (message, place) => {
    if (message.role === 'tool' && isFolded) {
      estimateResults(message, usuallyWorthIt)
      return
    }
    estimateMessage(message)
    if (message.role !== 'assistant') return
    while (at < ranges.length && (ranges[at] as FoldDecision).through < place) at++
    isFolded = at < ranges.length && (ranges[at] as FoldDecision).from <= place
  }
}

/** Tokens of a result: its fold seldom has more than half of them. */
const usuallyWorthIt = 2 * leastSaving

/** Fewer are made at once, so that a short plan stays in one turn of the event loop, and its writes in one commit. */
const manyTurns = 200

/** Whether folding each tool turn is worth it, and the texts of those that are folded, if they are new and many. */
export async function foldAhead(view: View, decisions: Decisions, style: FoldStyle = 'stub'): Promise<void> {
  const { messages } = view
  const unknown = findToolTurns(messages).filter(({ saving }) => saving?.style !== style)
  if (unknown.length >= manyTurns) {
    await inSlices(0, (from, most) => {
      for (const turn of unknown.slice(from, from + most)) isWorthFolding(messages, turn, style)
      return from + most < unknown.length ? from + most : undefined
    })
  }
  const foldings = foldingsIn(view, decisions)
  if (foldings.length >= manyTurns) await takeInSlices(foldedAhead(view, foldings))
}

/** Counts messages of a long history that were left out so far, if they are many. */
export async function countAhead(messages: readonly Message[]): Promise<void> {
  const before = countedBefore(messages)
  if (messages.length - before < sliceSize / 4) return
  await inSlices(before, (from, most) => {
    for (const message of messages.slice(from, from + most)) estimateMessage(message)
    return from + most < messages.length ? from + most : undefined
  })
}
