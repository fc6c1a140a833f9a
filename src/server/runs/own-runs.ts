// The runs of this process: those that wait, active ones, those whose end is not saved; and how each is stored.

import { SynapseError } from '../../core/error.ts'
import type { NewRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../log.ts'
import { serverOwner } from '../keys.ts'
import type { EventLog, RunStream } from './event-log.ts'
import type { ExecutedRun, RunExecutor } from './execute-run.ts'
import type { Holder } from './holder.ts'
import type { LiveRuns } from './live-runs.ts'
import { freeRecord, recordKind, runRecord, type StoredRun } from './run-record.ts'

/** What a server knows about its runs. */
export interface Runs {
  readonly store: Store
  readonly log: Log
  /** How many runs are active at once, and how many may wait. */
  readonly maxRuns: number
  readonly maxQueued: number
  /** Called whenever a run of this conversation starts, continues or ends. */
  readonly changed: (conversationId: string) => void
  readonly executor: RunExecutor
  readonly holder: Holder
  readonly events: EventLog
  readonly jobs: Map<string, Job>
  readonly live: LiveRuns
  readonly queue: Job[]
  /** Ends that could not be saved for lack of space. */
  readonly unsaved: Map<string, UnsavedEnd>
  /** Runs that are being stored. */
  readonly coming: Set<string>
  running: number
  stopping: boolean
  /** When the database came back from its last outage. */
  backAt: number
}

export interface OwnRun {
  run: StoredRun
  /** Of its record: it changes when another server takes over the run. */
  version: number
  stream?: RunStream
}

/** A run that ended because the store is full, so that its end could not be written either. */
export interface UnsavedEnd {
  own: OwnRun
  end: ExecutedRun['end']
  cost: number | undefined
  endedAt: string
  saving?: Promise<void>
}

export interface Job extends OwnRun {
  stop: AbortController
  /** Why it was stopped: at a user's request, or because the server stops. */
  why?: 'cancel' | 'park'
  done: Promise<void>
  finished(): void
}

/** The conversation is released before the end of the run is reported. */
export async function finish(runs: Runs, own: OwnRun, end: ExecutedRun['end'], cost?: number): Promise<void> {
  const { run, stream } = own
  const { outcome, usage, failure } = end
  await stream?.flushed()
  if (await runs.store.conversation(run.owner, run.conversationId)) {
    const endedAt = new Date().toISOString()
    const more = { ...(cost !== undefined && { cost }), ...(failure && { failure }) }
    await saveRun(runs, own, { state: 'ended', endedAt, outcome, usage, ...more }, freeRecord(run))
    await stream?.end(end)
  }
  await runs.store.deleteRecord(serverOwner, recordKind.open, run.id)
}

/** Throws code 'record-changed' when another server has taken over the run. */
export async function saveRun(
  { store }: Pick<Runs, 'store'>,
  own: OwnRun,
  change: Partial<StoredRun>,
  ...others: NewRecord[]
): Promise<void> {
  const run = { ...own.run, ...change }
  await store.putRecords([runRecord(run, own.version), ...others])
  own.run = run
  own.version++
}

/** A record has changed since it was read. */
export function isChanged(error: unknown): error is SynapseError {
  return error instanceof SynapseError && error.failure.code === 'record-changed'
}
