// The events of a run as an HTTP response of server-sent events, with web standards only: for any framework whose
// handlers return a `Response`.

import type { RunEvent } from '../../core/event.ts'

/** Headers that keep proxies from buffering events. */
const streamHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

export function eventResponse(events: AsyncIterable<RunEvent>, init?: ResponseInit): Response {
  return streamResponse(lines(), init)

  async function* lines(): AsyncGenerator<string> {
    for await (const event of events) yield `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  }
}

/** A response that is written as its text arrives. The caller's headers override the default ones. */
export function streamResponse(texts: AsyncGenerator<string>, init: ResponseInit = {}): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    // Not awaited: the generator may itself be waiting for an event.
    cancel: () => void texts.return(undefined),
  })
  const headers = new Headers(init.headers)
  for (const [name, value] of Object.entries(streamHeaders)) if (!headers.has(name)) headers.set(name, value)
  return new Response(body, { ...init, headers })
}
