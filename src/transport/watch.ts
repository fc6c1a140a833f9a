// The clock of one attempt: says when too long nothing came. Time in which no one was reading does not count, so a slow
// reader is never taken for a dead provider.

import { SynapseError } from '../core/error.ts'
import type { Limits } from './limits.ts'

export interface Watch {
  /** From now on somebody waits for bytes. */
  reading(): void
  /** Bytes came. */
  bytes(): void
  /** An event that says something came. */
  event(): void
  stop(): void
}

export interface Watched {
  limits: Limits
  headersMs: number
  /** Whether the model is thinking at the moment. */
  thinking: () => boolean
  name: string
}

/** Starts with the wait for the headers, which ends with the first `reading`. */
export function watch({ limits, headersMs, thinking, name }: Watched, expire: (error: SynapseError) => void): Watch {
  let waiting = true
  let inBody = false
  let byteAt = performance.now()
  let eventAt = byteAt
  let timer = setTimeout(check, headersMs)

  function check(): void {
    const now = performance.now()
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
    timer = setTimeout(check, Math.max(1, Math.ceil(left)))
  }

  return {
    reading() {
      const now = performance.now()
      if (!inBody) {
        inBody = true
        byteAt = eventAt = now
        clearTimeout(timer)
        check()
      } else if (!waiting) {
        eventAt = Math.min(now, eventAt + now - byteAt)
        byteAt = now
      }
      waiting = true
    },
    bytes() {
      waiting = false
      byteAt = performance.now()
    },
    event() {
      eventAt = performance.now()
    },
    stop() {
      clearTimeout(timer)
    },
  }
}

function late(message: string): SynapseError {
  return new SynapseError({ kind: 'timeout', message: `${message} Try again, or use another model or provider.` })
}

function seconds(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`
}
