// Cancels runs, also those of other servers on the same store: each looks for requests to cancel its runs.

import { SynapseError } from '../../core/error.ts'
import type { Lease } from '../../core/log.ts'
import { isAbandoned } from '../../run/log/lease.ts'
import type { Store } from '../../store/store.ts'
import { serverOwner } from '../keys.ts'
import type { RunView } from '../views.ts'
import { runOfClient, storedRun } from './find-run.ts'
import { cancelJob } from './jobs.ts'
import type { Runs } from './own-runs.ts'
import { recordKind, viewOf } from './run-record.ts'
import { until } from './source.ts'

/** How often each server looks. */
export const lookMs = 1000
const shortMs = 100

export async function cancel(runs: Runs, owner: string, runId: string, through: Store): Promise<RunView | undefined> {
  const run = await storedRun(runs, owner, runId, through)
  if (!run) return cancelOfClient(runs, owner, runId, through)
  if (run.state === 'ended') return viewOf(run)
  const job = runs.jobs.get(runId)
  if (job) await cancelJob(runs, job)
  else await askElsewhere(runs, runId, async () => (await storedRun(runs, owner, runId, runs.store))?.state === 'ended')
  const now = await storedRun(runs, owner, runId, through)
  return now && viewOf(now)
}

async function cancelOfClient(runs: Runs, owner: string, id: string, through: Store): Promise<RunView | undefined> {
  const run = await runOfClient(runs, owner, id, through)
  if (!run) return undefined
  const outcome = async () => (await runs.store.exchange(owner, id))?.outcome ?? 'cancelled'
  await askElsewhere(runs, id, async () => (await outcome()) !== 'open')
  const now = await outcome()
  const lease = now === 'open' ? await runs.store.lease(owner, run.conversationId) : undefined
  if (lease && !isAbandoned(lease)) throw notStopped(lease)
  // Its process may have been killed meanwhile.
  return { ...run, state: 'ended', outcome: now === 'open' || now === 'interrupted' ? 'failed' : now }
}

/** The library and the command line look for no requests of servers. */
function notStopped({ holder }: Lease): SynapseError {
  const [process = ''] = holder.split(' (')
  const message = `This answer is being written by another process (${process}), which did not stop it. Stop it there, or wait until it ends.`
  return new SynapseError({ kind: 'conflict', code: 'busy', message })
}

/** The process that has the run checks this once a second. */
async function askElsewhere(runs: Runs, runId: string, hasEnded: () => Promise<boolean>): Promise<void> {
  const { store } = runs
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  await store.putRecords([{ owner: serverOwner, kind: recordKind.cancel, id: runId, data: {}, expiresAt }])
  for (let waited = 0; waited < 3 * lookMs; waited += shortMs) {
    await until(shortMs, new AbortController().signal)
    if (await hasEnded()) return
  }
}

export async function lookForCancels(runs: Runs): Promise<void> {
  const { store, jobs, live } = runs
  if (jobs.size === 0 && live.size === 0) return
  const { items } = await store.records(serverOwner, recordKind.cancel)
  for (const { id } of items) {
    const job = jobs.get(id)
    if (!job && !live.stopExchange(id)) continue
    await store.deleteRecord(serverOwner, recordKind.cancel, id)
    if (job) await cancelJob(runs, job)
  }
}
