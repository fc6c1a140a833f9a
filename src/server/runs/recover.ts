// Resumes the runs whose server is gone, and those of this one that were interrupted.

import { isAbandoned } from '../../run/log/lease.ts'
import { traceOf } from '../log.ts'
import { serverOwner } from '../keys.ts'
import type { ServedEvent } from './event-log.ts'
import { endAtOnce, enqueue } from './jobs.ts'
import { isChanged, saveRun, type OwnRun, type Runs } from './own-runs.ts'
import { readRun, recordKind, type StoredRun } from './run-record.ts'
import { textIn } from '../../wires/shared/json-fields.ts'

/** After an outage other servers come back too: they have this long to report that they are alive. */
const graceMs = 5000

export async function recover(runs: Runs): Promise<void> {
  const { store, jobs, coming, unsaved } = runs
  for (let cursor: string | undefined; ;) {
    const page = await store.records(serverOwner, recordKind.open, { limit: 500, ...(cursor && { cursor }) })
    for (const record of page.items) {
      const isHere = jobs.has(record.id) || coming.has(record.id) || unsaved.has(record.id)
      if (isHere) continue
      // One that cannot be read does not stop the others.
      await recoverOne(runs, textIn(record.data['owner']), record.id).catch((error: unknown) => lookFailed(runs, error))
    }
    cursor = page.next
    if (!cursor || runs.stopping) return
  }
}

async function recoverOne(runs: Runs, owner: string, runId: string): Promise<void> {
  const { store, holder } = runs
  const record = await store.record(owner, recordKind.run, runId)
  const run = readRun(record)
  if (!run || !record) {
    await store.deleteRecord(serverOwner, recordKind.open, runId)
    return
  }
  if (run.state !== 'parked' && run.holder !== holder.name) {
    if (performance.now() < runs.backAt + graceMs || (await holder.lives(run.holder))) return
  }
  try {
    if (run.state === 'ended') return await closeStream(runs, run)
    const lease = await store.lease(owner, run.conversationId)
    if (lease && !isAbandoned(lease)) return
    // No longer parked: otherwise the next server would resume it, too.
    const own: OwnRun = { run, version: record.version }
    // Only one of several servers gets it: the version decides.
    await saveRun(runs, own, { holder: holder.name, state: 'queued' })
    if (await store.deleteRecord(serverOwner, recordKind.cancel, runId)) await endAtOnce(runs, own)
    else enqueue(runs, own)
  } catch (error) {
    if (!isChanged(error)) throw error
  }
}

/** A server was killed between the end of a run and recording it. */
async function closeStream({ store, events }: Runs, run: StoredRun): Promise<void> {
  const { outcome, usage, failure } = run
  const end = { type: 'run-end', outcome, usage, ...(failure && { failure }) } as ServedEvent
  const stream = await store.stream(run.owner, run.id, 0, 1)
  // A run that has ended accepts nothing more.
  if (stream) await (await events.open(run.owner, run.conversationId, run.id)).end(end)
  await store.deleteRecord(serverOwner, recordKind.open, run.id)
}

export function lookFailed({ log }: Runs, error: unknown): void {
  log({ event: 'look-failed', trace: traceOf(error) })
}
