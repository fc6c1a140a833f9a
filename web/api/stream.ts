// Server-sent events over fetch: EventSource cannot send a key. A broken stream is resumed after the last received
// event, so every event arrives once. A hidden tab closes its streams (a browser has six connections per server, over
// all tabs) and catches up when it is visible again.

import { createParser } from 'eventsource-parser'
import { ApiError, reach, refused } from './client.ts'

export interface Streamed {
  id: string | undefined
  type: string
  data: string
}

/** Returns a function that stops it. `onEnd` is called when nothing more will come, with an error if it was refused. */
export function follow(
  path: string,
  onEvent: (event: Streamed) => void,
  onEnd?: (error?: ApiError) => void,
): () => void {
  let lastId: string | undefined
  let failures = 0
  let ended = false
  let connection: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  document.addEventListener('visibilitychange', wake)
  if (!document.hidden) void connect()
  return stop

  function wake(): void {
    if (document.hidden) disconnect()
    else if (!connection) void connect()
  }

  function disconnect(): void {
    clearTimeout(timer)
    connection?.abort()
    connection = undefined
  }

  function stop(): void {
    ended = true
    document.removeEventListener('visibilitychange', wake)
    disconnect()
  }

  async function connect(): Promise<void> {
    clearTimeout(timer)
    const started = new AbortController()
    connection = started
    try {
      await read(started.signal)
    } catch (error) {
      if (started.signal.aborted) return
      if (error instanceof ApiError && isFinal(error.failure.status)) {
        stop()
        onEnd?.(error)
        return
      }
      failures++
    }
    if (ended || started.signal.aborted) return
    timer = setTimeout(() => void connect(), Math.min(10_000, 250 * 2 ** failures))
  }

  async function read(signal: AbortSignal): Promise<void> {
    const headers = { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) }
    const answer = await reach('GET', path, { headers, signal })
    if (answer.status === 204) {
      stop()
      onEnd?.()
      return
    }
    if (!answer.ok || !answer.body) throw await refused(answer)
    const parser = createParser({
      onEvent(event) {
        if (ended || signal.aborted) return
        if (event.id !== undefined) lastId = event.id
        failures = 0
        onEvent({ id: event.id, type: event.event ?? 'message', data: event.data })
      },
    })
    const decoder = new TextDecoder()
    const reader = answer.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
    }
  }
}

/** A rate limit is temporary. */
function isFinal(status: number | undefined): boolean {
  return status !== undefined && status < 500 && status !== 429
}
