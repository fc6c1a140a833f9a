// Where a run is found: in its record, with an end that could not be saved, or as the answer to a client that any server
// on the store is writing.

import type { StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { RunView } from '../views.ts'
import { clientRun } from './client-runs.ts'
import type { Runs } from './own-runs.ts'
import { readRun, recordKind, viewOf, type StoredRun } from './run-record.ts'
import { withUnsavedEnd } from './unsaved-ends.ts'
import { textIn } from '../../wires/shared/json-fields.ts'

export async function storedRun(
  runs: Runs,
  owner: string,
  runId: string,
  through: Store,
): Promise<StoredRun | undefined> {
  const run = readRun(await through.record(owner, recordKind.run, runId))
  return run && withUnsavedEnd(runs, run)
}

/** The active run that is stored. */
export async function runIn(
  runs: Runs,
  owner: string,
  conversationId: string,
  through: Store,
): Promise<RunView | undefined> {
  return runOf(runs, owner, await through.record(owner, recordKind.active, conversationId), through)
}

/** An answer to a client, by the id of its exchange; those of stored runs are no runs of their own. */
export async function runOfClient(runs: Runs, owner: string, id: string, through: Store): Promise<RunView | undefined> {
  const run = await clientRun(through, owner, id)
  return run && (await runIn(runs, owner, run.conversationId, through)) ? undefined : run
}

export async function runOf(
  runs: Runs,
  owner: string,
  active: StoredRecord | undefined,
  through: Store,
): Promise<RunView | undefined> {
  const runId = active && textIn(active.data['runId'])
  const run = runId ? await storedRun(runs, owner, runId, through) : undefined
  return run && run.state !== 'ended' ? viewOf(run) : undefined
}
