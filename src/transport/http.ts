// Requests over `node:http`: the used part of `fetch` at less than half of its processor time, per request and per
// piece of a reply. The platform's `fetch` is used instead if its requests may be redirected: a custom `fetch`, a proxy
// in the environment, an undici dispatcher.

import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { afterCommit, type FetchWhenCommitted, type FetchedBody, type FetchedReply } from './send.ts'

/** Like undici: longer than between two steps of a run, and shorter than servers wait before they close. */
const idleMs = 4000
const connectMs = 10_000

const agents = {
  'http:': new HttpAgent({ keepAlive: true, timeout: idleMs }),
  'https:': new HttpsAgent({ keepAlive: true, timeout: idleMs }),
}

export const defaultFetch: FetchWhenCommitted = async (url, init, committed) => {
  if (!isPlain()) return afterCommit(fetch)(url, init, committed)
  // A commit that was requested before is made in this turn of the event loop; after that it waits for the disk.
  if (committed && isLong(init.body)) await nextTurn()
  return fetchOverHttp(url, init, committed)
}

/** Whether the platform's `fetch` would only send the request to its host. */
function isPlain(): boolean {
  if (globalThis.fetch !== knownFetch) {
    knownFetch = globalThis.fetch
    isNodes = 'node' in process.versions && /internal\/deps\/undici/.test(Function.prototype.toString.call(knownFetch))
  }
  const { NODE_USE_ENV_PROXY: proxy } = process.env
  if (!isNodes || (proxy !== undefined && proxy !== '0')) return false
  const dispatcher: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  return dispatcher === undefined || isNodesAgent((dispatcher as object).constructor)
}

/** The agent of Node's built-in undici, which Node itself sets; one of the package may have settings. */
function isNodesAgent(made: object): boolean {
  if (made !== nodesAgent && /^class [^]{0,100}__name\(this, "Agent"\)/.test(Function.prototype.toString.call(made)))
    nodesAgent = made
  return made === nodesAgent
}

let knownFetch: typeof globalThis.fetch | undefined
let isNodes = false
let nodesAgent: object | undefined

export const fetchOverHttp: FetchWhenCommitted = (url, { method, headers, body, signal }, committed) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const { protocol, host, hostname, port, path } = addressOf(url)
    const sent: typeof headers = {
      host,
      accept: '*/*',
      'accept-encoding': 'gzip, br',
      'user-agent': 'node',
      ...headers,
    }
    if (body !== undefined) sent['content-length'] = String(Buffer.byteLength(body))
    const post = protocol === 'https:' ? httpsRequest : httpRequest
    // A list of headers is written as it is; those of an object are stored one by one before.
    const list = Object.entries(sent).flat()
    const request = post({ hostname, port, path, method, agent: agents[protocol], headers: list })
    const abort = (): void => {
      reject(signal?.reason)
      // A connection that has delivered a complete response already belongs to the next request.
      if (!isComplete) request.destroy()
    }
    let hasAnswer = false
    let isComplete = false
    signal?.addEventListener('abort', abort, { once: true })
    request.on('socket', (socket) => {
      if (!socket.connecting) return
      const late = setTimeout(() => request.destroy(timedOut()), connectMs)
      const settle = (): void => clearTimeout(late)
      socket.once('connect', settle).once('close', settle)
    })
    request.on('error', reject)
    request.on('response', (response) => {
      hasAnswer = true
      response.on('end', () => (isComplete = true))
      const take = (): void => resolve(replyOf(response))
      if (committed) committed.then(take, reject)
      else take()
    })
    request.on('close', () => {
      signal?.removeEventListener('abort', abort)
      // Node closes a connection after 101, which nothing was asked for, without an error.
      if (!hasAnswer) reject(closed())
    })
    if (committed) endWhen(committed, request, body)
    else request.end(body)
  })

/**
 * The body is on its way while the commit is awaited, except for its last byte: no server acts on a body that is shorter
 * than announced.
 */
