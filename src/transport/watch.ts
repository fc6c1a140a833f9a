// The timer of one attempt: fires after too long a silence. Time without a reader does not count, so a slow
// reader is never mistaken for a dead provider.

import { SynapseError } from '../core/error.ts'
import type { Limits } from './limits.ts'

export interface Watch {
  /** From now on, bytes are awaited. */
  reading(): void
  /** Bytes arrived. */
  bytes(): void
  /** An event with content arrived. */
  event(): void
  stop(): void
}

/** A clock and timers. Tests use one that moves only when they advance it. */
export interface Clock {
  now(): number
  /** Calls back once; the result cancels it. */
  after(ms: number, run: () => void): () => void
}

const machineClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

export interface Watched {
  limits: Limits
  headersMs: number
  /** Whether the model is currently thinking. */
  thinking: () => boolean
  name: string
  clock?: Clock | undefined
}

/** Starts with the wait for the headers, which ends with the first `reading`. */
export function watch(
  { limits, headersMs, thinking, name, clock = machineClock }: Watched,
  expire: (error: SynapseError) => void,
): Watch {
  let waiting = true
  let inBody = false
  /** Since the last `reading`. */
  let hadEvent = false
  let byteAt = clock.now()
  let eventAt = byteAt
  let cancel = clock.after(headersMs, check)

  function check(): void {
    const now = clock.now()
    const eventMs = thinking() ? limits.thinkingIdleMs : limits.eventIdleMs
    if (waiting && !inBody) return expire(late(`${name} did not begin to answer within ${seconds(headersMs)}.`))
    if (waiting && now - byteAt >= limits.byteIdleMs) {
      return expire(late(`${name} went silent in the middle of the reply, for ${seconds(limits.byteIdleMs)}.`))
    }
    if (waiting && now - eventAt >= eventMs) {
      return expire(late(`${name} sent nothing but keep-alives for ${seconds(eventMs)}.`))
    }
    const left = waiting
      ? Math.min(limits.byteIdleMs - (now - byteAt), eventMs - (now - eventAt))
      : Math.min(limits.byteIdleMs, eventMs)
    cancel = clock.after(Math.max(1, Math.ceil(left)), check)
  }

  return {
    reading() {
      const now = clock.now()
      if (!inBody) {
        inBody = true
        byteAt = eventAt = now
        cancel()
        check()
      } else if (!waiting) {
        // The time without a reader does not count, and there is one only for what has content.
        if (hadEvent) eventAt = now
        byteAt = now
      }
      waiting = true
      hadEvent = false
    },
    bytes() {
      waiting = false
    },
    event() {
      hadEvent = true
    },
    stop() {
      cancel()
    },
  }
}

function late(message: string): SynapseError {
  return new SynapseError({ kind: 'timeout', message: `${message} Try again, or use another model or provider.` })
}

function seconds(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`
}
