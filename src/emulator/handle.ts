// The emulator without a socket: a `fetch` that answers like the providers. State, prompt caches and injected faults
// live as long as the emulator; request headers, which contain the keys, are not stored.
//
// Node loads `fetch` and its classes on first use, which takes longer than an answer: so only `fetch` itself uses them,
// and `answer` does not.

import { setTimeout } from 'node:timers/promises'
import { errorMessage } from '../core/error.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../core/json.ts'
import { loadService, loadWire } from '../wires/list.ts'
import type { Outcome, WireService } from '../wires/service.ts'
import type { Wire, Profile } from '../wires/wire.ts'
import type { Fetch, FetchedBody, FetchedReply } from '../transport/send.ts'
import { ownerOf } from './auth.ts'
import type { Script } from './exchange.ts'
import { connectionReset, faultHeader, readFault, type Fault } from './faults.ts'
import { type HttpReply, jsonReply, streamReply, wholeReply } from './http-reply.ts'
import { providerIds } from './known-providers.ts'
import { createDispatcher } from './dispatch.ts'
import { type GivenHeaders, providerIn, routeOf, unknownAddress } from './route.ts'
import { Refusal, refusalFor, standardErrors } from '../wires/shared/refusal.ts'
import { estimateTokens, type CountTokens } from '../wires/shared/prompt.ts'

export interface EmulatorOptions {
  /** Answers instead of the responder; if it returns undefined, the responder answers. */
  reply?: Script
  now?: () => number
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  countTokens?: CountTokens
  /** Overrides each model's own. */
  contextWindow?: number
  /** Whether a request without a key is refused, as by the providers; true by default. */
  requireKey?: boolean
  /** How many received requests are stored; 200 by default. */
  keep?: number
  /** Characters in one piece of a streamed text; 12 by default. */
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
  /** The same for callers that need no Response. */
  answer: Fetch
  /** Injects a fault into the next requests. */
  order(fault: Fault, times?: number): void
  /** Deletes what is stored under this id, as if it had expired. */
  expire(id: string): boolean
  /** The last requests, oldest first. */
  readonly requests: readonly Received[]
  /** Clears everything: state, caches, faults, requests. */
  reset(): void
}

interface IncomingRequest {
  method: string
  url: URL
  headers: GivenHeaders
  signal: AbortSignal
  text: string
  /** Completed while the request is handled. */
  seen: Received
}

/**
 * The APIs of all providers in this process, with their rules, for tests: received requests are in `requests`, `order`
 * makes the next requests fail, and `reply` decides the answer.
 *
 * @example
 * const emulator = createEmulator({ reply: () => ({ parts: [{ type: 'text', text: 'Hi!' }] }) })
 * const synapse = await openSynapse({ offline: emulator })
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const { now = Date.now, sleep = pause, requireKey = true, keep = 200, piece = 12 } = options
  const dispatcher = createDispatcher({
    count: options.countTokens ?? estimateTokens,
    ...(options.reply && { script: options.reply }),
    ...(options.contextWindow !== undefined && { contextWindow: options.contextWindow }),
  })
  const log = requestLog(keep)
  const ordered: Fault[] = []
  let number = 0

  return {
    async fetch(input, init) {
      const request = new Request(input, init)
      const { method, url, headers, signal } = request
      signal.throwIfAborted()
      const text = method === 'GET' || method === 'HEAD' ? '' : await request.text()
      const { status, headers: answered, body } = await receive({ method, url: new URL(url), headers, signal, text })
      return new Response(typeof body === 'string' ? body : asWebStream(body), { status, headers: answered })
    },
    async answer(url, { method, headers, body = '', signal = new AbortController().signal }) {
      signal.throwIfAborted()
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
      const entries = new Map(Object.entries(headers))
      return asFetched(await receive({ method, url: new URL(url), headers: entries, signal, text }))
    },
    order(fault, times = 1) {
      for (let i = 0; i < times; i++) ordered.push(fault)
    },
    expire: (id) => dispatcher.expire(id),
    requests: log.requests,
    reset() {
      dispatcher.clear()
      log.clear()
      ordered.length = 0
    },
  }

  async function receive(request: Omit<IncomingRequest, 'seen'>): Promise<HttpReply> {
    const { method, url, headers, text } = request
    const seen: Received = { at: now(), method, path: url.pathname, body: parseJson(text) ?? text, status: 0 }
    log.add(seen, text.length)
    const order = headers.get(faultHeader) ?? undefined
    const fault = order === undefined ? (ordered.shift() ?? {}) : readFault(order)
    const reply = await answer(fault, { ...request, seen })
    seen.status = reply.status
    return withRequestId(reply, `req_${++number}`)
  }

  async function answer(fault: Fault | string, request: IncomingRequest): Promise<HttpReply> {
    if (typeof fault === 'string') return jsonReply(400, { error: fault })
    if (fault.delayMs !== undefined) await sleep(fault.delayMs, request.signal)
    if (fault.resetAt === 0) throw connectionReset()
    try {
      return await serveRequest({ dispatcher, sleep, requireKey, piece }, fault, request)
    } catch (error) {
      if (error instanceof Refusal) return jsonReply(error.status, error.body, error.headers)
      if (request.signal.aborted) throw error
      return failedReply(error)
    }
  }
}

interface Serving extends Required<Pick<EmulatorOptions, 'sleep' | 'requireKey' | 'piece'>> {
  dispatcher: ReturnType<typeof createDispatcher>
}

/** Throws a Refusal. */
async function serveRequest(serving: Serving, fault: Fault, request: IncomingRequest): Promise<HttpReply> {
  const { dispatcher, sleep, requireKey, piece } = serving
  const { method, url, headers, seen } = request
  const route = await routeOf(method, url, headers)
  if (!route) return unknown(request)
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
  const body = bodyOf(request.text, protocol, service)
  const outcome = await dispatcher.perform({
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
  return replyOf(outcome, {
    provider,
    protocol,
    service,
    fault,
    request,
    piece,
    sleep: (ms) => sleep(ms, request.signal),
  })
}

function failedReply(error: unknown): HttpReply {
  const message = `The emulator failed: ${errorMessage(error)}`
  return jsonReply(500, { error: { message, type: 'emulator_error' } })
}

function withRequestId({ headers, ...reply }: HttpReply, id: string): HttpReply {
  return { ...reply, headers: { 'x-synapse-emulator': '1', 'request-id': id, 'x-request-id': id, ...headers } }
}

interface Answering {
  provider: string
  protocol: Wire
  service: WireService
  fault: Fault
  request: IncomingRequest
  piece: number
  sleep: (ms: number) => Promise<void>
}

function replyOf(
  outcome: Outcome,
  { provider, protocol, service, fault, request, piece, sleep }: Answering,
): HttpReply {
  if ('body' in outcome) return jsonReply(200, outcome.body)
  const { exchanged, framing } = outcome
  if (!framing || service.asArray?.(request.url.searchParams)) {
    exchanged.commit()
    return wholeReply(JSON.stringify(framing ? exchanged.chunks(piece) : exchanged.whole), fault)
  }
  return streamReply(exchanged.chunks(piece), {
    framing,
    fault,
    signal: request.signal,
    errorEvent: errorEvent(protocol, service, { provider }),
    sleep,
    onEnd: () => exchanged.commit(),
  })
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
  // Clients check whether a base URL exists before they use it.
  if (method === 'HEAD' && /^\/(v\d\w*\/?)?$/.test(path)) return { status: 200, body: '', headers: {} }
  throw unknownAddress(provider, method, path)
}

function asFetched({ status, headers, body }: HttpReply): FetchedReply {
  const stream = typeof body === 'string' ? wholeBody(new TextEncoder().encode(body)) : body
  const lowered = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value])
  return { status, headers: new Map(lowered), body: stream, text: () => textOf(stream) }
}