function endWhen(committed: Promise<unknown>, request: ClientRequest, body: string | Uint8Array = ''): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const sent = isLong(bytes) ? bytes.length - 1 : 0
  if (sent > 0) request.write(bytes.subarray(0, sent))
  committed.then(
    () => request.end(bytes.subarray(sent)),
    (error: unknown) => request.destroy(error instanceof Error ? error : undefined),
  )
}

/** A shorter body is not worth a second piece. */
function isLong(body: string | Uint8Array = ''): boolean {
  return body.length >= 16_384
}

interface Address {
  protocol: keyof typeof agents
  /** As in the header: with a port that is not the usual one. */
  host: string
  hostname: string
  port: string
  path: string
}

/** The most recent one is reused. */
let last: { url: string; address: Address } | undefined

function addressOf(url: string): Address {
  if (last?.url === url) return last.address
  const { protocol, host, hostname, port, pathname, search, username, password } = new URL(url)
  if ((protocol !== 'http:' && protocol !== 'https:') || username !== '' || password !== '')
    throw new TypeError(`A request goes to an http or https address without a user name, not to ${protocol}.`)
  // The brackets of an IPv6 address are part of the URL only.
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  const address = { protocol, host, hostname: bare, port, path: pathname + search } as const
  last = { url, address }
  return address
}

function closed(): Error {
  return Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' })
}

function timedOut(): Error {
  return Object.assign(new Error('The connection took too long.'), { code: 'ETIMEDOUT' })
}

function replyOf(response: IncomingMessage): FetchedReply {
  const body = bodyOf(decompressed(response))
  const { headers } = response
  return {
    status: response.statusCode as number,
    headers: {
      get: (name) => textOf(headers[name.toLowerCase()]),
      *[Symbol.iterator]() {
        for (const [name, value] of Object.entries(headers)) yield [name, textOf(value) ?? '']
      },
    },
    body,
    async text() {
      const decoder = new TextDecoder()
      const reader = body.getReader()
      let text = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return text + decoder.decode()
        text += decoder.decode(value, { stream: true })
      }
    },
  }
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

/** Each piece is decompressed as it arrives: a streamed reply must not wait for its end. */
const atOnce = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const brotliAtOnce = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH }

function decompressed(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase()
  const stage =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip(atOnce)
      : encoding === 'deflate'
        ? createInflate(atOnce)
        : encoding === 'br'
          ? createBrotliDecompress(brotliAtOnce)
          : undefined
  if (!stage) return response
  response.on('error', (error) => stage.destroy(error))
  // Also if the consumer stops early: the rest of the response is not needed then.
  stage.on('close', () => response.destroy())
  return response.pipe(stage)
}

/** How many pieces wait for their reader before no more are taken from the connection. */
const mostWaiting = 16

/** Reads a stream like the reader of a web stream, without its queues and promises: what has arrived together at a time. */
function bodyOf(stream: Readable): FetchedBody {
  let waiting: Uint8Array[] = []
  let failure: { error: unknown } | undefined
  let ended = false
  let wake: (() => void) | undefined
  const woken = (): void => {
    wake?.()
    wake = undefined
  }
  stream.on('data', (piece: Uint8Array) => {
    if (waiting.push(piece) >= mostWaiting) stream.pause()
    woken()
  })
  stream.on('end', () => {
    ended = true
    woken()
  })
  stream.on('error', (error) => {
    failure ??= { error }
    woken()
  })
  stream.on('close', () => {
    if (!ended) failure ??= { error: closed() }
    woken()
  })

  async function read(): Promise<{ done: boolean; value?: Uint8Array }> {
    for (;;) {
      const value = waiting.length > 1 ? Buffer.concat(waiting) : waiting[0]
      if (value) {
        waiting = []
        if (stream.isPaused()) stream.resume()
        return { done: false, value }
      }
      if (failure) throw failure.error
      if (ended) return { done: true }
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  async function cancel(): Promise<void> {
    ended = true
    waiting = []
    stream.destroy()
  }

  return { getReader: () => ({ read, cancel }), cancel }
}
