// Where a prompt cache is to be written. Four places count, and a wire that knows fewer takes the last of them: behind
// tools and system; exactly where the next cut will break, so that everything before it stays readable then; at the end
// of the request before, where the cache was written last; and at the newest message.
//
// The mark at the break stands still between cuts, so every request keeps it alive. The end of the last request is
// marked again because a cache is looked for only some twenty blocks back from a mark, and a turn may have more.

import type { Message } from '../core/message.ts'
import type { PolicySettings } from './policy.ts'
import { findToolTurns, leastSaving, savingOf } from './tool-turns.ts'
import { pinnedIn } from './window.ts'

const most = 4

export function cacheMarks(messages: readonly Message[], settings: PolicySettings): number[] {
  const lastReply = messages.findLastIndex((message) => message.role === 'assistant')
  const marks = [-1, ...breaks(messages, settings), lastReply - 1, messages.length - 1]
  const places = [...new Set(marks)].filter((mark) => mark >= -1).sort((a, b) => a - b)
  return places.slice(-most)
}

function breaks(messages: readonly Message[], settings: PolicySettings): number[] {
  const found: number[] = []
  // A window breaks behind the message that it keeps of the beginning.
  if (typeof settings.maxMessages === 'number') found.push(pinnedIn(messages))
  if (typeof settings.maxToolTurns === 'number') {
    const style = settings.fold ?? 'stub'
    const turn = findToolTurns(messages).find((one) => savingOf(messages, one, style) > leastSaving)
    if (turn) found.push(turn.start - 1)
  }
  return found
}
