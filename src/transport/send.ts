// One attempt: a POST, and the JSON chunks of the response. Every failure is thrown as a SendError.
//
// Redirects are never followed: the key belongs to the host it was sent to.

import type { Authorizer } from '../auth/authorizer.ts'
import { badInput, SynapseError, type Failure } from '../core/error.ts'
import { isObject, parseJson, type Json } from '../core/json.ts'
import { readFailure } from '../wires/shared/failure.ts'
import type { Wire } from '../wires/wire.ts'
import { unframeAwsEvents } from './aws-events.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { unframeNdjson } from './ndjson.ts'
import { networkFailure } from './network.ts'
import { hasEvents, readRecording } from './recording.ts'
import { redactFailure, redactText, secretsIn } from './redact.ts'
import { unframeSse } from './sse.ts'
import { notJson, textReader, tooLarge, type Unframer } from './unframe.ts'
import { watch, type Clock, type Watch } from './watch.ts'

/** The part of `fetch` that is used: a custom fetch avoids loading the platform's, which is slow to load. */
export type Fetch = (
  url: string,
  init: {
    method: string
    headers: Record<string, string>
    body?: string | Uint8Array
    redirect?: 'manual'
    signal?: AbortSignal
  },
) => Promise<FetchedReply>

/** The request is complete only when `committed` has resolved, and it is cancelled if that rejects. */
export type FetchWhenCommitted = (
  ...request: [...Parameters<Fetch>, committed?: Promise<unknown> | undefined]
) => ReturnType<Fetch>

/** The part of a Response that is read. */
export interface FetchedReply {
  readonly status: number
  readonly headers: Iterable<[string, string]> & { get(name: string): string | null | undefined }
  readonly body: FetchedBody | null
  text(): Promise<string>
}

/** The part of a web stream that is used. */
export interface FetchedBody {
  getReader(): BodyReader
  cancel(): Promise<void>
}

interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

export interface Attempt {
  protocol: Wire
  url: string
  headers: Record<string, string>
  /** What authorises it, if the headers do not. */
  authorize?: Authorizer
  /** Serialised once, by the caller. */
  body: string | Uint8Array
  /** The reply was requested without streaming. */
  whole?: boolean
  signal?: AbortSignal
  fetch?: Fetch
  /** Called with each response; what it returns is read in its place. */
  observe?: (reply: FetchedReply, sent: string | Uint8Array) => FetchedReply
  /** The request is complete only when this has resolved. If it rejects, nothing is sent that a server would act on. */
  committed?: Promise<unknown>
  limits?: Partial<Limits>
  /** The clock for the time limits. */
  clock?: Clock
  /** The provider's name in messages. */
  provider?: string
  keyVariable?: string
  /** The state of the decoder: once it is done nothing more is read, while it is thinking the time limit is longer. */
  progress?: { isDone(): boolean; isThinking(): boolean }
}

export class SendError extends SynapseError {
  /** What the provider says about retrying. */
  readonly advised: boolean | undefined

  constructor(failure: Failure, options: { cause?: unknown; advised?: boolean | undefined } = {}) {
    super(failure, { cause: options.cause })
    this.advised = options.advised
  }
}

/** Called with each chunk. A promise is awaited before more is read; `stop`: nothing more is wanted. */
export type Take = (chunk: Json) => Promise<unknown> | 'stop' | undefined

/**
 * Callbacks instead of generators: a stream of many small events would spend more time in passing them on than in
 * reading them. An error thrown by `take` is rethrown.
 */
