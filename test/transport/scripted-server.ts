// A real HTTP server on loopback that plays a script: one handler per request, the last one again and again.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'

export type Play = (reply: ServerResponse, request: IncomingMessage) => void

export interface Scripted {
  url: string
  requests: { headers: IncomingHttpHeaders; body: string; socket: Socket }[]
  /** Resolves when the client has closed the connection of the latest request. */
  closed(): Promise<void>
}

export async function scripted(t: TestContext, ...plays: Play[]): Promise<Scripted> {
  const requests: Scripted['requests'] = []
  const gone: Promise<void>[] = []
  const server = createServer((request, reply) => {
    gone.push(new Promise((resolve) => request.socket.once('close', () => resolve())))
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('error', () => {})
    request.on('end', () => {
      requests.push({ headers: request.headers, body: Buffer.concat(pieces).toString(), socket: request.socket })
      const play = plays[Math.min(requests.length, plays.length) - 1]
      play?.(reply, request)
    })
  })
  await listen(server)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/talk`,
    requests,
    closed: () => gone.at(-1) ?? Promise.reject(new Error('no request came')),
  }
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
}

export const sse = { 'content-type': 'text/event-stream' }

/** A complete streamed reply in the toy wire. */
export function says(...texts: string[]): Play {
  return (reply) => {
    reply.writeHead(200, sse)
    for (const text of texts) reply.write(event({ text }))
    reply.end('data: [DONE]\n\n')
  }
}

export function answers(status: number, body: unknown, headers: Record<string, string> = {}): Play {
  return (reply) => {
    reply.writeHead(status, { 'content-type': 'application/json', ...headers })
    reply.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}
