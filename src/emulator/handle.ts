// The emulator without a socket: a `fetch` that answers as the providers do. State, prompt caches and orders live as long
// as the emulator; headers of a request, where the keys stand, are not kept at all.
//
// Node loads what belongs to `fetch` when it is first touched, and that takes longer than an answer: so only `fetch`
// itself touches it, and `answer` does without.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { loadService, loadWire } from '../wires/list.ts'
import type { Outcome, WireService } from '../wires/service.ts'
import type { Wire } from '../wires/wire.ts'
import type { Fetch, FetchedReply } from '../transport/send.ts'
import { ownerOf } from './auth.ts'
import type { Script } from './exchange.ts'
import { connectionReset, faultHeader, readFault, type Fault } from './faults.ts'
import { providerIds } from './known-providers.ts'
import { createDispatcher } from './dispatch.ts'
import { unknownAddress } from './not-found.ts'
import { Refusal, refusalFor } from '../wires/shared/refusal.ts'
import { providerIn, routeOf, type GivenHeaders } from './route.ts'
import { errorEvent, standardError } from './standard-errors.ts'
import { streamOf } from './stream.ts'
import { estimateTokens, type CountTokens } from '../wires/shared/tokens.ts'

export interface EmulatorOptions {
  /** Answers instead of the brain; where it gives nothing, the brain answers. */
  reply?: Script
  now?: () => number
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  countTokens?: CountTokens
  /** Instead of each model's own. */
  contextWindow?: number
  /** Whether a request without a key is refused, as the providers do; yes if not said. */
  requireKey?: boolean
  /** How many received requests are kept; 200 if not said. */
  keep?: number
  /** Characters in one piece of a streamed text; 12 if not said. */
  piece?: number
}

/** One request that was received. */
export interface Received {
  at: number
  method: string
  path: string
  provider?: string
  protocol?: string
  body: Json
  status: number
}

export interface Emulator {
  fetch: typeof globalThis.fetch
  /** The same for those who need no whole Response. */
  answer: Fetch
  /** Orders a fault for the next requests. */
  order(fault: Fault, times?: number): void
  /** Forgets what is kept under this id, as if its time had passed. */
  expire(id: string): boolean
  /** The last requests, oldest first. */
  readonly requests: readonly Received[]
  /** Forgets everything: state, caches, orders, requests. */
  reset(): void
}

interface IncomingRequest {
  method: string
  url: URL
  headers: GivenHeaders
  signal: AbortSignal
  text: string
  /** Filled in as it becomes known. */
  seen: Received
}

interface HttpReply {
  status: number
  headers: Record<string, string>
  body: string | ReadableStream<Uint8Array>
}

