// A fetch that gives up on a body in which one message is too long. Behind `text/event-stream` a message is a line, and
// the stream as a whole may continue forever.

import { SynapseError } from '../core/error.ts'

const newline = 10

export function limitedFetch(maxBytes: number, inner: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const reply = await inner(input, init)
    if (!reply.body) return reply
    const lines = reply.headers.get('content-type')?.startsWith('text/event-stream') === true
    const body = reply.body.pipeThrough(counting(maxBytes, lines))
    return new globalThis.Response(body, { status: reply.status, statusText: reply.statusText, headers: reply.headers })
  }
}

function counting(maxBytes: number, lines: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      const last = lines ? chunk.lastIndexOf(newline) : -1
      size = last >= 0 ? chunk.length - last - 1 : size + chunk.length
      if (size > maxBytes || (last >= 0 && chunk.length > maxBytes)) {
        controller.error(new SynapseError({ kind: 'too-large', message: `a message of more than ${maxBytes} bytes` }))
      } else {
        controller.enqueue(chunk)
      }
    },
  })
}
