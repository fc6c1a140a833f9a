// Reports when a conversation has changed, so that two pages with it stay in sync. Each event is the whole state:
// nothing can be missed.

import { SynapseError } from '../../core/error.ts'
import { lastingContext, type ServerContext } from '../context.ts'
import { traceOf } from '../log.ts'
import { route, type Route } from '../route.ts'
import { checkCapacity, releaseSlot, takeSlot } from '../run-stream.ts'
import { streamHeaders } from '../runs/sse.ts'
import { viewOf } from './conversations.ts'

/** Another process on the same store does not notify this one: so it is polled. */
const lookMs = 1000
const heartbeatMs = 15_000

export const watchRoutes: readonly Route[] = [
  route({
    operationId: 'watchConversation',
    method: 'get',
    path: '/api/conversations/{id}/watch',
    access: 'read',
    summary: 'A stream that reports when the conversation has changed',
    answer: { status: 200, description: 'Server-sent events.', types: ['text/event-stream'] },
    async handle({ server, owner, param }) {
      await viewOf(server, owner, param('id'))
      checkCapacity(server)
      return new Response(watchStream(lastingContext(server), owner, param('id')), { headers: streamHeaders })
    },
  }),
]

function watchStream(server: ServerContext, owner: string, id: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let last: string | undefined
  let sentAt = 0
  let wake: (() => void) | undefined
  let isClosed = false
  let stop: (() => void) | undefined

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!stop) begin()
        try {
          for (;;) {
            if (isClosed) return
            const text = await news()
            if (text !== undefined) {
              sentAt = performance.now()
              controller.enqueue(encoder.encode(text))
              if (last === '') close(controller)
              return
            }
            await change()
          }
        } catch (error) {
          if (isClosed) return
          // The client reconnects, and then finds out whether the run continues.
          server.log({ event: 'watch-broken', trace: traceOf(error) })
          close(controller)
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )

  function begin(): void {
    takeSlot(server)
    stop = server.changes.listen(id, () => wake?.())
  }

  async function news(): Promise<string | undefined> {
    const state = await viewOf(server, owner, id).catch((error: unknown) => {
      if (error instanceof SynapseError && error.kind === 'not-found') return undefined
      throw error
    })
    const data = state ? JSON.stringify(state) : ''
    if (data === last) return performance.now() - sentAt > heartbeatMs ? ': still here\n\n' : undefined
    last = data
    return state ? `event: conversation\ndata: ${data}\n\n` : 'event: deleted\ndata: {}\n\n'
  }

  function change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(finish, lookMs)
      wake = finish
      function finish(): void {
        clearTimeout(timer)
        wake = undefined
        resolve()
      }
    })
  }

  function close(controller: ReadableStreamDefaultController<Uint8Array>): void {
    leave()
    controller.close()
  }

  function leave(): void {
    if (isClosed) return
    isClosed = true
    wake?.()
    if (!stop) return
    stop()
    releaseSlot(server)
  }
}