export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const { now = Date.now, sleep = pause, requireKey = true, keep = 200, piece = 12 } = options
  const performer = createDispatcher({
    count: options.countTokens ?? estimateTokens,
    ...(options.reply && { script: options.reply }),
    ...(options.contextWindow !== undefined && { contextWindow: options.contextWindow }),
  })
  const requests: Received[] = []
  const sizes: number[] = []
  const ordered: Fault[] = []
  let number = 0

  return {
    async fetch(input, init) {
      const request = new globalThis.Request(input, init)
      const { method, url, headers, signal } = request
      signal.throwIfAborted()
      const text = method === 'GET' || method === 'HEAD' ? '' : await request.text()
      const { status, headers: told, body } = await receive({ method, url: new URL(url), headers, signal, text })
      return new globalThis.Response(body, { status, headers: told })
    },
    async answer(url, { method, headers, body = '', signal = new AbortController().signal }) {
      signal.throwIfAborted()
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
      const given = new Map(Object.entries(headers))
      return asFetched(await receive({ method, url: new URL(url), headers: given, signal, text }))
    },
    order(fault, times = 1) {
      for (let i = 0; i < times; i++) ordered.push(fault)
    },
    expire: (id) => performer.expire(id),
    requests,
    reset() {
      performer.clear()
      requests.length = 0
      sizes.length = 0
      ordered.length = 0
    },
  }

  async function receive(given: Omit<IncomingRequest, 'seen'>): Promise<HttpReply> {
    const { method, url, headers, text } = given
    const seen: Received = { at: now(), method, path: url.pathname, body: jsonIn(text) ?? text, status: 0 }
    remember(seen, text.length)
    const order = headers.get(faultHeader) ?? undefined
    const fault = order === undefined ? (ordered.shift() ?? {}) : readFault(order)
    const reply = await answer(fault, { ...given, seen })
    seen.status = reply.status
    return reply
  }

  function remember(seen: Received, size: number): void {
    requests.push(seen)
    sizes.push(size)
    let total = sizes.reduce((sum, one) => sum + one, 0)
    while (requests.length > 1 && (requests.length > keep || total > keepSize)) {
      requests.shift()
      total -= sizes.shift() ?? 0
    }
  }

  async function answer(fault: Fault | string, visit: IncomingRequest): Promise<HttpReply> {
    if (typeof fault === 'string') return jsonReply(400, { error: fault })
    if (fault.delayMs !== undefined) await sleep(fault.delayMs, visit.signal)
    if (fault.resetAt === 0) throw connectionReset()
    try {
      return await dispatch(fault, visit)
    } catch (error) {
      if (error instanceof Refusal) return jsonReply(error.status, error.body, error.headers)
      if (visit.signal.aborted) throw error
      const message = `The emulator failed: ${error instanceof Error ? error.message : String(error)}`
      return jsonReply(500, { error: { message, type: 'emulator_error' } })
    }
  }

  async function dispatch(fault: Fault, visit: IncomingRequest): Promise<HttpReply> {
    const { method, url, headers, seen } = visit
    const route = await routeOf(method, url, headers)
    if (!route) return unknown(visit)
    const { provider, operation } = route
    seen.provider = provider
    seen.protocol = route.protocol
    const protocol = await loadWire(route.protocol)
    const service = await loadService(route.protocol)
    const { status } = fault
    if (status !== undefined) {
      const standard = () => standardError(protocol, service, status, { provider })
      return jsonReply(status, fault.body ?? standard(), fault.headers)
    }
    const owner = ownerOf(provider, service, headers, url, requireKey)
    const body = bodyOf(visit.text, protocol, service)
    const outcome = await performer.perform({
      provider,
      protocol,
      service,
      operation,
      owner,
      method,
      url,
      headers,
      body,
      now: seen.at,
      expireState: fault.expireState === true,
    })
    return reply(outcome, { provider, protocol, service }, fault, visit)
  }

  function reply(
    outcome: Outcome,
    { provider, protocol, service }: { provider: string; protocol: Wire; service: WireService },
    fault: Fault,
    { url, signal }: IncomingRequest,
  ): HttpReply {
    if ('body' in outcome) return jsonReply(200, outcome.body)
    const { exchanged, framing } = outcome
    if (!framing || service.asArray?.(url.searchParams)) {
      exchanged.commit()
      return wholeReply(JSON.stringify(framing ? exchanged.chunks(piece) : exchanged.whole), fault)
    }
    const body = streamOf(exchanged.chunks(piece), {
      framing,
      fault,
      signal,
      errorEvent: errorEvent(protocol, service, { provider }),
      sleep: (ms) => sleep(ms, signal),
      onEnd: () => exchanged.commit(),
    })
    const type = framing.kind === 'sse' ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson'
    return replyWith(200, body, { 'content-type': type, 'cache-control': 'no-cache' })
  }

  function wholeReply(text: string, fault: Fault): HttpReply {
    const cut = fault.cutAt === undefined ? text : text.slice(0, text.length / 2)
    return replyWith(200, fault.garbageAt === undefined ? cut : `\u0000<!${cut}`, jsonType)
  }

  function jsonReply(status: number, body: Json, headers: Record<string, string> = {}): HttpReply {
    return replyWith(status, typeof body === 'string' ? body : JSON.stringify(body), { ...jsonType, ...headers })
  }

  function replyWith(status: number, body: HttpReply['body'], headers: Record<string, string>): HttpReply {
    const requestId = `req_${++number}`
    const about = { 'x-synapse-emulator': '1', 'request-id': requestId, 'x-request-id': requestId }
    return { status, body, headers: { ...about, ...headers } }
  }

  function unknown({ method, url }: IncomingRequest): HttpReply {
    if (method === 'GET' && url.pathname === '/') {
      return jsonReply(200, {
        emulator: 'synapse',
        note: 'An offline emulator, not a model.',
        providers: [...providerIds],
      })
    }
    const { provider, path } = providerIn(url)
    // Clients look whether a base URL is there at all before they use it.
    if (method === 'HEAD' && /^\/(v\d\w*\/?)?$/.test(path)) return replyWith(200, '', {})
    throw unknownAddress(provider, method, path)
  }
}

function asFetched({ status, headers, body }: HttpReply): FetchedReply {
  const stream = typeof body === 'string' ? ReadableStream.from([new TextEncoder().encode(body)]) : body
  const lowered = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value])
  return { status, headers: new Map(lowered), body: stream, text: () => textOf(stream) }
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** Characters of received requests that are kept: histories are long, and sent again and again. */
const keepSize = 32_000_000

const jsonType = { 'content-type': 'application/json' }

function bodyOf(text: string, protocol: Wire, { largest }: WireService): JsonObject {
  if (largest && text.length > largest.size) throw refusalFor(protocol, largest.issue)
  const body = text === '' ? {} : jsonIn(text)
  if (isObject(body)) return body
  const message = 'We could not parse the JSON body of your request.'
  throw refusalFor(protocol, { rule: 'json', status: 400, message })
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}
