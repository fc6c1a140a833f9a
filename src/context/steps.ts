// Cuts by count, in steps. They depend only on the messages, so a longer history has the same cuts and perhaps a new one
// at its end (P4). If both tool turns and messages are limited, turns are folded when the window moves: two independent
// rhythms would break the prompt cache twice as often.

import { sizesOf } from './count.ts'
import type { PolicySettings } from '../settings/policy.ts'
import { findToolTurns, foldedTurns, foldToolTurns, olderTurns, type Folding } from './tool-turns.ts'
import type { View } from './view.ts'
import { cutView, window, windowMoves, type WindowMove, type WindowSize } from './window.ts'

/** The cheapest batch sizes over recorded sessions and all price models, when three turns stay. */
const defaultStep = 5

/** A limit of 0 applies at once. */
function stepOf(step: number | undefined, keep: number): number {
  return step ?? (keep === 0 ? 1 : Math.max(defaultStep, Math.ceil(keep / 2)))
}

export function stepwise(view: View, settings: PolicySettings): View {
  const { maxMessages, maxTokens } = settings
  const moves = movesIn(view, settings)
  const foldings = stepFolds(view, settings, moves)
  let next = foldToolTurns(view, foldings)
  const move = moves.at(-1)
  if (move) next = cutView(next, indexAfter(view, foldings, move.start), `over ${maxMessages} messages`)
  if (typeof maxTokens === 'number') {
    const sizes = sizesOf(next.messages)
    next = window(next, { most: maxTokens, downTo: maxTokens / 2, sizes }, `over ${maxTokens} tokens`)
  }
  return next
}

/** The position of the message at an index, which is in no result, once turns are folded. */
function indexAfter(view: View, foldings: readonly Folding[], index: number): number {
  const folded = foldedTurns(view, foldings)
  let removed = 0
  for (const [i, { turn }] of foldings.entries()) {
    if (turn.start < index) removed += turn.end - turn.start - (folded[i]?.length ?? 0)
  }
  return index - removed
}

/** The folded turns, oldest first, each with the position at which it was folded. */
export function stepFolds(view: View, settings: PolicySettings, moves = movesIn(view, settings)): Folding[] {
  const { maxToolTurns: keep, fold: style = 'stub', rhythm } = settings
  if (rhythm === 'economy' || typeof keep !== 'number') return []
  const turns = findToolTurns(view.messages)
  const older = olderTurns(view.messages, turns, keep)
  const why = `older than the last ${keep} tool turns`
  const foldings: Folding[] = []
  let before = 0
  for (const moment of foldMoments(view, settings.step, keep, moves)) {
    while (before < turns.length && (turns[before]?.start ?? 0) < moment) before++
    const at = view.places[moment - 1] ?? 0
    const end = Math.min(before - keep, older.length)
    for (const turn of older.slice(foldings.length, Math.max(foldings.length, end)))
      foldings.push({ turn, style, why, at })
  }
  return foldings
}

/** The message counts at which turns are folded: when the window moves, and until then, by their own count. */
function foldMoments(view: View, step: number | undefined, keep: number, windowMoved: readonly WindowMove[]): number[] {
  const turns = findToolTurns(view.messages)
  const batch = stepOf(step, keep)
  const moves = batch > 1 ? windowMoved.map((move) => move.end) : []
  const [firstMove = Infinity] = moves
  const moments: number[] = []
  for (let last = keep + batch - 1; last < turns.length; last += batch) {
    const moment = (turns[last]?.start ?? 0) + 1
    if (moment >= firstMove) break
    moments.push(moment)
  }
  return [...moments, ...moves]
}

/** When the window moved; never if messages are not limited, or only by prices. */
function movesIn(view: View, { maxMessages, step, rhythm }: PolicySettings): WindowMove[] {
  if (rhythm === 'economy' || typeof maxMessages !== 'number') return []
  return windowMoves(view.messages, windowSize(maxMessages, step))
}

function windowSize(maxMessages: number, step: number | undefined): WindowSize {
  const by = Math.min(step ?? Math.floor(maxMessages / 2), maxMessages)
  return { most: maxMessages, downTo: maxMessages - by + 1 }
}
