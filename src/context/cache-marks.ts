// Where a prompt cache should be written, and where it should be looked up. Four positions matter, and a wire that
// supports fewer takes the last of them: after tools and system; exactly where the next cut will break, so that
// everything before it stays readable then; at the end of the previous request, where the cache was last written; and
// at the newest message.
//
// The mark at the break does not move between cuts, so every request keeps it alive. The end of the previous request is
// marked again because a cache is looked up only some twenty blocks before a mark, and a turn may have more. After a
// cut that end is gone, and the position of the break is marked instead: it is what can still be read.

import type { Decisions } from './decisions.ts'
import type { PolicySettings } from '../settings/policy.ts'
import { stepFolds } from './steps.ts'
import { findToolTurns, isWorthFolding, olderTurns, type ToolTurn } from './tool-turns.ts'
import type { View } from './view.ts'
import { pinnedIn } from './window.ts'

const mostMarks = 4

type Sent = Pick<View, 'messages' | 'places'>

/** `broken` is the position in the history where the last cut began. */
export function cacheMarks(view: Sent, settings: PolicySettings, broken?: number): number[] {
  const { messages } = view
  const cut = broken === undefined ? 0 : Math.max(0, indexOf(view, broken))
  const turns = foldableTurns(view, settings).filter((turn) => turn.start >= cut)
  const older = new Set(
    olderTurns(messages, findToolTurns(messages), settings.maxToolTurns ?? 0).map((turn) => turn.start),
  )
  const isJustCut = broken !== undefined && !turns.some((turn) => older.has(turn.start))
  const lastReply = messages.findLastIndex((message) => message.role === 'assistant')
  const marks = [
    messages.length - 1,
    // A window breaks after the first message that it keeps.
    ...(typeof settings.maxMessages === 'number' ? [pinnedIn(messages)] : []),
    // The next cut begins with the oldest turn that can be folded.
    ...(turns[0] ? [turns[0].start - 1] : []),
    isJustCut ? cut - 1 : lastReply - 1,
    -1,
  ]
  return [...new Set(marks.filter((mark) => mark >= -1))].slice(0, mostMarks).sort((a, b) => a - b)
}

/** The position in the history at which the newest fold begins: up to there a request is identical to the others. */
export function lastBreak(base: View, settings: PolicySettings, decisions: Decisions | undefined): number | undefined {
  const { rhythm, maxToolTurns } = settings
  if (rhythm === 'economy' || typeof maxToolTurns !== 'number') return decisions?.folds.at(-1)?.from
  const folds = stepFolds(base, settings)
  const last = folds.find(({ at }) => at === folds.at(-1)?.at)
  return last && base.places[last.turn.start]
}

function foldableTurns({ messages }: Sent, { maxToolTurns, fold = 'stub' }: PolicySettings): ToolTurn[] {
  if (typeof maxToolTurns !== 'number') return []
  return findToolTurns(messages).filter((turn) => isWorthFolding(messages, turn, fold))
}

function indexOf({ places }: Sent, place: number): number {
  return places.findIndex((position) => position >= place)
}