export async function send(attempt: Attempt, take: Take): Promise<void> {
  const limits = { ...defaultLimits, ...attempt.limits }
  const given = checkedHeaders(attempt.headers)
  let headers = given
  const stop = new AbortController()
  const clock = watch(
    {
      limits,
      headersMs: attempt.whole ? limits.wholeMs : limits.headersMs,
      thinking: () => attempt.progress?.isThinking() === true,
      name: attempt.provider ?? 'The provider',
      clock: attempt.clock,
    },
    (error) => stop.abort(error),
  )
  const cancel = () => stop.abort(attempt.signal?.reason)
  attempt.signal?.addEventListener('abort', cancel)
  const taker = guarded(take)
  let began = false
  let complete = false

  try {
    if (attempt.signal?.aborted) cancel()
    headers = await authorized(attempt, given)
    let reply = await ask(attempt, headers, stop.signal)
    if (reply.status >= 400 && attempt.authorize?.refresh(reply)) {
      await reply.body?.cancel()
      headers = await authorized(attempt, given)
      reply = await ask(attempt, headers, stop.signal)
    }
    began = true
    const body: Body = { reply, clock, limits }
    if (reply.status < 200 || reply.status >= 300) throw await refusal(body, { ...attempt, headers })
    if (isWhole(reply)) {
      complete = await takeAll(wholeReply(await textOf(body), { ...attempt, headers }), taker.take)
    } else if (isAwsEvents(reply)) complete = await awsReply(body, attempt, taker.take)
    else complete = await streamedReply(body, attempt, taker.take)
  } catch (error) {
    if (taker.failed) throw taker.failed.error
    throw asSendError(error, attempt, stop.signal, began)
  } finally {
    attempt.signal?.removeEventListener('abort', cancel)
    clock.stop()
    // A stream that was read to its end leaves its connection for the next request.
    if (!complete) stop.abort()
  }
}

async function authorized(attempt: Attempt, headers: Record<string, string>): Promise<Record<string, string>> {
  const { authorize, url, body } = attempt
  if (!authorize) return headers
  const added = await authorize.headers({ method: 'POST', url, headers, body }, attempt.fetch ?? fetch)
  return { ...checkedHeaders(added), ...headers }
}

async function ask(attempt: Attempt, headers: Record<string, string>, signal: AbortSignal): Promise<FetchedReply> {
  const { url, body, committed, observe } = attempt
  const post = attempt.fetch ? afterCommit(attempt.fetch) : (defaultFetch ??= (await import('./http.ts')).defaultFetch)
  const reply = await post(url, { method: 'POST', headers, body, redirect: 'manual', signal }, committed)
  return observe ? observe(reply, body) : reply
}

/** For a `fetch` that sends the whole request at once. */
export function afterCommit(post: Fetch): FetchWhenCommitted {
  return async (url, init, committed) => {
    await committed
    return post(url, init)
  }
}

/**
 * Loaded with the first request: Node's modules for HTTP, TLS and compression take a fifth of the import time of the
 * package.
 */
let defaultFetch: FetchWhenCommitted | undefined

/** The platform's error would show the value. */
function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  const checked: Record<string, string> = { 'content-type': 'application/json' }
  for (const [name, given] of Object.entries(headers)) {
    const value = given.trim()
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw badInput(`The header ${JSON.stringify(name)} has a value that cannot be sent; check it for line breaks.`)
    }
    checked[name.toLowerCase()] = value
  }
  return checked
}

/** Distinguishes errors of the callback from those of the provider or the network. */
function guarded(take: Take): { take: Take; failed: { error: unknown } | undefined } {
  const own: ReturnType<typeof guarded> = {
    failed: undefined,
    take(chunk) {
      try {
        const next = take(chunk)
        return next instanceof Promise ? next.catch(fail) : next
      } catch (error) {
        return fail(error)
      }
    },
  }
  return own

  function fail(error: unknown): never {
    own.failed = { error }
    throw error
  }
}

/** False: it was stopped before the end. */
async function takeAll(chunks: Iterable<Json>, take: Take): Promise<boolean> {
  for (const chunk of chunks) {
    const next = take(chunk)
    if (next === 'stop') return false
    if (next) await next
  }
  return true
}

interface Body {
  reply: FetchedReply
  clock: Watch
  limits: Limits
}

