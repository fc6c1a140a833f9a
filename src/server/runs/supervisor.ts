// Runs belong to the server: they are stored before they start, wait for their turn, continue without listeners, are
// stopped on request, parked when the server stops, and resumed by the next one.

import { SynapseError, asFailure } from '../../core/error.ts'
import { writeOverAbandonedLease } from '../../run/log/lease.ts'
import { pathCache } from '../../run/log/path-cache.ts'
import type { Log } from '../log.ts'
import type { NewRecord } from '../../store/records.ts'
import type { NewEntry, Store } from '../../store/store.ts'
import { uuidv7 } from '../../store/ids.ts'
import type { RunView } from '../views.ts'
import { cancel, lookForCancels, lookMs } from './cancel.ts'
import { clientRunIn, clientRunSource } from './client-runs.ts'
import { eventLog } from './event-log.ts'
import type { RunExecutor } from './execute-run.ts'
import { runIn, runOf, runOfClient, storedRun } from './find-run.ts'
import { takeName } from './holder.ts'
import { enqueue, stopJobs } from './jobs.ts'
import { isChanged, type OwnRun, type Runs } from './own-runs.ts'
import { liveRuns, type LiveRuns } from './live-runs.ts'
import { lookFailed, recover } from './recover.ts'
import { activeRecord, openRecord, recordKind, runRecord, viewOf, type StoredRun } from './run-record.ts'
import { runSource } from './source.ts'
import type { EventSource } from './sse.ts'
import { saveEnds } from './unsaved-ends.ts'

export interface SupervisorOptions extends Omit<RunExecutor, 'paths'> {
  /** How many runs are active at once, and how many may wait. */
  maxRuns: number
  maxQueued: number
  log: Log
  /** Called whenever a run of this conversation starts, continues or ends. */
  changed: (conversationId: string) => void
}

interface NewRun extends Pick<StoredRun, 'owner' | 'conversationId' | 'settings' | 'keyId' | 'budget'> {
  entries: readonly NewEntry[]
  basedOn: string
  entryId?: string
  /** The new title of the conversation. */
  title?: string
  /** Moves the head, once the run is accepted. */
  move?: () => Promise<void>
  /** Written in the same transaction as the run. */
  records: (run: RunView) => NewRecord[]
}

export interface Supervisor {
  /** Throws kind 'overloaded' if there is no capacity, 'conflict' while the conversation has another run. */
  start(request: NewRun): Promise<RunView>
  /** Throws kind 'overloaded' if the server is about to stop, so that no run can start. */
  checkOpen(): void
  /** The same if there is no capacity for one that no connection waits for. */
  checkCapacity(): void
  /** A run that is not stored: other servers know it by its exchange. */
  follow: LiveRuns['begin']
  run(owner: string, runId: string): Promise<RunView | undefined>
  /** The active run of a conversation. */
  active(owner: string, conversationId: string): Promise<RunView | undefined>
  /** Undefined: there is no such run, or its events are no longer stored. */
  source(owner: string, runId: string): Promise<EventSource | undefined>
  /**
   * Returns the run after the change; it has ended, if its server could be reached. Throws kind 'conflict' for an answer to
   * a client that another process does not stop.
   */
  cancel(owner: string, runId: string): Promise<RunView | undefined>
  /** The same for one request, which waits for an unreachable database only as long as this store does. */
  using(store: Store): Supervisor
  readonly stopping: boolean
  /** There is no space left for the store. */
  readonly full: boolean
  /** Waits for active runs. Those that take longer are parked; answers to clients of other APIs end. */
  stop(graceMs: number): Promise<void>
}

const recoverMs = 10_000
/** How long the events of a run are stored after its end. */
const keepEventsMs = 7 * 24 * 3_600_000

export async function supervise(options: SupervisorOptions): Promise<Supervisor> {
  const { store, log } = options
  const runs: Runs = {
    ...options,
    executor: { ...options, paths: pathCache(store) },
    holder: await takeName(store),
    events: eventLog(store),
    jobs: new Map(),
    live: liveRuns(),
    queue: [],
    unsaved: new Map(),
    coming: new Set(),
    running: 0,
    stopping: false,
    backAt: Number.NEGATIVE_INFINITY,
  }
  await recover(runs)
  await store.dropStreams(new Date(Date.now() - keepEventsMs).toISOString())
  const looks = [
    every(runs, lookMs, lookForCancels),
    every(runs, recoverMs, recover),
    every(runs, lookMs, (all) => saveEnds(all)),
  ]
  const stopWatching = store.outages?.watch((outage) => {
    log({ event: outage ? 'store-away' : 'store-back', ...(outage && { why: outage.failure.message }) })
    if (outage) return
    runs.backAt = performance.now()
    // A run that was interrupted here need not wait for the next check.
    recover(runs).catch((error: unknown) => lookFailed(runs, error))
  })
  return supervisorOver(runs, store, async (graceMs) => {
    runs.stopping = true
    stopWatching?.()
    for (const look of looks) clearInterval(look)
    await stopJobs(runs, graceMs)
    runs.events.close()
    await runs.holder.stop()
  })
}