function wholeBody(bytes: Uint8Array): FetchedBody {
  let unread: Uint8Array | undefined = bytes
  const cancel = async () => void (unread = undefined)
  return { getReader: () => ({ read, cancel }), cancel }

  async function read() {
    const value = unread
    unread = undefined
    return value ? { done: false, value } : { done: true }
  }
}

async function textOf(body: FetchedBody): Promise<string> {
  const reader = body.getReader()
  const pieces: Uint8Array[] = []
  for (;;) {
    const { value } = await reader.read()
    if (!value) return Buffer.concat(pieces).toString()
    pieces.push(value)
  }
}

function asWebStream(body: FetchedBody): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value } = await reader.read()
        if (value) controller.enqueue(value)
        else controller.close()
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  )
}

/** The stored characters of received requests: histories are long, and sent again and again. */
const keepSize = 32_000_000

/** The last requests, up to a limit. */
function requestLog(keep: number) {
  const requests: Received[] = []
  const sizes: number[] = []
  return {
    requests,
    add(seen: Received, size: number): void {
      requests.push(seen)
      sizes.push(size)
      let total = sizes.reduce((sum, size) => sum + size, 0)
      while (requests.length > 1 && (requests.length > keep || total > keepSize)) {
        requests.shift()
        total -= sizes.shift() ?? 0
      }
    },
    clear(): void {
      requests.length = 0
      sizes.length = 0
    },
  }
}

function bodyOf(text: string, protocol: Wire, { largest }: WireService): JsonObject {
  if (largest && text.length > largest.size) throw refusalFor(protocol, largest.issue)
  const body = text === '' ? {} : parseJson(text)
  if (isObject(body)) return body
  const message = 'We could not parse the JSON body of your request.'
  throw refusalFor(protocol, { rule: 'json', status: 400, message })
}

/** As the standard one, but an abort throws the reason of the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}

// A wire's error that no change of the request can avoid: for faults with a status and no body, and for the error event
// inside a stream.

function standardError(protocol: Wire, { errors }: WireService, status: number, profile: Profile): Json {
  const error = errors?.[status] ?? standardErrors[status] ?? { message: `The server answered ${status}.` }
  return protocol.errorBody({ rule: 'fault', status, ...error }, profile)
}

/** The event that reports an overload in the middle of a stream. */
function errorEvent(protocol: Wire, service: WireService, profile: Profile): Json {
  return service.errorEvent ?? standardError(protocol, service, 503, profile)
}
