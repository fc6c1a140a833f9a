// How the runs of this process are executed, queued or concurrently, and how they are stopped.

import { asFailure, isStorageFull } from '../../core/error.ts'
import { noUsage } from '../../core/usage.ts'
import { traceOf } from '../log.ts'
import { executeRun } from './execute-run.ts'
import { finish, isChanged, saveRun, type Job, type OwnRun, type Runs } from './own-runs.ts'
import { until } from './source.ts'
import { breakOff, endOnFullDisk } from './unsaved-ends.ts'

export function enqueue(runs: Runs, own: OwnRun): void {
  const { promise: done, resolve: finished } = Promise.withResolvers<void>()
  const job: Job = { ...own, stop: new AbortController(), done, finished }
  runs.jobs.set(job.run.id, job)
  runs.queue.push(job)
  runs.changed(job.run.conversationId)
  beginNext(runs)
}

function beginNext(runs: Runs): void {
  while (runs.running < runs.maxRuns) {
    const job = runs.stopping ? undefined : runs.queue.shift()
    if (!job) return
    runs.running++
    void work(runs, job).finally(() => {
      runs.running--
      forget(runs, job)
      beginNext(runs)
    })
  }
}

function forget(runs: Runs, job: Job): void {
  runs.jobs.delete(job.run.id)
  job.finished()
  runs.changed(job.run.conversationId)
}

async function work(runs: Runs, job: Job): Promise<void> {
  const { run } = job
  const { events, log } = runs
  try {
    // First: opening the stream of a run that another server has taken over would fence that one off.
    if (run.state !== 'running') await saveRun(runs, job, { state: 'running' })
    job.stream ??= await events.open(run.owner, run.conversationId, run.id)
    const { stream } = job
    if (stream.before > 0) stream.push({ type: 'run-resumed', at: new Date().toISOString() })
    const { end, cost } = await executeRun(runs.executor, run, stream, job.stop)
    if (stream.lost) log({ event: 'run-lost', run: run.id, code: stream.lost.code })
    else if (job.why === 'park' && end.outcome === 'cancelled') await park(runs, job)
    else if (isStorageFull(end.failure)) breakOff(runs, job, end, cost)
    else await finish(runs, job, end, cost)
  } catch (error) {
    // The conversation was deleted, or the store is unreachable: then the run is resumed later.
    if (isChanged(error)) log({ event: 'run-lost', run: run.id, code: error.failure.code })
    else if (isStorageFull(asFailure(error))) breakOff(runs, job, endOnFullDisk(asFailure(error)))
    else log({ event: 'run-broken', run: run.id, kind: asFailure(error).kind, trace: traceOf(error) })
  }
}

async function park(runs: Runs, job: Job): Promise<void> {
  await job.stream?.flushed()
  await saveRun(runs, job, { state: 'parked' })
}

export async function cancelJob(runs: Runs, job: Job): Promise<void> {
  job.why ??= 'cancel'
  job.stop.abort()
  const waiting = runs.queue.indexOf(job)
  if (waiting >= 0) {
    runs.queue.splice(waiting, 1)
    try {
      await endAtOnce(runs, job)
    } finally {
      forget(runs, job)
    }
  }
  await within(5000, job.done)
}

/** Ends a run that has not started, or not started again. */
export async function endAtOnce(runs: Runs, own: OwnRun): Promise<void> {
  const { owner, conversationId, id } = own.run
  own.stream ??= await runs.events.open(owner, conversationId, id)
  await finish(runs, own, { type: 'run-end', outcome: 'cancelled', usage: noUsage })
}

/** Waits for active runs. Those that take longer are parked; answers to clients of other APIs end. */
export async function stopJobs({ jobs, queue, live }: Runs, graceMs: number): Promise<void> {
  const started = [...jobs.values()].filter((job) => !queue.includes(job))
  const all = Promise.all([live.idle(), ...started.map((job) => job.done)])
  await within(graceMs, all)
  for (const job of jobs.values()) {
    job.why ??= 'park'
    job.stop.abort()
  }
  live.stopAll()
  await within(5000, all)
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const stopWaiting = new AbortController()
  await Promise.race([work, until(ms, stopWaiting.signal)])
  stopWaiting.abort()
}
