// A clock that a test moves by hand, and a reply whose pieces come when the test sends them: what a limit of time does
// is then decided by the test, not by how busy the machine is.

import type { Clock } from '../../src/transport/watch.ts'
import type { Fetch } from '../../src/transport/send.ts'

export interface FakeClock extends Clock {
  /** Lets this time pass, with everything that is due on its way, in order. */
  pass(ms: number): Promise<void>
  /** How many timers wait. */
  readonly waiting: number
}

export function fakeClock(): FakeClock {
  let time = 0
  const timers = new Set<{ at: number; run: () => void }>()
  return {
    now: () => time,
    after(ms, run) {
      const timer = { at: time + ms, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async pass(ms) {
      const end = time + ms
      await settled()
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
        if (!next) break
        time = Math.max(time, next.at)
        timers.delete(next)
        next.run()
        await settled()
      }
      time = end
    },
    get waiting() {
      return timers.size
    },
  }
}

/** Everything that is ready to run has run: several turns, because a piece goes through several streams. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}

export interface SentReply {
  fetch: Fetch
  headers(contentType?: string): void
  write(piece: string | Uint8Array): Promise<void>
  end(): Promise<void>
}

/** The answer to one request. */
export function sentReply(): SentReply {
  const answered = Promise.withResolvers<Awaited<ReturnType<Fetch>>>()
  let body: ReadableStreamDefaultController<Uint8Array> | undefined
  const stream = new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) })
  return {
    fetch(_, { signal }) {
      signal?.addEventListener('abort', () => {
        answered.reject(signal.reason)
        try {
          body?.error(signal.reason)
        } catch {
          // it has ended
        }
      })
      return answered.promise
    },
    headers(contentType = 'text/event-stream') {
      answered.resolve(new Response(stream, { headers: { 'content-type': contentType } }))
    },
    async write(piece) {
      body?.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)
      await settled()
    },
    async end() {
      body?.close()
      await settled()
    },
  }
}
