// One request of a probe, sent directly: the status and text of the response, with as little in between as possible.

import { asFailure, type Failure } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { Transport } from '../run/run-context.ts'
import { defaultLimits } from '../transport/limits.ts'
import { networkFailure } from '../transport/network.ts'
import { sleep } from '../transport/reply.ts'
import { defaultRetry, retryWait } from '../transport/retry.ts'
import type { FetchedReply } from '../transport/send.ts'
import { jsonIn, tooLarge } from '../transport/unframe.ts'
import { readFailure } from '../wires/shared/failure.ts'
import type { ProbeRequest } from './plan.ts'

/** The response. Without a status there was none, and `failure` says why. */
export interface Asked {
  status?: number
  text: string
  failure?: Failure
}

export interface Asking {
  /** The service's name in messages. */
  name: string
  transport: Transport
  signal?: AbortSignal | undefined
}

/** Waits and retries if the service is busy. `final`: statuses that are the expected answer. */
export async function ask(
  request: ProbeRequest,
  { name, transport, signal }: Asking,
  final: readonly number[],
): Promise<Asked> {
  for (let failed = 1; ; failed++) {
    const asked = await once(request, { name, transport, signal })
    const { failure, status } = asked
    if (!failure || (status !== undefined && final.includes(status))) return asked
    const wait = retryWait(failure, failed, undefined, { ...defaultRetry, ...transport.retry })
    if (wait === undefined || signal?.aborted) return asked
    await (transport.sleep ?? sleep)(wait, signal)
  }
}

async function once(request: ProbeRequest, { name, transport, signal }: Asking): Promise<Asked> {
  const limits = { ...defaultLimits, ...transport.limits }
  const late = AbortSignal.timeout(limits.headersMs)
  try {
    const body = JSON.stringify(request.body)
    const given = { 'content-type': 'application/json', ...request.headers }
    const outgoing = { method: 'POST', url: request.url, headers: given, body }
    const added = await transport.authorize?.headers(outgoing, transport.fetch ?? fetch)
    const reply = await (transport.fetch ?? fetch)(request.url, {
      method: 'POST',
      headers: { ...added, ...given },
      body,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late]) : late,
    })
    const text = await textOf(reply, limits.replySize)
    const { status } = reply
    if (status >= 200 && status < 300) return { status, text }
    const answer: Json = jsonIn(text) ?? text
    return { status, text, failure: readFailure({ status, body: answer, headers: Object.fromEntries(reply.headers) }) }
  } catch (error) {
    signal?.throwIfAborted()
    return {
      text: '',
      failure: late.aborted
        ? tooLate(limits.headersMs)
        : (networkFailure(error, request.url, name) ?? asFailure(error)),
    }
  }
}

/** Binary frames in base64, as in recordings. */
async function textOf({ body, headers }: FetchedReply, most: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  const reader = body?.getReader()
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done || !value) break
    size += value.length
    if (size > most) throw tooLarge('The reply', most)
    pieces.push(value)
  }
  const isBinary = headers.get('content-type')?.includes('amazon.eventstream')
  return Buffer.concat(pieces).toString(isBinary ? 'base64' : 'utf8')
}

function tooLate(ms: number): Failure {
  return { kind: 'timeout', message: `No answer came within ${Math.round(ms / 1000)} seconds.` }
}
