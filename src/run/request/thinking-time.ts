// How long a model thinks: the time from the start of a reasoning part to its last text. Some wires end the part only
// with the reply, so its end is not used.

import type { ReplyEvent } from '../../core/event.ts'
import type { RetryEvent } from '../../transport/reply.ts'

/** A shorter time is not worth showing, and varies between runs. */
const leastMs = 1000

type Read = ReplyEvent | RetryEvent

/** Returns each event of one reply, with the duration on reasoning parts. */
export function thinkingClock(now: () => number = () => performance.now()): <E extends Read>(event: E) => E {
  const began = new Map<number, number>()
  const last = new Map<number, number>()
  return (event) => {
    const read: Read = event
    if (read.type === 'part-delta' && began.size === 0) return event
    if (read.type === 'part-start' && read.part.type === 'reasoning') began.set(read.index, now())
    else if (read.type === 'part-delta' && began.has(read.index)) last.set(read.index, now())
    else if (read.type === 'part-end' && read.part.type === 'reasoning') {
      const durationMs = Math.round((last.get(read.index) ?? now()) - (began.get(read.index) ?? now()))
      if (durationMs >= leastMs) return { ...event, part: { ...read.part, durationMs } }
    }
    return event
  }
}
