// When a tool may be started again, and the error if it may not (P5). The outcome of a tool that was started and never
// finished is unknown: only one that is safe to repeat may run a second time.

import type { SynapseError } from '../core/error.ts'
import type { RecordedToolRun } from '../core/log.ts'
import { conflict } from './store-errors.ts'
import type { NewToolRun } from './store.ts'

export function mayStartAgain(before: RecordedToolRun, run: NewToolRun): void {
  if (before.outcome) throw refused(run.callId, `has run already, at ${before.startedAt} (${before.outcome})`)
  if (before.argsSha256 !== run.argsSha256) throw refused(run.callId, 'was started with other arguments')
  if (!before.repeatable) {
    throw refused(
      run.callId,
      `was started at ${before.startedAt}, its outcome is unknown, and it is not safe to repeat`,
    )
  }
}

export function toolNotRunning(callId: string, run: RecordedToolRun | undefined): SynapseError {
  return refused(callId, run?.outcome ? `has its result already (${run.outcome})` : 'was never started')
}

function refused(callId: string, why: string): SynapseError {
  return conflict('tool-run', `The tool of call ${callId} ${why}.`)
}
