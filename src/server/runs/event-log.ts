// The events of runs on their way into the store. An event is not shown before it is stored: otherwise a client could
// have a number that means something else after a crash.
//
// All runs of the process are written together, at once if nothing was written recently, otherwise after a short pause:
// the cost is one commit per pause, however many runs there are. Only a run that waits for its events, such as at its
// end, does not wait for the others. Waiting deltas are merged, and each event is serialised once, for the store and
// for all readers.

import type { RunEvent } from '../../core/event.ts'
import type { Failure } from '../../core/error.ts'
import { joinDeltas } from '../../core/fold.ts'
import type { Store } from '../../store/store.ts'
import { frame, withoutNumber, type Frames } from './sse.ts'

/** A run, as its watchers see it, can also have been resumed. */
export type ServedEvent = RunEvent | { type: 'run-resumed'; at: string }

export interface RunStream {
  /** How many events it had when it was opened. */
  readonly before: number
  /** Events from this number on that are still in memory; undefined: they are only in the store. */
  recent(from: number): Frames | undefined
  push(event: ServedEvent): void
  /** Resolves when everything pushed so far is in the store. */
  flushed(): Promise<void>
  /** The last event; resolves when it is in the store. */
  end(event: ServedEvent): Promise<void>
  /** Ends it for current readers, if the end cannot be written. What was pushed is written when possible. */
  breakOff(event: ServedEvent): void
  /** Calls back whenever there is more; returns a function that stops it. */
  watch(more: () => void): () => void
  /** Why nothing more can be written, if so: another process has taken over the run. */
  readonly lost: Failure | undefined
}

export interface EventLog {
  /** `through`: another view of the same store, for a caller with less time. */
  open(owner: string, conversationId: string, runId: string, through?: Store): Promise<RunStream>
  /** Discards what cannot be written. */
  close(): void
}

/**
 * What is pushed meanwhile is written together. The more there is to write, the longer the pause: most of the time is
 * for the runs.
 */
const pause = { leastMs: 2, mostMs: 250, times: 4 }
const retryMs = 250
/** How much of a run stays in memory for its watchers. */
const recentSize = 256 * 1024
/** Waiting deltas are merged up to this length. */
const deltaSize = 4096

