// A body that is written while it is produced. The HTTP server writes it straight to the connection, because the queues
// and promises of a web stream cost more than a small event; WebSockets and tests read it as the web stream of the response.

import type { ServerResponse } from 'node:http'
import { channel } from '../run/events/channel.ts'

export interface BodySink {
  /** `sent`: called once the piece is on its way to the reader; not by every sink. */
  write(piece: string | Uint8Array, sent?: () => void): void
  end(): void
  /** Aborts the body, so that a truncated one does not seem complete. */
  fail(error: unknown): void
}

export interface BodySource {
  /** Called once, if the body is read at all. */
  start(sink: BodySink): void
  /** The reader has the whole body. */
  delivered(): void
  /** The reader has left. */
  cancel(): void
}

const sources = new WeakMap<Response, BodySource>()

export function streamedResponse(
  source: BodySource,
  init: { status?: number; headers: Record<string, string> },
): Response {
  const response = new Response(webStream(source), init)
  sources.set(response, source)
  return response
}

/** A body that is complete. */
export function textResponse(
  text: string,
  headers: Record<string, string>,
  delivered: (() => void) | undefined,
): Response {
  const source: BodySource = {
    start(sink) {
      sink.write(text)
      sink.end()
    },
    delivered: () => delivered?.(),
    cancel() {},
  }
  return streamedResponse(source, { headers })
}

/** The body of a response, before anything reads it; undefined: it is not produced by a source. */
export function sourceOf(response: Response): BodySource | undefined {
  return sources.get(response)
}

/** False: the body has to be read from the response. */
export function writeStreamed(response: Response, outgoing: ServerResponse): boolean {
  const source = sourceOf(response)
  if (!source) return false
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  // Writing to a client that has just left is not an error of the server.
  outgoing.on('error', () => {})
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) source.cancel()
  })
  const { socket } = outgoing
  let isEmpty = true
  source.start({
    write(piece, sent) {
      if (!outgoing.destroyed) outgoing.write(piece, sent && (() => socket?.destroyed !== true && sent()))
      // Node would wait until all that is to be done now is done, which includes what the first piece leads to.
      if (isEmpty) socket?.uncork()
      isEmpty = false
    },
    end() {
      if (outgoing.destroyed) return
      // Node reports a response as finished too if its connection was closed with a part of it unsent.
      outgoing.end(() => socket?.destroyed !== true && source.delivered())
    },
    fail: () => void outgoing.destroy(),
  })
  if (isEmpty) outgoing.flushHeaders()
  return true
}

function webStream(source: BodySource): ReadableStream<Uint8Array> {
  const pieces = channel<string | Uint8Array>()
  const reading = pieces[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let isStarted = false
  let broken: { error: unknown } | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isStarted) source.start({ write: pieces.push, end: pieces.end, fail })
        isStarted = true
        const { done, value } = await reading.next()
        if (value !== undefined) controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
        if (done !== true) return
        if (broken) return controller.error(broken.error)
        controller.close()
        source.delivered()
      },
      cancel: () => source.cancel(),
    },
    { highWaterMark: 0 },
  )

  function fail(error: unknown): void {
    broken = { error }
    pieces.end()
  }
}
