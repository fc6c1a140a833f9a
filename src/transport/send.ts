// One attempt: a POST, and the JSON chunks of what comes back. Whatever goes wrong is thrown as a SendError.
//
// Redirects are never followed: the key belongs to the host it was sent to. Node's own fetch gives up on headers and on
// a silent body after 300 s, whatever the limits here say; who needs more brings a fetch with a dispatcher of its own.

import { badInput, SynapseError, type Failure } from '../core/error.ts'
import { isObject, type Json } from '../core/json.ts'
import { readFailure } from '../wires/shared/failure.ts'
import type { Wire } from '../wires/wire.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { unframeNdjson } from './ndjson.ts'
import { networkFailure } from './network.ts'
import { hasEvents, readRecording } from './recording.ts'
import { redactFailure, redactText, secretsIn } from './redact.ts'
import { unframeSse } from './sse.ts'
import { jsonIn, notJson, tooLarge, type Unframer } from './unframe.ts'
import { watch, type Watch } from './watch.ts'

/** As much of `fetch` as is used: a fetch of one's own avoids loading the platform's, which is slow to load. */
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

/** As much of a Response as is read. */
export interface FetchedReply {
  readonly status: number
  readonly headers: Iterable<[string, string]> & { get(name: string): string | null | undefined }
  readonly body: ReadableStream<Uint8Array> | null
  text(): Promise<string>
}

export interface Attempt {
  protocol: Wire
  url: string
  headers: Record<string, string>
  /** Serialised once, by the caller. */
  body: string | Uint8Array
  /** The reply was asked for in one piece. */
  whole?: boolean
  signal?: AbortSignal
  fetch?: Fetch
  limits?: Partial<Limits>
  /** How messages name the provider. */
  provider?: string
  keyVariable?: string
  /** What the decoder knows: after `done` nothing more is read, while `thinking` more patience is shown. */
  progress?: { readonly done: boolean; readonly thinking: boolean }
}

export class SendError extends SynapseError {
  /** What the provider says about trying again. */
  readonly advised: boolean | undefined

  constructor(failure: Failure, options: { cause?: unknown; advised?: boolean | undefined } = {}) {
    super(failure, { cause: options.cause })
    this.advised = options.advised
  }
}

export async function* send(attempt: Attempt): AsyncGenerator<Json, void, void> {
  const limits = { ...defaultLimits, ...attempt.limits }
  const headers = checkedHeaders(attempt.headers)
  const stop = new AbortController()
  const clock = watch(
    {
      limits,
      headersMs: attempt.whole ? limits.wholeMs : limits.headersMs,
      thinking: () => attempt.progress?.thinking === true,
      name: attempt.provider ?? 'The provider',
    },
    (error) => stop.abort(error),
  )
  const cancel = () => stop.abort(attempt.signal?.reason)
  attempt.signal?.addEventListener('abort', cancel)
  let began = false
  let complete = false

  try {
    if (attempt.signal?.aborted) cancel()
    const reply = await (attempt.fetch ?? fetch)(attempt.url, {
      method: 'POST',
      headers,
      body: attempt.body,
      redirect: 'manual',
      signal: stop.signal,
    })
    began = true
    clock.reading()
    const bytes = readBody(reply, clock, limits.replySize)
    if (reply.status < 200 || reply.status >= 300) throw await refusal(reply, bytes, attempt)
    if (isWhole(reply)) yield* wholeReply(await textOf(bytes), attempt)
    else yield* streamedReply(bytes, attempt, limits, clock)
    complete = true
  } catch (error) {
    throw asSendError(error, attempt, stop.signal, began)
  } finally {
    attempt.signal?.removeEventListener('abort', cancel)
    clock.stop()
    // A stream that was read to its end leaves its connection to the next request.
    if (!complete) stop.abort()
  }
}

/** The error of the platform would show the value. */
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

async function* readBody(reply: FetchedReply, clock: Watch, limit: number): AsyncGenerator<Uint8Array, void, void> {
  const reader = reply.body?.getReader()
  if (!reader) return
  let size = 0
  let ended = false
  try {
    for (;;) {
      clock.reading()
      const { done, value } = await reader.read()
      clock.bytes()
      if (done) break
      size += value.byteLength
      if (size > limit) throw tooLarge('The reply', limit)
      yield value
    }
    ended = true
  } finally {
    if (!ended) void leave(reader)
  }
}

