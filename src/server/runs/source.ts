// Where the events of a run are read from: from memory while it runs here, else from the store, where another process
// may be writing them. Both give the same events under the same numbers.

import type { Store } from '../../store/store.ts'
import type { RunStream } from './event-log.ts'
import type { EventSource } from './sse.ts'

/** How often the store is asked for events that another process writes. */
const pollMs = 200

/** `live` gives the stream of the run while it is in this process. */
export function runSource(store: Store, owner: string, runId: string, live: () => RunStream | undefined): EventSource {
  return {
    async read(from) {
      const recent = live()?.recent(from)
      if (recent) return recent
      // A stream that is gone has been taken away with its conversation: then this is the end.
      return (await store.stream(owner, runId, from)) ?? { events: [], next: from, ended: true }
    },
    async wait(from, ms, signal) {
      const stream = live()
      if (stream && !stream.lost) await nextChange(stream, from, ms, signal)
      else await pause(Math.min(ms, pollMs), signal)
    },
  }
}

function nextChange(stream: RunStream, from: number, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      stop()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const stop = stream.watch(done)
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    // It may have come between the look and the wait.
    const now = stream.recent(from)
    if (signal.aborted || stream.lost || !now || now.events.length > 0 || now.ended) done()
  })
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}
