// The response to a failed request: always `{ error: { kind, message } }`, never a stack trace. An unexpected error is
// not shown at all: it has an id, and the server's log has the details.

import { randomUUID } from 'node:crypto'
import { SynapseError, type ErrorKind, type Failure, isTooDeep, tooDeep } from '../core/error.ts'
import type { ErrorBody } from './views.ts'

const statusOf: Record<ErrorKind, number> = {
  'bad-input': 400,
  'invalid-request': 400,
  auth: 401,
  permission: 403,
  refused: 403,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  'context-overflow': 413,
  'rate-limit': 429,
  quota: 429,
  internal: 500,
  limit: 502,
  'malformed-reply': 502,
  network: 502,
  'state-lost': 502,
  aborted: 503,
  overloaded: 503,
  storage: 503,
  timeout: 504,
}

/** A refusal whose status does not follow from its kind. */
export class Refusal extends SynapseError {
  readonly status: number
  readonly headers: Record<string, string>

  constructor(status: number, failure: Failure, headers: Record<string, string> = {}) {
    super(failure)
    this.status = status
    this.headers = headers
  }
}

export interface Answer {
  status: number
  headers: Record<string, string>
  body: ErrorBody
  /** For the log, if the response has only an id. */
  hidden?: unknown
}

export function answerFor(thrown: unknown): Answer {
  const error = isTooDeep(thrown) ? new SynapseError(tooDeep) : thrown
  if (!(error instanceof SynapseError) || error.kind === 'internal') {
    const code = randomUUID()
    const message = 'Something went wrong on the server; look up this code in its log.'
    return { status: 500, headers: {}, body: { error: { kind: 'internal', message, code } }, hidden: error }
  }
  const { kind, message, code, retryAfterMs } = error.failure
  const status = error instanceof Refusal ? error.status : statusOf[kind]
  // A used-up budget is not refilled.
  const isPassing = (status === 503 || status === 429) && kind !== 'quota'
  const wait = retryAfterMs ?? (isPassing ? 1000 : undefined)
  return {
    status,
    headers: {
      ...(error instanceof Refusal && error.headers),
      ...(wait !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(wait / 1000))) }),
      ...(status === 401 && { 'www-authenticate': 'Bearer realm="synapse"' }),
    },
    body: { error: { kind, message, ...(code !== undefined && { code }) } },
  }
}

/** Headers of all JSON that belongs to one owner. */
export const privateHeaders = { 'cache-control': 'no-store' }

export const jsonHeaders = { 'content-type': 'application/json', ...privateHeaders }

/** The response of a long task, which another thread has written. */
export function longAnswer({ bytes, headers }: { bytes: Uint8Array; headers: Record<string, string> }): Response {
  return new Response(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), { headers })
}

/** Bytes that do not change, all of them or the range that is asked for (RFC 9110, one range). */
export function bytesAnswer(request: Request, bytes: Uint8Array, headers: Record<string, string>): Response {
  const allHeaders = { ...headers, 'accept-ranges': 'bytes' }
  const size = bytes.byteLength
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.get('range') ?? '') ?? []
  if (first === '' && last === '') return new Response(Buffer.from(bytes), { headers: allHeaders })
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (from >= to) {
    const message = `There are ${size} bytes, and the range asks for none of them.`
    throw new Refusal(416, { kind: 'bad-input', message }, { 'content-range': `bytes */${size}` })
  }
  return new Response(Buffer.from(bytes.subarray(from, to)), {
    status: 206,
    headers: { ...allHeaders, 'content-range': `bytes ${from}-${to - 1}/${size}` },
  })
}

/** An unexpected error is found by its code. */
export function plainError(
  { kind, message, code }: ErrorBody['error'],
  status: number,
  headers: Record<string, string>,
): Response {
  const text = kind === 'internal' && code !== undefined ? `${message} ${code}` : message
  return new Response(text, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...privateHeaders, ...headers },
  })
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { ...jsonHeaders, ...headers },
  })
}