/** Reads to the end of a body, or until a value is returned for a piece of it. */
async function eachPiece<T>(
  { reply, clock, limits }: Body,
  on: (piece: Uint8Array) => Promise<T | undefined> | T | undefined,
): Promise<T | undefined> {
  const reader = reply.body?.getReader()
  if (!reader) return undefined
  let size = 0
  let ended = false
  try {
    for (;;) {
      clock.reading()
      const { done, value } = await reader.read()
      clock.bytes()
      if (done || !value) break
      size += value.byteLength
      if (size > limits.replySize) throw tooLarge('The reply', limits.replySize)
      const given = on(value)
      const result = given instanceof Promise ? await given : given
      if (result !== undefined) return result
    }
    ended = true
    return undefined
  } finally {
    if (!ended) void leave(reader)
  }
}

/** How long to wait for the end of a body when nothing important can follow: it saves a whole connection. */
const lingerMs = 250

async function leave(reader: BodyReader): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), lingerMs)
  timer.unref()
  try {
    while (!(await reader.read()).done);
  } catch {
    // closed by the other side, or by us
  } finally {
    clearTimeout(timer)
  }
}

function isWhole(reply: FetchedReply): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(reply.headers.get('content-type') ?? '')
}

/** On every wire: a gateway may have converted it to server-sent events, and says so. */
function isAwsEvents(reply: FetchedReply): boolean {
  return /^application\/vnd\.amazon\.eventstream\b/i.test(reply.headers.get('content-type') ?? '')
}

async function awsReply(body: Body, attempt: Attempt, take: Take): Promise<boolean> {
  const unframer = unframeAwsEvents(body.limits.eventSize)
  const isOver = await eachPiece(body, async (piece) => {
    for (const chunk of unframer.push(piece)) {
      if (!isObject(chunk) || !('ping' in chunk)) body.clock.event()
      const next = take(chunk)
      if (next === 'stop') return false
      if (next) await next
      if (attempt.progress?.isDone()) return true
    }
    if (unframer.trouble) throw unframer.trouble
    return undefined
  })
  if (isOver !== undefined) return isOver
  unframer.flush()
  if (unframer.trouble) throw unframer.trouble
  return true
}

function* wholeReply(text: string, attempt: Attempt): Generator<Json, void, void> {
  const body = parseJson(text)
  if (body === undefined) return yield* readableIn(text, attempt)
  // Gateways send errors with 200 too. A reply that reports its own failure has an id.
  if (isObject(body) && body.error && body.id === undefined) {
    throw new SendError(redactFailure(readFailure({ ...named(attempt), body }), attempt.headers))
  }
  yield* attempt.protocol.split(body)
}

/** A stream that a proxy has mislabelled as JSON. */
function* readableIn(text: string, { protocol }: Attempt): Generator<Json, void, void> {
  const { chunks, failure } = readRecording(protocol, text)
  if (chunks.length === 0 && text.trim() !== '' && !hasEvents(text)) throw notJson(text)
  yield* chunks
  if (failure) throw new SynapseError(failure)
}

/** Sent by Anthropic and by Responses to keep the connection open; it carries no content. */
function isKeepAlive(chunk: Json): boolean {
  return isObject(chunk) && (chunk.type === 'ping' || chunk.type === 'keepalive')
}

