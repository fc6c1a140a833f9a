// A provider on loopback that streams so many events for every request: `/EVENTS/PAUSE/chat/completions`. One event per
// write, as model servers do, each with its number and the time it was sent, and the usage at the end if it is asked for. A pause of 0
// is as fast as it goes.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// Longer than any pause of the bench: else a relay might send a request into a connection that is just being closed.
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const [, events = '200', pause = '0'] = (request.url ?? '').split('/')
  let hasUsage = false
  request.on('data', (piece: Buffer) => (hasUsage ||= /"include_usage":\s*true/.test(piece.toString('latin1'))))
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    stream(response, Number(events), { pauseMs: Number(pause), hasUsage })
  })
})
server.listen(0, '127.0.0.1', 20_000, () => console.log((server.address() as AddressInfo).port))

const created = Math.floor(Date.now() / 1000)

function stream(
  response: ServerResponse,
  events: number,
  { pauseMs, hasUsage }: { pauseMs: number; hasUsage: boolean },
): void {
  let sent = 0
  const next = (): void => {
    if (response.destroyed) return
    if (sent === events) {
      response.write(line({}, 'stop'))
      if (hasUsage) response.write(usageLine)
      response.end('data: [DONE]\n\n')
      return
    }
    const free = response.write(line({ content: ` ~${sent++}:${now()};` }, null))
    if (!free) response.once('drain', next)
    else if (pauseMs > 0) setTimeout(next, pauseMs)
    else setImmediate(next)
  }
  response.write(line({ role: 'assistant', content: '' }, null))
  next()
}

const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 }
const usageLine = `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created, model: 'm', choices: [], usage })}\n\n`

function line(delta: object, finish: string | null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finish }
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created, model: 'm', choices: [choice] })}\n\n`
}

/** Microseconds, by the same clock in every process of this machine. */
function now(): bigint {
  return process.hrtime.bigint() / 1000n
}