export function eventLog(store: Store): EventLog {
  const waiting = new Set<Writer>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let nextAt = 0
  let closed = false

  return {
    async open(owner, conversationId, runId, through = store) {
      const { epoch, next } = await through.openStream(owner, conversationId, runId)
      const writer = new Writer(owner, runId, epoch, next, () => schedule(writer))
      return writer
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }

  function schedule(writer: Writer): void {
    waiting.add(writer)
    if (writer.isAwaited) writeDue()
    else if (!writing && !closed) timer ??= setTimeout(writeDue, Math.max(0, nextAt - performance.now()))
  }

  function writeDue(): void {
    if (writing || closed || waiting.size === 0) return
    clearTimeout(timer)
    timer = undefined
    const began = performance.now()
    const isTime = began >= nextAt
    const writers = [...waiting].filter((writer) => isTime || writer.isAwaited)
    if (writers.length === 0) {
      timer = setTimeout(writeDue, nextAt - began)
      return
    }
    for (const writer of writers) waiting.delete(writer)
    writing = write(writers).finally(() => {
      writing = undefined
      const now = performance.now()
      if (isTime) nextAt = now + Math.min(pause.mostMs, Math.max(pause.leastMs, pause.times * (now - began)))
      writeDue()
    })
  }

  async function write(writers: readonly Writer[]): Promise<void> {
    const batches = writers.map((writer) => writer.take())
    for (let isRepeated = false; ; isRepeated = true) {
      if (closed) return
      try {
        const failures = await store.appendStreams(batches)
        for (const [i, writer] of writers.entries()) {
          const failure = failures[i]
          writer.written(isRepeated && isWritten(failure) ? undefined : failure)
        }
        return
      } catch {
        // The disk may be full or the database unreachable: the runs notice it themselves, and their last events wait
        // here.
        await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
    }
  }
}

/** An earlier attempt may have been written after all: with this epoch it cannot have been anyone else. */
function isWritten(failure: Failure | undefined): boolean {
  return failure?.code === 'stream-gap' || failure?.code === 'stream-ended'
}

class Writer implements RunStream {
  readonly before: number
  lost: Failure | undefined
  readonly #owner: string
  readonly #streamId: string
  readonly #epoch: number
  readonly #wake: () => void
  readonly #watchers = new Set<() => void>()
  #pending: ServedEvent[] = []
  #ending = false
  #taken: string[] = []
  /** How many events are in the store. */
  #written: number
  #ended = false
  #brokenOff: string | undefined
  #recent: string[] = []
  #recentBytes = 0
  #settled: (() => void)[] = []

  constructor(owner: string, streamId: string, epoch: number, before: number, wake: () => void) {
    this.before = before
    this.#owner = owner
    this.#streamId = streamId
    this.#epoch = epoch
    this.#written = before
    this.#wake = wake
  }

  push(event: ServedEvent): void {
    const last = this.#pending.at(-1)
    const joined = last && join(last, event)
    if (joined) this.#pending[this.#pending.length - 1] = joined
    else this.#pending.push(event)
    if (!this.lost) this.#wake()
  }

  flushed(): Promise<void> {
    if (this.lost || (this.#pending.length === 0 && this.#taken.length === 0)) return Promise.resolve()
    return new Promise((resolve) => {
      this.#settled.push(resolve)
      if (this.#pending.length > 0) this.#wake()
    })
  }

  end(event: ServedEvent): Promise<void> {
    this.#ending = true
    this.push(event)
    return this.flushed()
  }

  breakOff(event: ServedEvent): void {
    this.#brokenOff = withoutNumber(JSON.stringify(event))
    for (const more of this.#watchers) more()
  }

  get isAwaited(): boolean {
    return this.#settled.length > 0
  }

  watch(more: () => void): () => void {
    this.#watchers.add(more)
    return () => this.#watchers.delete(more)
  }

  recent(from: number): Frames | undefined {
    const first = this.#written - this.#recent.length
    if (from < first) return undefined
    const [frames, next] = [this.#recent.slice(from - first), Math.max(from, this.#written)]
    if (this.#brokenOff === undefined || this.#ended) return { frames, next, ended: this.#ended }
    return { frames: [...frames, this.#brokenOff], next, ended: true }
  }

  /** What must be written now. */
  take(): Parameters<Store['appendStreams']>[0][number] {
    this.#taken = this.#pending.map((event) => JSON.stringify(event))
    this.#pending = []
    const { length } = this.#taken
    return {
      owner: this.#owner,
      streamId: this.#streamId,
      epoch: this.#epoch,
      offset: this.#written,
      events: this.#taken,
      ...(this.#ending && length > 0 && { end: true }),
    }
  }

  written(failure: Failure | undefined): void {
    if (failure) this.lost = failure
    else this.#remember()
    this.#taken = []
    if (this.lost || this.#pending.length === 0) for (const settle of this.#settled.splice(0)) settle()
    for (const more of this.#watchers) more()
  }

  #remember(): void {
    this.#ended ||= this.#ending && this.#pending.length === 0
    for (const event of this.#taken) {
      const framed = frame(++this.#written, event)
      this.#recentBytes += framed.length
      this.#recent.push(framed)
    }
    let dropped = 0
    while (this.#recentBytes > recentSize && dropped < this.#recent.length) {
      this.#recentBytes -= this.#recent[dropped++]?.length ?? 0
    }
    if (dropped > 0) this.#recent = this.#recent.slice(dropped)
  }
}

function join(before: ServedEvent, event: ServedEvent): ServedEvent | undefined {
  if (before.type !== 'reply-event' || event.type !== 'reply-event') return undefined
  if (before.exchangeId !== event.exchangeId) return undefined
  const both = joinDeltas(before.event, event.event, deltaSize)
  return both && { ...before, event: both }
}
