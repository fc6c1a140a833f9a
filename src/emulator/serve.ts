// The emulator over HTTP, on the loopback interface only: it has no real authentication.
//
// A slow reader slows the writer down, a disconnect stops it, and a fault that breaks the connection really breaks it.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { badInput } from '../core/error.ts'
import { createEmulator, type Emulator, type EmulatorOptions } from './handle.ts'

export interface ServedEmulator extends Emulator {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  url: string
  close(): Promise<void>
}

export interface ServeOptions extends EmulatorOptions {
  /** A free one by default. */
  port?: number
}

const host = '127.0.0.1'

/**
 * The emulator on loopback, for programs that need an address.
 *
 * @example
 * const { url, close } = await serveEmulator()
 * const client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: 'any' })
 */
export async function serveEmulator({ port = 0, ...options }: ServeOptions = {}): Promise<ServedEmulator> {
  const emulator = createEmulator(options)
  const server = createServer({ shouldUpgradeCallback: isSocket }, (request, response) => {
    void answer(emulator, request, response)
  })
  server.on('upgrade', (_request, socket) => refuseUpgrade(socket))
  server.listen(port, host)
  await once(server, 'listening').catch((error: unknown) => {
    throw badInput(`The emulator cannot listen on port ${port} (${codeOf(error)}). Choose another port.`)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    ...emulator,
    url: `http://${host}:${bound}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Java's client and curl offer HTTP/2 with each request, and take an answer in HTTP/1.1. */
function isSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/** A client that requests a WebSocket is refused at once, so that it uses HTTP. */
function refuseUpgrade(socket: Duplex): void {
  const body = JSON.stringify({
    error: { message: 'WebSockets are not supported. Use HTTP.', type: 'upgrade_required' },
  })
  const head = ['HTTP/1.1 426 Upgrade Required', 'content-type: application/json', 'connection: close']
  socket.on('error', () => socket.destroy())
  socket.end([...head, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}

async function answer(emulator: Emulator, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const closed = new AbortController()
  response.on('close', () => closed.abort())
  try {
    const reply = await emulator.fetch(`http://${host}${request.url ?? '/'}`, {
      method: request.method ?? 'GET',
      headers: headersOf(request),
      signal: closed.signal,
      ...(hasBody(request) && { body: await bodyOf(request) }),
    })
    response.writeHead(reply.status, Object.fromEntries(reply.headers))
    response.flushHeaders()
    for await (const chunk of reply.body ?? []) {
      if (!response.write(chunk)) await once(response, 'drain', { signal: closed.signal })
    }
    response.end()
  } catch {
    // The client disconnected, or a fault breaks the connection.
    if (!response.destroyed) request.socket.resetAndDestroy()
  }
}

function headersOf(request: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !hopHeaders.has(name)) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return headers
}

const hopHeaders = new Set([
  'connection',
  'host',
  'transfer-encoding',
  'content-length',
  'keep-alive',
  'upgrade',
  'expect',
])

function hasBody(request: IncomingMessage): boolean {
  return request.method !== 'GET' && request.method !== 'HEAD'
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
