// A run's events as a stream of server-sent events, pulled by the reader: what a slow reader has not read yet is in the
// store and not in memory, so nothing waits for it and nothing grows. A reader that leaves stops only its own stream.

const usualHeartbeatMs = 15_000
/** The approximate size of a batch. */
const chunkSize = 64 * 1024

/** Events as they are sent. */
export interface Frames {
  frames: string[]
  next: number
  /** There are no more. */
  ended: boolean
}

export interface EventSource {
  /** Events from this number on, the first being 0. */
  read(from: number): Promise<Frames>
  /** Resolves when there may be more, after `ms` at the latest, or when `signal` fires. */
  wait(from: number, ms: number, signal: AbortSignal): Promise<void>
  /** Notices without a number that are in no log, such as that the store is unreachable; each is returned once. */
  notice?(): string | undefined
  /** The reader has left. */
  close(): void
}

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  // Without it the adapter waits a moment for a whole body.
  'transfer-encoding': 'chunked',
}

export interface Watched {
  /** Called when a reader starts, if that happens, and then `onClose`, once, however it ends. */
  onOpen(): void
  onClose(): void
  /** The keep-alive interval; 15 seconds by default. */
  heartbeatMs?: number
}

export function eventStream(source: EventSource, after: number, watched: Watched): ReadableStream<Uint8Array> {
  const closed = new AbortController()
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
          const text = await nextText()
          if (closed.signal.aborted) return
          if (text !== undefined) return controller.enqueue(encoder.encode(text))
          close()
          controller.close()
        } catch (error) {
          close()
          controller.error(error)
        }
      },
      cancel() {
        closed.abort()
        close()
      },
    },
    { highWaterMark: 0 },
  )

  /** Some events as they are sent, or a keep-alive; undefined: that was all. */
  async function nextText(): Promise<string | undefined> {
    const since = performance.now()
    while (unsent.length === 0) {
      if (ended || closed.signal.aborted) return undefined
      const page = await source.read(next)
      unsent = page.frames
      ended = page.ended
      if (unsent.length > 0 || ended) continue
      const notice = source.notice?.()
      if (notice !== undefined) return notice
      const remainingMs = since + (watched.heartbeatMs ?? usualHeartbeatMs) - performance.now()
      if (remainingMs <= 0) return ': still here\n\n'
      await source.wait(next, remainingMs, closed.signal)
    }
    let size = 0
    let count = 0
    while (count < unsent.length && size < chunkSize) size += unsent[count++]?.length ?? 0
    const text = unsent.slice(0, count).join('')
    unsent = unsent.slice(count)
    next += count
    return text
  }

  function close(): void {
    if (isOpen) {
      source.close()
      watched.onClose()
    }
    isOpen = false
  }
}

/** `event` is its JSON, `id` the number of events up to it. */
export function frame(id: number, event: string): string {
  return `id: ${id}\n${withoutNumber(event)}`
}

/** An event that a reader does not count: it may or may not come again when the stream is resumed. */
export function withoutNumber(event: string): string {
  const [, type = 'message'] = /^\{"type":"([a-z-]+)"/.exec(event) ?? []
  return `event: ${type}\ndata: ${event}\n\n`
}
