// Runs belong to the server: they are in the store before they begin, wait for their turn, continue when no one listens, are
// stopped when asked, parked when the server stops, and taken up again by the next one.

import { SynapseError, asFailure, isStorageFull, type Failure } from '../../core/error.ts'
import { noUsage } from '../../core/usage.ts'
import { pathCache } from '../../run/path-cache.ts'
import { holdLease, isAbandoned, pastAbandonedLease } from '../../run/lease.ts'
import { traceOf, type Log } from '../log.ts'
import type { NewRecord, StoredRecord } from '../../store/records.ts'
import type { NewEntry, Store } from '../../store/store.ts'
import { uuidv7 } from '../../store/ids.ts'
import { serverOwner } from '../server-owner.ts'
import type { RunView } from '../views.ts'
import { eventLog, type RunStream, type ServedEvent } from './event-log.ts'
import { takeName, type Holder } from './holder.ts'
import { executeRun, type ExecutedRun, type RunExecutor } from './execute-run.ts'
import { activeRecord, freeRecord, openRecord, recordKind, runRecord } from './run-record.ts'
import { readRun, textIn, viewOf, type StoredRun } from './run-record.ts'
import { runSource, until } from './source.ts'
import type { EventSource } from './sse.ts'

export interface SupervisorOptions extends Omit<RunExecutor, 'paths'> {
  /** How many runs continue at once, and how many may wait. */
  maxRuns: number
  maxQueued: number
  log: Log
  /** Called whenever a run of this conversation begins, continues or ends. */
  changed: (conversationId: string) => void
}

interface NewRun extends Pick<StoredRun, 'owner' | 'conversationId' | 'settings' | 'keyId' | 'budget'> {
  entries: readonly NewEntry[]
  basedOn: string
  entryId?: string
  /** What the conversation is called from then on. */
  title?: string
  /** Moves the head, once there is room for the run. */
  move?: () => Promise<void>
  /** Written in the same transaction as the run. */
  records: (run: RunView) => NewRecord[]
}

export interface Supervisor {
  /** Throws kind 'overloaded' where there is no room, 'conflict' while the conversation has another run. */
  start(request: NewRun): Promise<RunView>
  run(owner: string, runId: string): Promise<RunView | undefined>
  /** The run of a conversation that is under way. */
  active(owner: string, conversationId: string): Promise<RunView | undefined>
  /** Undefined: there is no such run, or its events are not kept any more. */
  source(owner: string, runId: string): Promise<EventSource | undefined>
  /** Gives the run as it is then; it has ended, if its server could be reached. */
  cancel(owner: string, runId: string): Promise<RunView | undefined>
  /** The same for one request, which waits for an absent database only as long as this store does. */
  using(store: Store): Supervisor
  readonly stopping: boolean
  /** There is no space left for the store. */
  readonly full: boolean
  /** Waits for what is under way, and parks what takes longer. */
  stop(graceMs: number): Promise<void>
}

interface Mine {
  run: StoredRun
  /** Of its record: it has another one when another server has taken up the run. */
  version: number
  stream?: RunStream
}

interface Job extends Mine {
  stop: AbortController
  /** Why it was stopped: at the request of a user, or because the server stops. */
  why?: 'cancel' | 'park'
  done: Promise<void>
  finished(): void
}

/** A run that ended for want of space, which its end could not be written for either. */
interface UnsavedEnd {
  mine: Mine
  end: ExecutedRun['end']
  cost: number | undefined
  endedAt: string
  saving?: Promise<void>
}

const lookMs = 1000
const shortMs = 100
const recoverMs = 10_000
/** After an outage other servers come back too: they get this long to say that they live. */
const graceMs = 5000
/** Events of a run are kept for so long after its end. */
const keepEventsMs = 7 * 24 * 3_600_000