/** How long the end of a body is waited for when nothing that matters can follow: a whole connection is kept by it. */
const lingerMs = 250

async function leave(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
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

function* wholeReply(text: string, attempt: Attempt): Generator<Json, void, void> {
  const body = jsonIn(text)
  if (body === undefined) return yield* readableIn(text, attempt)
  // Gateways send errors with 200 too. A reply that tells of its own failure has an id.
  if (isObject(body) && body.error && body.id === undefined) {
    throw new SendError(redactFailure(readFailure({ ...named(attempt), body }), attempt.headers))
  }
  yield* attempt.protocol.split(body)
}

/** A stream that was called JSON on its way, by a proxy that knows no better. */
function* readableIn(text: string, { protocol }: Attempt): Generator<Json, void, void> {
  const { chunks, failure } = readRecording(protocol, text)
  if (chunks.length === 0 && text.trim() !== '' && !hasEvents(text)) throw notJson(text)
  yield* chunks
  if (failure) throw new SynapseError(failure)
}

/** Said by Anthropic and by Responses to keep the line open; a model that says only this says nothing. */
const keepAlives: ReadonlySet<Json | undefined> = new Set(['ping', 'keepalive'])

async function* streamedReply(
  bytes: AsyncIterable<Uint8Array>,
  attempt: Attempt,
  limits: Limits,
  clock: Watch,
): AsyncGenerator<Json, void, void> {
  const { framing } = attempt.protocol
  const unframer: Unframer =
    framing.kind === 'ndjson' ? unframeNdjson(limits.eventSize) : unframeSse(limits.eventSize, framing.done)
  const decoder = new TextDecoder()
  let unheard: string[] | undefined = []
  let unheardSize = 0
  for await (const piece of bytes) {
    const text = decoder.decode(piece, { stream: true })
    unheard?.push(text)
    unheardSize += text.length
    for (const chunk of unframer.push(text)) {
      unheard = undefined
      if (!isObject(chunk) || !keepAlives.has(chunk.type)) clock.event()
      yield chunk
      if (attempt.progress?.done) return
    }
    if (unframer.trouble) throw unframer.trouble
    if (unframer.done) return
    if (unheard && unheardSize > limits.eventSize) throw tooLarge('A reply without a single event', limits.eventSize)
  }
  for (const chunk of [...unframer.push(decoder.decode()), ...unframer.flush()]) {
    unheard = undefined
    yield chunk
  }
  // What was called a stream and had no event in it may be a whole reply, an error, or somebody else's page.
  if (unheard) yield* wholeReply(unheard.join(''), attempt)
}

async function refusal(reply: FetchedReply, bytes: AsyncIterable<Uint8Array>, attempt: Attempt): Promise<SendError> {
  if (reply.status >= 300 && reply.status < 400) return new SendError(redirected(reply, attempt))
  const headers = Object.fromEntries(reply.headers)
  const text = redactText(await beginningOf(bytes, attempt), secretsIn(attempt.headers))
  const body = jsonIn(text) ?? text
  const failure = readFailure({ ...named(attempt), status: reply.status, headers, body, now: Date.now() })
  const advice = headers['x-should-retry']
  return new SendError(failure, { advised: advice === 'true' ? true : advice === 'false' ? false : undefined })
}

/** An error body is for people and for the table of failures: its beginning is enough, and less is better than none. */
const errorSize = 64 * 1024

async function beginningOf(bytes: AsyncIterable<Uint8Array>, attempt: Attempt): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const piece of bytes) {
      text += decoder.decode(piece, { stream: true })
      if (text.length > errorSize) break
    }
  } catch (error) {
    if (attempt.signal?.aborted) throw error
  }
  return text.slice(0, errorSize)
}

function redirected(reply: FetchedReply, attempt: Attempt): Failure {
  const target = URL.parse(reply.headers.get('location') ?? '', attempt.url)
  const where = target ? ` to ${target.origin}${target.pathname}` : ''
  return {
    kind: 'invalid-request',
    status: reply.status,
    message:
      `${attempt.provider ?? 'The provider'} answered ${reply.status} with a redirect${where}. It was not followed, ` +
      'because the key is meant for one host only; if the new address is right, set it as the base URL.',
  }
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  for await (const piece of bytes) pieces.push(decoder.decode(piece, { stream: true }))
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
