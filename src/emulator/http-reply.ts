// The emulator's answers before they get a request id: complete, streamed, and with injected faults.

import { isObject, type Json } from '../core/json.ts'
import { frameAwsEvent } from '../transport/aws-events.ts'
import type { FetchedBody } from '../transport/send.ts'
import { endText, frameText, keepAliveText } from '../wires/shared/frame-text.ts'
import type { Framing } from '../wires/wire.ts'
import { connectionReset, type Fault } from './faults.ts'

export interface HttpReply {
  status: number
  headers: Record<string, string>
  body: string | FetchedBody
}

const streamTypes: Readonly<Record<Framing['kind'], string>> = {
  sse: 'text/event-stream; charset=utf-8',
  ndjson: 'application/x-ndjson',
  'aws-events': 'application/vnd.amazon.eventstream',
}

const jsonType = { 'content-type': 'application/json' }

export function jsonReply(status: number, body: Json, headers: Record<string, string> = {}): HttpReply {
  return { status, body: typeof body === 'string' ? body : JSON.stringify(body), headers: { ...jsonType, ...headers } }
}

export function wholeReply(text: string, fault: Fault): HttpReply {
  const shortened = fault.cutAt === undefined ? text : text.slice(0, text.length / 2)
  return {
    status: 200,
    body: fault.garbageAt === undefined ? shortened : `\u0000<!${shortened}`,
    headers: { ...jsonType },
  }
}

export function streamReply(chunks: Json[], options: Parameters<typeof streamOf>[1] & { framing: Framing }): HttpReply {
  const headers = { 'content-type': streamTypes[options.framing.kind], 'cache-control': 'no-cache' }
  return { status: 200, body: streamOf(chunks, options), headers }
}

// Chunks as bytes: server-sent events or JSON Lines, pulled one by one by the reader, with the faults for this reply.

interface StreamOptions {
  framing: Framing
  fault: Fault
  /** The wire's own error event, for `errorAt`. */
  errorEvent: Json
  /** The reader's signal: when it aborts, so does the stream. */
  signal: AbortSignal
  sleep(ms: number): Promise<void>
  /** Called once, when the stream is over for whatever reason. */
  onEnd(): void
}

/** Not a web stream: Node takes a few milliseconds to load those. */
function streamOf(chunks: readonly Json[], options: StreamOptions): FetchedBody {
  const steps = stepsOf(chunks, options)
  const encoder = new TextEncoder()
  const { signal } = options
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  let ended = false
  const end = () => {
    signal.removeEventListener('abort', abort)
    if (!ended) options.onEnd()
    ended = true
  }
  const fail = (error: unknown) => {
    failed.reject(error)
    end()
  }
  const abort = () => fail(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()

  async function read(): Promise<{ done: boolean; value?: Uint8Array }> {
    const step = ended ? undefined : await next()
    // What has failed fails again, what has ended stays ended.
    if (step === undefined) return Promise.race([failed.promise, Promise.resolve({ done: true })])
    return { done: false, value: typeof step === 'string' ? encoder.encode(step) : step }
  }

  async function next(): Promise<string | Uint8Array | undefined> {
    const { value: step } = steps.next()
    if (step === undefined) end()
    else if (step === reset) fail(connectionReset())
    else if (step !== wait) return step
    else {
      const slept = options.sleep(options.fault.keepAliveMs ?? 1000).catch(() => undefined)
      await Promise.race([slept, failed.promise])
      return ended ? undefined : signOfLife(options.framing)
    }
    return undefined
  }

  const cancel = async () => end()
  return { getReader: () => ({ read, cancel }), cancel }
}

const reset = Symbol('reset')
const wait = Symbol('wait')

/** What a reader gets, in order: text, bytes, or a connection fault. */
function* stepsOf(
  chunks: readonly Json[],
  options: StreamOptions,
): Generator<string | Uint8Array | typeof reset | typeof wait, undefined, undefined> {
  const { fault, framing } = options
  for (let n = 0; n <= chunks.length; n++) {
    if (n === fault.resetAt) return yield reset
    if (n === fault.cutAt) return undefined
    if (n === fault.errorAt) return yield frame(fault.body ?? options.errorEvent, framing)
    if (n === fault.keepAliveAt) for (;;) yield wait
    if (n === fault.garbageAt) yield Uint8Array.of(0xff, 0xfe, 0x00, 0x7b, 0x22, 0xc3, 0x28, 0x0a)
    const chunk = chunks[n]
    if (chunk === undefined) break
    const text = frame(chunk, framing)
    yield text
    if (fault.duplicate) yield text
  }
  const end = endText(framing)
  if (end !== '') yield end
  return undefined
}

function frame(chunk: Json, framing: Framing): string | Uint8Array {
  if (framing.kind === 'aws-events') return frameAwsEvent(isObject(chunk) ? chunk : { event: chunk }, framing.wrapped)
  return frameText(chunk, framing)
}

function signOfLife(framing: Framing): string | Uint8Array {
  if (framing.kind === 'aws-events') return frameAwsEvent({ ping: {} }, framing.wrapped)
  return keepAliveText(framing)
}
