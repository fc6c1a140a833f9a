// Runs that ended because the store is full: on a full disk even the end of a run cannot be saved. Its readers are
// notified, and it is saved once there is space.

import type { Failure } from '../../core/error.ts'
import { noUsage } from '../../core/usage.ts'
import { holdLease } from '../../run/log/lease.ts'
import type { ExecutedRun } from './execute-run.ts'
import { finish, isChanged, saveRun, type OwnRun, type Runs, type UnsavedEnd } from './own-runs.ts'
import type { StoredRun } from './run-record.ts'

export function endOnFullDisk(failure: Failure): ExecutedRun['end'] {
  return { type: 'run-end', outcome: 'storage-full', usage: noUsage, failure }
}

export function breakOff({ unsaved, log }: Runs, own: OwnRun, end: ExecutedRun['end'], cost?: number): void {
  const { run, stream } = own
  unsaved.set(run.id, { own, end, cost, endedAt: new Date().toISOString() })
  stream?.breakOff(end)
  log({ event: 'storage-full', run: run.id })
}

/** The run with its end, if that is only known here. */
export function withUnsavedEnd({ unsaved }: Runs, run: StoredRun): StoredRun {
  const unsavedEnd = unsaved.get(run.id)
  if (!unsavedEnd) return run
  const { outcome, usage, failure } = unsavedEnd.end
  return { ...run, state: 'ended', outcome, usage, endedAt: unsavedEnd.endedAt, ...(failure && { failure }) }
}

/** Saves the ends that can be saved, of one conversation or of all. Throws while there is no space. */
export async function saveEnds(runs: Runs, conversationId?: string): Promise<void> {
  for (const unsavedEnd of runs.unsaved.values()) {
    if (conversationId !== undefined && unsavedEnd.own.run.conversationId !== conversationId) continue
    unsavedEnd.saving ??= saveEnd(runs, unsavedEnd).finally(() => delete unsavedEnd.saving)
    await unsavedEnd.saving
  }
}

async function saveEnd(runs: Runs, { own, end, cost }: UnsavedEnd): Promise<void> {
  const { owner, conversationId, id } = own.run
  try {
    // Something small first: the last events are awaited only once there is space.
    await saveRun(runs, own, {})
    // The run could not release its lease either.
    await (await holdLease(runs.store, owner, conversationId)).release()
    await finish(runs, own, end, cost)
  } catch (error) {
    // Another server has it now, and reports how it continues.
    if (!isChanged(error)) throw error
  }
  runs.unsaved.delete(id)
  runs.changed(conversationId)
}
