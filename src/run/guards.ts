// Guards of a run: limits on its tools, on its duration and on its output. Those that are checked between two steps are
// in loop.ts.

import type { GuardReason, RunEvent } from '../core/event.ts'
import type { Guards } from '../settings/run.ts'

export interface ToolLimits {
  callsPerReply: number
  concurrentTools: number
  resultSize: number
}

export function toolLimits({ callsPerReply, concurrentTools, resultSize }: Guards = {}): ToolLimits {
  return {
    callsPerReply: callsPerReply ?? 128,
    concurrentTools: Math.max(1, concurrentTools ?? 16),
    resultSize: resultSize ?? 16 * 1024 * 1024,
  }
}

/** Watches the guards that cannot wait for the next step: they end the run through its signal. */
export interface GuardTimer {
  /** Aborted by the outer signal or by a guard. */
  signal: AbortSignal
  onEvent(event: RunEvent): void
  stoppedBy: () => GuardReason | undefined
  stop(): void
}

export function guardTimer({ timeoutMs, outputSize }: Guards, outer: AbortSignal): GuardTimer {
  const abort = new AbortController()
  const cancel = (): void => abort.abort(outer.reason)
  if (outer.aborted) cancel()
  outer.addEventListener('abort', cancel)
  let reason: GuardReason | undefined
  let size = 0
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => fire({ guard: 'time', why: `The run reached its time limit of ${timeoutMs} ms.` }), timeoutMs)
  return {
    signal: abort.signal,
    onEvent(event) {
      if (outputSize === undefined || event.type !== 'reply-event' || event.event.type !== 'part-delta') return
      size += event.event.text.length
      if (size > outputSize) {
        fire({ guard: 'output-size', why: `The run reached its limit of ${outputSize} characters of output.` })
      }
    },
    stoppedBy: () => reason,
    stop() {
      clearTimeout(timer)
      outer.removeEventListener('abort', cancel)
    },
  }

  function fire(why: GuardReason): void {
    if (outer.aborted || reason) return
    reason = why
    abort.abort(why.why)
  }
}
