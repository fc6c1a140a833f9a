// A provider on loopback that sends too much, in every way that a reply can be too much.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { createGzip } from 'node:zlib'

export type Script =
  | { kind: 'calls'; calls: number }
  | { kind: 'text'; deltaSize: number; bytes: number }
  | { kind: 'line'; bytes: number }
  | { kind: 'gzip'; bytes: number; type: 'text/event-stream' | 'application/json' }
  | { kind: 'garbage'; bytes: number }
  | { kind: 'error'; bytes: number }
  | { kind: 'silence' }

export interface Upstream {
  baseUrl: string
  /** Bodies of the requests, as they came. */
  requests: number
}

/** The first request is answered by the script, every later one with a short text. */
export async function upstream(t: TestContext, script: Script): Promise<Upstream> {
  const seen = { baseUrl: '', requests: 0 }
  const server = createServer((request, response) => {
    // A reader that stops has had enough.
    response.on('error', () => {})
    request.resume().on('end', () => {
      seen.requests++
      void (seen.requests === 1 ? play(script, response) : say(response, [text('Enough.')], 'stop'))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  seen.baseUrl = `http://127.0.0.1:${port}/v1`
  return seen
}

async function play(script: Script, response: ServerResponse): Promise<void> {
  switch (script.kind) {
    case 'calls':
      return say(response, callDeltas(script.calls), 'tool_calls')
    case 'text':
      return say(response, textDeltas(script), 'stop')
    case 'line':
      return bytes(response, 'text/event-stream', filled(script.bytes, 'data: {"choices":[{"delta":{"content":"'))
    case 'garbage':
      return bytes(response, 'text/event-stream', noise(script.bytes))
    case 'error':
      return bytes(response, 'application/json', filled(script.bytes, '{"error":{"message":"'), 400)
    case 'gzip':
      return bomb(response, script)
    case 'silence': {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const timer = setInterval(() => response.write(': still here\n\n'), 20)
      response.on('close', () => clearInterval(timer))
    }
  }
}

function* callDeltas(count: number): Generator<object> {
  for (let index = 0; index < count; index++) {
    const called = { name: 'note', arguments: JSON.stringify({ text: `number ${index}` }) }
    yield { tool_calls: [{ index, id: `call_${index}`, type: 'function', function: called }] }
  }
}

function* textDeltas({ deltaSize, bytes: total }: { deltaSize: number; bytes: number }): Generator<object> {
  const content = 'on and on '.repeat(Math.ceil(deltaSize / 10)).slice(0, deltaSize)
  for (let sent = 0; sent < total; sent += deltaSize) yield { content }
}

function text(content: string): object {
  return { content }
}

async function say(response: ServerResponse, deltas: Iterable<object>, finish: string): Promise<void> {
  const event = (choice: object): string =>
    `data: ${JSON.stringify({ id: 'r', object: 'chat.completion.chunk', model: 'm', choices: [choice] })}\n\n`
  await bytes(
    response,
    'text/event-stream',
    (function* () {
      for (const delta of deltas) yield event({ index: 0, delta, finish_reason: null })
      yield event({ index: 0, delta: {}, finish_reason: finish })
      yield 'data: [DONE]\n\n'
    })(),
  )
}

/** Small pieces go out together, and never faster than they are read. */
async function bytes(
  response: ServerResponse,
  type: string,
  pieces: Iterable<string | Uint8Array>,
  status = 200,
): Promise<void> {
  response.writeHead(status, { 'content-type': type })
  let waiting: string[] = []
  let size = 0
  for (const piece of pieces) {
    if (response.destroyed) return
    if (typeof piece === 'string') {
      waiting.push(piece)
      size += piece.length
      if (size < 64 * 1024) continue
    }
    const out = typeof piece === 'string' ? waiting.join('') : piece
    waiting = []
    size = 0
    if (!response.write(out)) await drained(response, response)
  }
  if (!response.destroyed) response.end(waiting.join(''))
}

function* filled(total: number, beginning: string): Generator<Uint8Array> {
  yield Buffer.from(beginning)
  const piece = Buffer.alloc(1024 * 1024, 'a')
  for (let sent = 0; sent < total; sent += piece.length) yield piece
}

function* noise(total: number): Generator<Uint8Array> {
  const piece = randomBytes(1024 * 1024)
  for (let sent = 0; sent < total; sent += piece.length) yield piece
}

async function bomb(
  response: ServerResponse,
  { bytes: total, type }: Extract<Script, { kind: 'gzip' }>,
): Promise<void> {
  response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' })
  const gzip = createGzip({ level: 1 })
  gzip.pipe(response)
  const piece = Buffer.alloc(1024 * 1024, ' ')
  for (let sent = 0; sent < total && !response.destroyed; sent += piece.length) {
    if (!gzip.write(piece)) await drained(gzip, response)
  }
  gzip.end()
}

/** Or the reader has left. */
async function drained(stream: NodeJS.EventEmitter, response: ServerResponse): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  await Promise.race(
    [once(stream, 'drain', { signal }), once(response, 'close', { signal })].map((one) => one.catch(() => {})),
  )
  over.abort()
}
