// A run's events as a stream of server-sent events, pulled by the reader: what a slow one has not read yet is in the
// store and not in memory, so nobody waits for it and nothing grows. A reader that leaves stops nothing but itself.

const usualHeartbeatMs = 15_000
/** About how much is handed over at once. */
const chunkSize = 64 * 1024

export interface EventSource {
  /** Events from this number on, the first being 0. */
  read(from: number): Promise<{ events: string[]; next: number; ended: boolean }>
  /** Resolves when there may be more, after `ms` at the latest, or when `signal` says so. */
  wait(from: number, ms: number, signal: AbortSignal): Promise<void>
}

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  // Without it the adapter waits for a whole body for a moment.
  'transfer-encoding': 'chunked',
}

export interface Watched {
  /** Called when somebody begins to read, if that happens, and then `onClose`, once, however it ends. */
  onOpen(): void
  onClose(): void
  /** How long to be silent; 15 seconds unless told. */
  heartbeatMs?: number
}

export function eventStream(source: EventSource, after: number, watched: Watched): ReadableStream<Uint8Array> {
  const gone = new AbortController()
  const encoder = new TextEncoder()
  let next = after
  let unsent: string[] = []
  let ended = false
  let isOpen = false

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isOpen) watched.onOpen()
        isOpen = true
        try {
          const text = await more()
          if (gone.signal.aborted) return
          if (text !== undefined) return controller.enqueue(encoder.encode(text))
          close()
          controller.close()
        } catch (error) {
          close()
          controller.error(error)
        }
      },
      cancel() {
        gone.abort()
        close()
      },
    },
    { highWaterMark: 0 },
  )

  /** Some events as they go over the wire, or a sign of life; undefined: that was all. */
  async function more(): Promise<string | undefined> {
    const since = performance.now()
    while (unsent.length === 0) {
      if (ended || gone.signal.aborted) return undefined
      const page = await source.read(next)
      unsent = page.events
      ended = page.ended
      if (unsent.length > 0 || ended) continue
      const left = since + (watched.heartbeatMs ?? usualHeartbeatMs) - performance.now()
      if (left <= 0) return ': still here\n\n'
      await source.wait(next, left, gone.signal)
    }
    const lines: string[] = []
    let size = 0
    let count = 0
    for (; count < unsent.length && size < chunkSize; count++) {
      const line = frame(++next, unsent[count] ?? '')
      size += line.length
      lines.push(line)
    }
    unsent = unsent.slice(count)
    return lines.join('')
  }

  function close(): void {
    if (isOpen) watched.onClose()
    isOpen = false
  }
}

function frame(id: number, event: string): string {
  const [, type = 'message'] = /^\{"type":"([a-z-]+)"/.exec(event) ?? []
  return `id: ${id}\nevent: ${type}\ndata: ${event}\n\n`
}