async function streamedReply(body: Body, attempt: Attempt, take: Take): Promise<boolean> {
  const { framing } = attempt.protocol
  const { eventSize } = body.limits
  const unframer: Unframer =
    framing.kind === 'ndjson'
      ? unframeNdjson(eventSize)
      : unframeSse(eventSize, framing.kind === 'sse' ? framing.done : undefined)
  const reader = textReader()
  let unheard: string[] | undefined = []
  let unheardSize = 0
  const isOver = await eachPiece(body, (piece) => {
    const text = reader.push(piece)
    unheard?.push(text)
    unheardSize += text.length
    return takeFrom(unframer.push(text), 0)
  })
  if (isOver !== undefined) return isOver
  const last = [...unframer.push(reader.flush()), ...unframer.flush()]
  if (last.length > 0) unheard = undefined
  if (!(await takeAll(last, take))) return false
  // A stream without an event may be a whole reply, an error, or another site's page.
  return unheard ? takeAll(wholeReply(unheard.join(''), attempt), take) : true

  /** Without a promise as long as there is nothing to wait for. */
  function takeFrom(chunks: readonly Json[], first: number): Promise<boolean | undefined> | boolean | undefined {
    for (let i = first; i < chunks.length; i++) {
      const chunk = chunks[i] as Json
      unheard = undefined
      if (!isKeepAlive(chunk)) body.clock.event()
      const next = take(chunk)
      if (next === 'stop') return false
      if (next) return next.then(() => (attempt.progress?.isDone() ? true : takeFrom(chunks, i + 1)))
      if (attempt.progress?.isDone()) return true
    }
    if (unframer.trouble) throw unframer.trouble
    if (unframer.done) return true
    if (unheard && unheardSize > eventSize) throw tooLarge('A reply without a single event', eventSize)
    return undefined
  }
}

async function refusal(body: Body, attempt: Attempt): Promise<SendError> {
  const { reply } = body
  if (reply.status >= 300 && reply.status < 400) return new SendError(redirected(reply, attempt))
  const headers = Object.fromEntries(reply.headers)
  const text = redactText(await beginningOf(body, attempt), secretsIn(attempt.headers))
  const failure = readFailure({
    ...named(attempt),
    status: reply.status,
    headers,
    body: parseJson(text) ?? text,
    now: Date.now(),
  })
  const advice = headers['x-should-retry']
  return new SendError(failure, { advised: advice === 'true' ? true : advice === 'false' ? false : undefined })
}

/**
 * An error body is shown and classified: its beginning is enough, and a part is better than nothing.
 */
const errorSize = 64 * 1024

async function beginningOf(body: Body, attempt: Attempt): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    await eachPiece(body, (piece) => {
      text += decoder.decode(piece, { stream: true })
      return text.length > errorSize || undefined
    })
  } catch (error) {
    if (attempt.signal?.aborted) throw error
  }
  return text.slice(0, errorSize)
}

function redirected(reply: FetchedReply, attempt: Attempt): Failure {
  const location = reply.headers.get('location')
  const target = location ? URL.parse(location, attempt.url) : undefined
  const where = target ? ` to ${target.origin}${target.pathname}` : ''
  return {
    kind: 'invalid-request',
    status: reply.status,
    message:
      `${attempt.provider ?? 'The provider'} answered ${reply.status} with a redirect${where}. It was not followed, ` +
      'because the key is meant for one host only; if the new address is correct, set it as the base URL.',
  }
}

async function textOf(body: Body): Promise<string> {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  await eachPiece(body, (piece) => void pieces.push(decoder.decode(piece, { stream: true })))
  pieces.push(decoder.decode())
  return pieces.join('')
}

function named({ provider, keyVariable }: Attempt): { provider?: string; keyVariable?: string } {
  return { ...(provider !== undefined && { provider }), ...(keyVariable !== undefined && { keyVariable }) }
}

function asSendError(error: unknown, attempt: Attempt, stopped: AbortSignal, began: boolean): unknown {
  if (attempt.signal?.aborted) {
    return new SendError({ kind: 'aborted', message: 'The request was cancelled.' }, { cause: error })
  }
  if (error instanceof SendError) return error
  const cause: unknown = stopped.aborted ? stopped.reason : error
  if (cause instanceof SynapseError) return new SendError(cause.failure, { cause })
  const failure = networkFailure(cause, attempt.url, attempt.provider, began)
  return failure ? new SendError(failure, { cause }) : cause
}
