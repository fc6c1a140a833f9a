// The window: the first user message and the end of the history. Cuts stand only where a user message or a reply
// begins, never inside a tool turn, and they move in steps: a window that slides by one message every turn breaks the
// prompt cache every turn, and costs about twice as much as one that cuts deeper and less often.

import type { Message } from '../core/message.ts'
import type { View } from './view.ts'

export interface WindowSize {
  /** The most that is sent, in the unit of `sizes`. */
  most: number
  /** What a cut goes down to. */
  downTo: number
  /** The size of each message; without it every message counts one. */
  sizes?: readonly number[]
}

export function window(view: View, size: WindowSize, why: string): View {
  const start = windowStart(view.messages, size)
  const pinned = view.messages.findIndex((message) => message.role === 'user')
  const keepsPinned = pinned >= 0 && pinned < start
  const cut = start - (keepsPinned ? 1 : 0)
  if (cut <= 0) return view

  const kept = (index: number): boolean => index >= start || (keepsPinned && index === pinned)
  const places = view.places.slice(0, start).filter((_, index) => !kept(index))
  return {
    messages: view.messages.filter((_, index) => kept(index)),
    places: view.places.filter((_, index) => kept(index)),
    notes: [
      ...view.notes,
      {
        kind: 'dropped',
        what: `${cut} ${cut === 1 ? 'message' : 'messages'}`,
        why,
        at: `messages[${places[0]}..${places.at(-1)}]`,
        rule: 'window',
      },
    ],
  }
}

/**
 * Where the window begins. It is found by going through the history once from its beginning, so that it depends on
 * nothing but the messages: a longer history has the same cuts, and perhaps a new one at its end (P4).
 */
function windowStart(messages: readonly Message[], { most, downTo, sizes }: WindowSize): number {
  const sizeAt = (index: number): number => sizes?.[index] ?? 1
  const pinned = messages.findIndex((message) => message.role === 'user')
  let start = 0
  let sum = 0
  let lastBoundary = 0
  for (let end = 0; end < messages.length; end++) {
    if (messages[end]?.role !== 'tool') lastBoundary = end
    sum += sizeAt(end)
    if (sum <= most) continue
    while (start < lastBoundary && (sum > downTo || messages[start]?.role === 'tool')) {
      if (start !== pinned) sum -= sizeAt(start)
      start++
    }
  }
  return start
}
