// The errors of a store, the same from every store, and the checks that throw them.

import { badInput, SynapseError } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { RecordedToolRun } from '../core/log.ts'
import type { NewToolRun } from './store.ts'

export function notFound(kind: string, id: string): SynapseError {
  return new SynapseError({ kind: 'not-found', message: `There is no ${kind} ${id}.` })
}

export function conflict(code: string, message: string, raw?: Json): SynapseError {
  return new SynapseError({ kind: 'conflict', code, message, ...(raw !== undefined && { raw }) })
}

export function idTaken(kind: string, id: string): SynapseError {
  return conflict('id-taken', `There is already a ${kind} with the id ${id}.`)
}

export function headMoved(conversationId: string, expected: string | null, head: string | null): SynapseError {
  return conflict(
    'head-moved',
    `Conversation ${conversationId} has changed: its head is ${head ?? 'empty'}, not ${expected ?? 'empty'}. ` +
      'Read it again, or write a branch.',
    { head, expected },
  )
}

export function exchangeEnded(id: string, outcome: string): SynapseError {
  return conflict('exchange-ended', `Exchange ${id} has ended already (${outcome}).`)
}

export function journalGap(exchangeId: string, stored: number, offset: number): SynapseError {
  return conflict('journal-gap', `The journal of exchange ${exchangeId} has ${stored} events, not ${offset}.`, {
    kept: stored,
  })
}

export function recordChanged(kind: string, id: string): SynapseError {
  return conflict('record-changed', `The ${kind} ${id} has changed since it was read.`)
}

/** Why a write to a stream is refused, if it is. */
export function badStream(
  write: { streamId: string; epoch: number; offset: number; events: readonly string[] },
  stored: { epoch: number; next: number; ended: boolean },
): SynapseError | undefined {
  const { streamId: id, epoch, offset, events } = write
  if (epoch !== stored.epoch) return conflict('stream-taken', `Another writer has taken over the stream ${id}.`)
  if (stored.ended) return conflict('stream-ended', `The stream ${id} has ended.`)
  if (offset !== stored.next)
    return conflict('stream-gap', `The stream ${id} has ${stored.next} events, not ${offset}.`)
  if (events.some((event) => event.includes('\n'))) return badInput('An event of a stream must be one line.')
  return undefined
}

/**
 * Throws unless a tool may be started again (P5). The outcome of a tool that was started and never finished is unknown:
 * only one that is safe to repeat may run a second time.
 */
export function checkToolRestart(earlier: RecordedToolRun, run: NewToolRun): void {
  if (earlier.outcome) throw toolConflict(run.callId, `has run already, at ${earlier.startedAt} (${earlier.outcome})`)
  if (earlier.argsSha256 !== run.argsSha256) throw toolConflict(run.callId, 'was started with other arguments')
  if (!earlier.repeatable) {
    throw toolConflict(
      run.callId,
      `was started at ${earlier.startedAt}, its outcome is unknown, and it is not safe to repeat`,
    )
  }
}

export function toolNotRunning(callId: string, run: RecordedToolRun | undefined): SynapseError {
  return toolConflict(callId, run?.outcome ? `has its result already (${run.outcome})` : 'was never started')
}

function toolConflict(callId: string, why: string): SynapseError {
  return conflict('tool-run', `The tool of call ${callId} ${why}.`)
}

/** What was read is not what was written. */
export function damaged(subject: string): SynapseError {
  return new SynapseError({
    kind: 'storage',
    code: 'damaged',
    message: `${subject} is damaged: the stored data is not what was written. Restore a backup; "synapse doctor" shows details.`,
  })
}

/** A time from a user or a file, in its stored form. */
export function isoTime(text: string, subject: string): string {
  const ms = Date.parse(text)
  if (Number.isNaN(ms))
    throw badInput(`${subject} is not a time: ${JSON.stringify(text)}. Write it as 2026-11-15T21:30:00Z.`)
  return new Date(ms).toISOString()
}
