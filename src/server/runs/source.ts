// Where the events of a run are read from: from memory while it runs here, otherwise from the store, where another
// process may be writing them. Both have the same events under the same numbers.

import type { RunEvent } from '../../core/event.ts'
import type { Outage, Store } from '../../store/store.ts'
import type { RunStream } from './event-log.ts'
import { frame, withoutNumber, type EventSource } from './sse.ts'

/** How often the store is polled for events that another process writes, if it does not notify. */
export const pollMs = 200
/** If it does, a notification can still get lost. */
const lookMs = 10_000

interface Watching {
  /** The stream of the run while it is in this process. */
  live(): RunStream | undefined
  /** Whether it is still active. */
  isUnderWay(): Promise<boolean>
}

export function runSource(store: Store, owner: string, runId: string, { live, isUnderWay }: Watching): EventSource {
  const elsewhere = signs(store, runId)
  const { outages } = store
  let reported: Outage | undefined
  return {
    async read(from) {
      const stream = live()
      // A run that another server has taken over continues in the store.
      const recent = stream?.lost ? undefined : stream?.recent(from)
      if (recent) return recent
      if (outages?.current()) return { frames: [], next: from, ended: false }
      elsewhere.seen()
      const { events, next, ended } = (await readStored(from)) ?? { events: [], next: from, ended: true }
      return { frames: events.map((event, i) => frame(from + i + 1, event)), next, ended }
    },
    async wait(from, ms, signal) {
      const stream = live()
      if (!stream || stream.lost) {
        if (!outages?.current()) return elsewhere.next(ms, signal)
        return until(ms, signal, (wake) => outages.watch(wake))
      }
      // It may have arrived between the check and the wait.
      const now = stream.recent(from)
      if (now && now.frames.length === 0 && !now.ended) await until(ms, signal, (wake) => either(stream, wake))
    },
    notice() {
      const outage = outages?.current()
      if (outage?.since === reported?.since) return undefined
      const waitedMs = reported ? Date.now() - Date.parse(reported.since) : 0
      reported = outage
      const event: RunEvent = outage ? { type: 'store-waiting', ...outage } : { type: 'store-back', waitedMs }
      return withoutNumber(JSON.stringify(event))
    },
    close: () => elsewhere.close(),
  }

  function either(stream: RunStream, wake: () => void): () => void {
    const stops = [stream.watch(wake), outages?.watch(wake)]
    return () => {
      for (const stop of stops) stop?.()
    }
  }

  /** Undefined: it was deleted, with its conversation or long after its end. */
  async function readStored(from: number) {
    const page = await store.stream(owner, runId, from)
    if (page) return page
    if (await isUnderWay()) return { events: [], next: from, ended: false }
    // It may have started and ended since the first check.
    return store.stream(owner, runId, from)
  }
}

interface Signs {
  /** The store is read now: earlier notices are out of date. */
  seen(): void
  /** Resolves when there may be more. */
  next(ms: number, signal: AbortSignal): Promise<void>
  close(): void
}

function signs(store: Store, runId: string): Signs {
  let stop: (() => void) | undefined
  let isNotified = false
  let wake: (() => void) | undefined
  const more = (): void => {
    isNotified = true
    wake?.()
  }
  const lost = (): void => {
    stop = undefined
    more()
  }
  const onWake = (done: () => void): (() => void) => {
    wake = done
    return () => (wake = undefined)
  }
  return {
    seen() {
      isNotified = false
    },
    async next(ms, signal) {
      if (isNotified || signal.aborted) return
      if (stop) return until(Math.min(ms, lookMs), signal, onWake)
      stop = await store.listen?.(runId, { more, lost }).catch(() => undefined)
      // Something may have arrived before listening started.
      if (!stop) return until(Math.min(ms, pollMs), signal)
      if (signal.aborted) this.close()
    },
    close() {
      stop?.()
      stop = undefined
    },
  }
}

/** Resolves after a time, when `signal` fires, or when it is woken. */
export function until(
  ms: number,
  signal: AbortSignal,
  listen: (wake: () => void) => () => void = () => () => {},
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    const stop = listen(done)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}
