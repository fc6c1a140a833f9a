// The window: the first user message and the end of the history. Cuts are made only where a user message or a reply
// begins, never inside a tool turn, and they move in steps: a window that slides by one message every turn breaks the
// prompt cache every turn, and costs about twice as much as one that cuts deeper and less often.

import type { Message, Part } from '../core/message.ts'
import { placesFrom, type View } from './view.ts'

export interface WindowSize {
  /** The most that is sent, in the unit of `sizes`. */
  most: number
  /** The size after a cut. */
  downTo: number
  /** The size of each message; by default every message counts one. */
  sizes?: readonly number[]
}

export function window(view: View, size: WindowSize, why: string): View {
  return cutView(view, windowStart(view.messages, size), why)
}

/** The view from `start` on, plus the first user message. */
export function cutView(view: View, start: number, why: string): View {
  const pinned = pinnedIn(view.messages)
  const keepsPinned = pinned >= 0 && pinned < start
  const cut = start - (keepsPinned ? 1 : 0)
  if (cut <= 0) return view

  const sent = <T>(all: readonly T[]): T[] => [
    ...(keepsPinned ? all.slice(pinned, pinned + 1) : []),
    ...all.slice(start),
  ]
  const first = keepsPinned && pinned === 0 ? 1 : 0
  const last = keepsPinned && pinned === start - 1 ? start - 2 : start - 1
  return {
    messages: sent(view.messages),
    places: sent(view.places),
    notes: [
      ...view.notes,
      {
        kind: 'dropped',
        what: `${cut} ${cut === 1 ? 'message' : 'messages'}`,
        why,
        at: placesFrom(view, first, last),
        rule: 'window',
      },
    ],
  }
}

/** What stays of the beginning in any case: a summary that opens the view, otherwise the first user message. */
export function pinnedIn(messages: readonly Message[]): number {
  return isSummary(messages[0]) ? 0 : messages.findIndex((message) => message.role === 'user')
}

/** Only a single message: with calls it would be a tool turn. */
function isSummary(message: Message | undefined): boolean {
  const parts: readonly Part[] = message?.parts ?? []
  const summarises = (part: Part) =>
    part.type === 'compaction' || (part.type === 'opaque' && part.kind.endsWith('/compaction'))
  return parts.some(summarises) && !parts.some((part) => part.type === 'tool-call')
}

/** Where a history of at most `most` begins, never inside a tool turn. */
export function startOfLast(messages: readonly Message[], most: number, sizes?: readonly number[]): number {
  const pinned = pinnedIn(messages)
  let sum = pinned >= 0 ? (sizes?.[pinned] ?? 1) : 0
  let start = messages.length
  for (let index = messages.length - 1; index >= 0; index--) {
    if (index !== pinned) sum += sizes?.[index] ?? 1
    // The newest turn stays, whatever its size.
    if (sum > most && start < messages.length) break
    if (messages[index]?.role !== 'tool') start = index
  }
  return start
}

function windowStart(messages: readonly Message[], size: WindowSize): number {
  return windowMoves(messages, size).at(-1)?.start ?? 0
}

export interface WindowMove {
  /** How many messages there were when it moved. */
  end: number
  /** Where it begins since then. */
  start: number
}

/**
 * When the window moved and where to. Computed in one pass over the history, so that it depends only on the messages: a
 * longer history has the same cuts, and perhaps a new one at its end (P4).
 */
export function windowMoves(messages: readonly Message[], { most, downTo, sizes }: WindowSize): WindowMove[] {
  const sizeAt = (index: number): number => sizes?.[index] ?? 1
  const pinned = pinnedIn(messages)
  const moves: WindowMove[] = []
  let start = 0
  let sum = 0
  let lastBoundary = 0
  for (let end = 0; end < messages.length; end++) {
    if (messages[end]?.role !== 'tool') lastBoundary = end
    sum += sizeAt(end)
    if (sum <= most) continue
    const before = start
    while (start < lastBoundary && (sum > downTo || messages[start]?.role === 'tool')) {
      if (start !== pinned) sum -= sizeAt(start)
      start++
    }
    if (start > before) moves.push({ end: end + 1, start })
  }
  return moves
}
