// The guards that cannot wait for the next step: how long a run takes, and how much it writes. They end it by its signal.

import type { GuardReason, RunEvent } from '../core/event.ts'
import type { Guards } from '../settings/run.ts'

export interface GuardTimer {
  /** Aborted by the outer signal or by a guard. */
  signal: AbortSignal
  onEvent(event: RunEvent): void
  stoppedBy: () => GuardReason | undefined
  stop(): void
}

export function guardTimer({ timeoutMs, outputSize }: Guards, outer: AbortSignal): GuardTimer {
  const abort = new AbortController()
  let reason: GuardReason | undefined
  let size = 0
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => fire({ guard: 'time', why: `The run took longer than the ${timeoutMs} ms that it may.` }),
          timeoutMs,
        )
  return {
    signal: AbortSignal.any([outer, abort.signal]),
    onEvent(event) {
      if (outputSize === undefined || event.type !== 'reply-event' || event.event.type !== 'part-delta') return
      size += event.event.text.length
      if (size > outputSize) {
        fire({ guard: 'output-size', why: `The run wrote more than the ${outputSize} characters that it may.` })
      }
    },
    stoppedBy: () => reason,
    stop: () => clearTimeout(timer),
  }

  function fire(why: GuardReason): void {
    if (outer.aborted || reason) return
    reason = why
    abort.abort(why.why)
  }
}