/** Requests use their own view of the store; the runs themselves wait as long as necessary. */
function supervisorOver(runs: Runs, through: Store, stop: Supervisor['stop']): Supervisor {
  return {
    start: (request) => start(runs, request, through),
    checkOpen: () => checkOpen(runs),
    checkCapacity: () => checkCapacity(runs),
    follow: runs.live.begin,
    async run(owner, runId) {
      const live = runs.live.run(owner, runId)
      if (live) return live
      const run = await storedRun(runs, owner, runId, through)
      return run ? viewOf(run) : runOfClient(runs, owner, runId, through)
    },
    active: async (owner, conversationId) =>
      runs.live.active(owner, conversationId) ??
      (await runIn(runs, owner, conversationId, through)) ??
      clientRunIn(through, owner, conversationId),
    source: async (owner, runId) => runs.live.source(owner, runId) ?? sourceOf(runs, owner, runId, through),
    cancel: async (owner, runId) => (await runs.live.cancel(owner, runId)) ?? cancel(runs, owner, runId, through),
    using: (other) => supervisorOver(runs, other, stop),
    get stopping() {
      return runs.stopping
    },
    get full() {
      return runs.unsaved.size > 0
    },
    stop,
  }
}

function checkOpen({ stopping }: Runs): void {
  if (stopping) throw overloaded('The server is shutting down. Try again in a moment.')
}

function checkCapacity({ running, queue, coming, live, maxRuns, maxQueued }: Runs): void {
  if (running + queue.length + coming.size + live.size < maxRuns + maxQueued) return
  throw overloaded('Too many runs are waiting. Try again in a moment.')
}

async function start(runs: Runs, request: NewRun, through: Store): Promise<RunView> {
  checkOpen(runs)
  checkCapacity(runs)
  const id = uuidv7()
  runs.coming.add(id)
  try {
    await saveEnds(runs, request.conversationId)
    const own = await writeRun(runs, request, id, through).catch(withFaster)
    enqueue(runs, own)
    return viewOf(own.run)
  } finally {
    runs.coming.delete(id)
  }

  /** Another run of this conversation may have been faster. */
  async function withFaster(error: unknown): Promise<never> {
    const other = isChanged(error) ? await runIn(runs, request.owner, request.conversationId, through) : undefined
    throw other ? busyWith(other) : error
  }
}

async function writeRun(runs: Runs, request: NewRun, id: string, through: Store): Promise<OwnRun> {
  const { entries, records, move, title, ...about } = request
  const { owner, conversationId } = request
  const before = await through.record(owner, recordKind.active, conversationId)
  const busy = await runOf(runs, owner, before, through)
  if (busy) throw busyWith(busy)
  if (move) await writeOverAbandonedLease(through, owner, conversationId, move)
  const run: StoredRun = {
    id,
    ...about,
    state: runs.running < runs.maxRuns ? 'running' : 'queued',
    model: request.settings.model,
    startedAt: new Date().toISOString(),
    holder: runs.holder.name,
  }
  const runRecords = [runRecord(run, 0), activeRecord(run, before?.version ?? 0), openRecord(run)]
  await writeOverAbandonedLease(through, owner, conversationId, () =>
    through.appendAll(owner, conversationId, entries, {}, [...records(viewOf(run)), ...runRecords]),
  )
  // At once, so that they can share a transaction, and not before: a refused request sets no title.
  const [stream] = await Promise.all([
    // So that a client that asks for its events finds them.
    unlessAway(runs.events.open(owner, conversationId, id, through)),
    title === undefined ? undefined : setTitle(runs, request, title, through),
  ])
  return { run, version: 1, ...(stream && { stream }) }
}

/** The message and its run are saved, so a database that fails now only delays the title. */
async function setTitle(runs: Runs, { owner, conversationId }: NewRun, title: string, through: Store): Promise<void> {
  const updated = through.updateConversation(owner, conversationId, { title }).then(() => true)
  if (await unlessAway(updated)) return
  const later = runs.store.updateConversation(owner, conversationId, { title })
  later.catch((error: unknown) => lookFailed(runs, error))
}

async function sourceOf(runs: Runs, owner: string, runId: string, through: Store): Promise<EventSource | undefined> {
  const { store, jobs, unsaved } = runs
  // A run of this process: active, or ended without space to save that.
  const localRun = () => jobs.get(runId) ?? unsaved.get(runId)?.own
  const isUnderWay = async (asked: Store) => {
    const run = await storedRun(runs, owner, runId, asked)
    return run !== undefined && run.state !== 'ended'
  }
  const isHere = localRun()?.run.owner === owner
  if (!isHere && !(await isUnderWay(through)) && !(await through.stream(owner, runId, 0, 1))) {
    const run = await runOfClient(runs, owner, runId, through)
    return run && clientRunSource(store, owner, run)
  }
  return runSource(store, owner, runId, { live: () => localRun()?.stream, isUnderWay: () => isUnderWay(store) })
}

function every(runs: Runs, ms: number, look: (runs: Runs) => Promise<void>): NodeJS.Timeout {
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    look(runs)
      .catch((error: unknown) => lookFailed(runs, error))
      .finally(() => (busy = false))
  }, ms)
  timer.unref()
  return timer
}

/** Undefined if the database could not be reached. */
async function unlessAway<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (asFailure(error).code === 'unavailable') return undefined
    throw error
  })
}

function overloaded(message: string): SynapseError {
  return new SynapseError({ kind: 'overloaded', message, retryAfterMs: 2000 })
}

export function busyWith(run: Pick<RunView, 'id'>): SynapseError {
  return new SynapseError({
    kind: 'conflict',
    code: 'busy',
    message: `This conversation is still being answered: wait for that answer, or cancel its run ${run.id}.`,
  })
}