export async function supervise(options: SupervisorOptions): Promise<Supervisor> {
  const { store, log } = options
  const performer: RunExecutor = { ...options, paths: pathCache(store) }
  const holder: Holder = await takeName(store)
  const events = eventLog(store)
  const jobs = new Map<string, Job>()
  const queue: Job[] = []
  const unsaved = new Map<string, UnsavedEnd>()
  /** Runs that are being written down. */
  const coming = new Set<string>()
  let running = 0
  let stopping = false
  let backAt = Number.NEGATIVE_INFINITY

  await recover()
  await store.dropStreams(new Date(Date.now() - keepEventsMs).toISOString())
  const looks = [every(lookMs, lookForCancels), every(recoverMs, recover), every(lookMs, saveEnds)]
  const stopWatching = store.outages?.watch((outage) => {
    log({ event: outage ? 'store-away' : 'store-back', ...(outage && { why: outage.failure.message }) })
    if (outage) return
    backAt = performance.now()
    // What broke off here need not wait for the next look.
    recover().catch(lookFailed)
  })
  return over(store)

  /** What requests ask for goes through a store of their own; the runs themselves have all the patience there is. */
  function over(through: Store): Supervisor {
    return {
      start: (request) => start(request, through),
      async run(owner, runId) {
        const run = await kept(owner, runId, through)
        return run && viewOf(run)
      },
      active: async (owner, conversationId) =>
        runOf(owner, await through.record(owner, recordKind.active, conversationId), through),
      async source(owner, runId) {
        const isHere = here(runId)?.run.owner === owner
        const isUnderWay = async (asked = store) => {
          const run = await kept(owner, runId, asked)
          return run !== undefined && run.state !== 'ended'
        }
        if (!isHere && !(await isUnderWay(through)) && !(await through.stream(owner, runId, 0, 1))) return undefined
        return runSource(store, owner, runId, { live: () => here(runId)?.stream, isUnderWay: () => isUnderWay() })
      },
      cancel: (owner, runId) => cancel(owner, runId, through),
      using: over,
      get stopping() {
        return stopping
      },
      get full() {
        return unsaved.size > 0
      },
      stop,
    }
  }

  async function start(request: NewRun, through: Store): Promise<RunView> {
    if (stopping) throw overloaded('The server is about to stop. Try again in a moment.')
    if (running + queue.length + coming.size >= options.maxRuns + options.maxQueued) {
      throw overloaded('Too many runs are waiting. Try again in a moment.')
    }
    const { entries, records, move, title, ...about } = request
    const { owner, conversationId } = request
    const id = uuidv7()
    coming.add(id)
    try {
      for (const left of unsaved.values()) if (left.mine.run.conversationId === conversationId) await saveEnd(left)
      const before = await through.record(owner, recordKind.active, conversationId)
      const busy = await runOf(owner, before, through)
      if (busy) throw busyWith(busy)
      if (move) await pastAbandonedLease(through, owner, conversationId, move)
      const at = new Date().toISOString()
      const run: StoredRun = {
        id,
        ...about,
        state: running < options.maxRuns ? 'running' : 'queued',
        model: request.settings.model,
        startedAt: at,
        holder: holder.name,
      }
      const kept = [runRecord(run, 0), activeRecord(run, before?.version ?? 0), openRecord(run)]
      await pastAbandonedLease(through, owner, conversationId, () =>
        through.appendAll(owner, conversationId, entries, {}, [...records(viewOf(run)), ...kept]),
      )
      // At once, so that they can share a transaction, and not before: what was refused gives no name.
      const [stream] = await Promise.all([
        // So that whoever asks for its events finds them.
        unlessAway(events.open(owner, conversationId, id, through)),
        title === undefined ? undefined : named(owner, conversationId, title, through),
      ])
      enqueue({ run, version: 1, ...(stream && { stream }) })
      return viewOf(run)
    } finally {
      coming.delete(id)
    }
  }

  /** The message and its run are saved, so that a database that goes away now only makes the name late. */
  async function named(owner: string, conversationId: string, title: string, through: Store): Promise<void> {
    const done = through.updateConversation(owner, conversationId, { title }).then(() => true)
    if (await unlessAway(done)) return
    store.updateConversation(owner, conversationId, { title }).catch(lookFailed)
  }

  /** A run of this process: under way, or ended without space to save that. */
  function here(runId: string): Mine | undefined {
    return jobs.get(runId) ?? unsaved.get(runId)?.mine
  }

  async function kept(owner: string, runId: string, through: Store = store): Promise<StoredRun | undefined> {
    const run = readRun(await through.record(owner, recordKind.run, runId))
    const left = run && unsaved.get(runId)
    if (!left) return run
    const { end, endedAt } = left
    const { outcome, usage, failure } = end
    return { ...run, state: 'ended', outcome, usage, endedAt, ...(failure && { failure }) }
  }

  async function runOf(owner: string, active: StoredRecord | undefined, through: Store): Promise<RunView | undefined> {
    const runId = active && textIn(active, 'runId')
    const run = runId ? await kept(owner, runId, through) : undefined
    return run && run.state !== 'ended' ? viewOf(run) : undefined
  }

  function enqueue(mine: Mine): void {
    const { promise: done, resolve: finished } = Promise.withResolvers<void>()
    const job: Job = { ...mine, stop: new AbortController(), done, finished }
    jobs.set(job.run.id, job)
    queue.push(job)
    options.changed(job.run.conversationId)
    beginNext()
  }

  function beginNext(): void {
    while (running < options.maxRuns) {
      const job = stopping ? undefined : queue.shift()
      if (!job) return
      running++
      void work(job).finally(() => {
        running--
        jobs.delete(job.run.id)
        job.finished()
        options.changed(job.run.conversationId)
        beginNext()
      })
    }
  }

  async function work(job: Job): Promise<void> {
    const { run } = job
    try {
      // First: to open the stream of a run that another server has taken up would fence that one off.
      if (run.state !== 'running') await keep(job, { state: 'running' })
      job.stream ??= await events.open(run.owner, run.conversationId, run.id)
      const { stream } = job
      if (stream.before > 0) stream.push({ type: 'run-resumed', at: new Date().toISOString() })
      const { end, cost } = await executeRun(performer, run, stream, job.stop)
      if (stream.lost) log({ event: 'run-lost', run: run.id, code: stream.lost.code })
      else if (job.why === 'park' && end.outcome === 'cancelled') await park(job)
      else if (isStorageFull(end.failure)) breakOff(job, end, cost)
      else await finish(job, end, cost)
    } catch (error) {
      // The conversation was deleted under it, or the store is away: then the run is taken up later.
      if (isChanged(error)) log({ event: 'run-lost', run: run.id, code: error.failure.code })
      else if (isStorageFull(asFailure(error))) breakOff(job, endOnFullDisk(asFailure(error)))
      else log({ event: 'run-broken', run: run.id, kind: asFailure(error).kind, trace: traceOf(error) })
    }
  }

  /** On a full disk not even the end of a run can be saved: those who read it are told, and it is saved later. */
  function breakOff(mine: Mine, end: ExecutedRun['end'], cost?: number): void {
    const { run, stream } = mine
    unsaved.set(run.id, { mine, end, cost, endedAt: new Date().toISOString() })
    stream?.breakOff(end)
    log({ event: 'storage-full', run: run.id })
  }

  /** There may be space again. */
  async function saveEnds(): Promise<void> {
    for (const left of unsaved.values()) await saveEnd(left)
  }

  /** Throws while there is no space. */
  async function saveEnd(left: UnsavedEnd): Promise<void> {
    left.saving ??= saveNow(left).finally(() => delete left.saving)
    await left.saving
  }

  async function saveNow({ mine, end, cost }: UnsavedEnd): Promise<void> {
    try {
      // First something small: what was said last is waited for only once there is space.
      await keep(mine, {})
      // The run could not give its lease back either.
      await (await holdLease(store, mine.run.owner, mine.run.conversationId)).release()
      await finish(mine, end, cost)
    } catch (error) {
      // Another server has it now, and says how it continues.
      if (!isChanged(error)) throw error
    }
    unsaved.delete(mine.run.id)
    options.changed(mine.run.conversationId)
  }

  /** The conversation is free before anybody hears that the run has ended. */
  async function finish(mine: Mine, end: ExecutedRun['end'], cost: number | undefined): Promise<void> {
    const { run, stream } = mine
    const { outcome, usage, failure } = end
    await stream?.flushed()
    if (await store.conversation(run.owner, run.conversationId)) {
      const endedAt = new Date().toISOString()
      const more = { ...(cost !== undefined && { cost }), ...(failure && { failure }) }
      await keep(mine, { state: 'ended', endedAt, outcome, usage, ...more }, freeRecord(run))
      await stream?.end(end)
    }
    await store.deleteRecord(serverOwner, recordKind.open, run.id)
  }

  async function park(job: Job): Promise<void> {
    await job.stream?.flushed()
    await keep(job, { state: 'parked' })
  }

  /** Throws code 'record-changed' when another server has taken up the run. */
  async function keep(mine: Mine, change: Partial<StoredRun>, ...others: NewRecord[]): Promise<void> {
    const run = { ...mine.run, ...change }
    await store.putRecords([runRecord(run, mine.version), ...others])
    mine.run = run
    mine.version++
  }

  async function cancel(owner: string, runId: string, through: Store): Promise<RunView | undefined> {
    const run = await kept(owner, runId, through)
    if (!run || run.state === 'ended') return run && viewOf(run)
    const job = jobs.get(runId)
    if (job) await cancelJob(job)
    else await askElsewhere(owner, runId)
    const now = await kept(owner, runId, through)
    return now && viewOf(now)
  }

  async function cancelJob(job: Job): Promise<void> {
    job.why ??= 'cancel'
    job.stop.abort()
    const waiting = queue.indexOf(job)
    if (waiting >= 0) {
      queue.splice(waiting, 1)
      try {
        await endAtOnce(job)
      } finally {
        jobs.delete(job.run.id)
        job.finished()
        options.changed(job.run.conversationId)
      }
    }
    await within(5000, job.done)
  }

  async function endAtOnce(mine: Mine): Promise<void> {
    const { owner, conversationId, id } = mine.run
    mine.stream ??= await events.open(owner, conversationId, id)
    await finish(mine, { type: 'run-end', outcome: 'cancelled', usage: noUsage }, undefined)
  }

  /** The process that has the run looks for this once a second. */
  async function askElsewhere(owner: string, runId: string): Promise<void> {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    await store.putRecords([{ owner: serverOwner, kind: recordKind.cancel, id: runId, data: {}, expiresAt }])
    for (let waited = 0; waited < 3 * lookMs; waited += shortMs) {
      await until(shortMs, new AbortController().signal)
      if ((await kept(owner, runId))?.state === 'ended') return
    }
  }

  async function lookForCancels(): Promise<void> {
    if (jobs.size === 0) return
    const { items } = await store.records(serverOwner, recordKind.cancel)
    for (const { id } of items) {
      const job = jobs.get(id)
      if (!job) continue
      await store.deleteRecord(serverOwner, recordKind.cancel, id)
      await cancelJob(job)
    }
  }

  /** Takes up the runs whose server is gone, and those of this one that broke off. */
  async function recover(): Promise<void> {
    for (let cursor: string | undefined; ;) {
      const page = await store.records(serverOwner, recordKind.open, { limit: 500, ...(cursor && { cursor }) })
      for (const record of page.items) {
        const isHere = jobs.has(record.id) || coming.has(record.id) || unsaved.has(record.id)
        // One that cannot be read does not stop the others.
        if (!isHere) await recoverOne(textIn(record, 'owner'), record.id).catch(lookFailed)
      }
      cursor = page.next
      if (!cursor || stopping) return
    }
  }

  async function recoverOne(owner: string, runId: string): Promise<void> {
    const record = await store.record(owner, recordKind.run, runId)
    const run = readRun(record)
    if (!run || !record) {
      await store.deleteRecord(serverOwner, recordKind.open, runId)
      return
    }
    if (run.state !== 'parked' && run.holder !== holder.name) {
      if (performance.now() < backAt + graceMs || (await holder.lives(run.holder))) return
    }
    try {
      if (run.state === 'ended') return await closeStream(run)
      const lease = await store.lease(owner, run.conversationId)
      if (lease && !isAbandoned(lease)) return
      // Not parked any more: else the next server would take it up, too.
      const mine: Mine = { run, version: record.version }
      // Only one of several servers gets it: the version decides.
      await keep(mine, { holder: holder.name, state: 'queued' })
      if (await store.deleteRecord(serverOwner, recordKind.cancel, runId)) await endAtOnce(mine)
      else enqueue(mine)
    } catch (error) {
      if (!isChanged(error)) throw error
    }
  }

  /** A server was killed between the end of a run and saying so. */
  async function closeStream(run: StoredRun): Promise<void> {
    const { outcome, usage, failure } = run
    const end = { type: 'run-end', outcome, usage, ...(failure && { failure }) } as ServedEvent
    const isKept = await store.stream(run.owner, run.id, 0, 1)
    // One that has ended takes nothing more.
    if (isKept) await (await events.open(run.owner, run.conversationId, run.id)).end(end)
    await store.deleteRecord(serverOwner, recordKind.open, run.id)
  }

  function lookFailed(error: unknown): void {
    log({ event: 'look-failed', trace: traceOf(error) })
  }

  async function stop(graceMs: number): Promise<void> {
    stopping = true
    stopWatching?.()
    for (const look of looks) clearInterval(look)
    const all = Promise.all([...jobs.values()].filter((job) => !queue.includes(job)).map((job) => job.done))
    await within(graceMs, all)
    for (const job of jobs.values()) {
      job.why ??= 'park'
      job.stop.abort()
    }
    await within(5000, all)
    events.close()
    await holder.stop()
  }

  function every(ms: number, look: () => Promise<void>): NodeJS.Timeout {
    let busy = false
    const timer = setInterval(() => {
      if (busy) return
      busy = true
      look()
        .catch(lookFailed)
        .finally(() => (busy = false))
    }, ms)
    timer.unref()
    return timer
  }
}

function endOnFullDisk(failure: Failure): ExecutedRun['end'] {
  return { type: 'run-end', outcome: 'storage-full', usage: noUsage, failure }
}

/** A record was not as it was read. */
export function isChanged(error: unknown): error is SynapseError {
  return error instanceof SynapseError && error.failure.code === 'record-changed'
}

/** Undefined where the database could not be reached. */
async function unlessAway<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (asFailure(error).code === 'unavailable') return undefined
    throw error
  })
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  await Promise.race([work, until(ms, done.signal)])
  done.abort()
}

function overloaded(message: string): SynapseError {
  return new SynapseError({ kind: 'overloaded', message, retryAfterMs: 2000 })
}

export function busyWith(run: Pick<RunView, 'id'>): SynapseError {
  return new SynapseError({
    kind: 'conflict',
    code: 'busy',
    message: `The run ${run.id} is under way in this conversation. Wait for its end, or cancel it.`,
  })
}
