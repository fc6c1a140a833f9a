// From the status of an interaction to the stop reason of a reply.

import type { StopReason } from '../../core/message.ts'

/** Checked 2026-11. */
const reasons: Partial<Record<string, StopReason>> = {
  completed: 'done',
  requires_action: 'tool-calls',
  incomplete: 'length',
  budget_exceeded: 'length',
  failed: 'failed',
  cancelled: 'cancelled',
  requires_continuation: 'paused',
  queued: 'paused',
  in_progress: 'paused',
}

/** An unknown status also ends the interaction. */
export function stopReason(status: string, calls: number): StopReason {
  const reason = reasons[status] ?? 'done'
  if (reason === 'done' && calls > 0) return 'tool-calls'
  return reason === 'tool-calls' && calls === 0 ? 'paused' : reason
}

export function statusFor(reason: StopReason, raw: string | undefined): string {
  if (raw !== undefined && reasons[raw] === reason) return raw
  switch (reason) {
    case 'tool-calls':
      return 'requires_action'
    case 'length':
      return 'incomplete'
    case 'failed':
      return 'failed'
    case 'cancelled':
      return 'cancelled'
    case 'paused':
      return 'requires_continuation'
    case 'interrupted':
      return 'in_progress'
    default:
      return 'completed'
  }
}
