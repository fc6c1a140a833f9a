// Chunks as bytes: server-sent events or lines of JSON, pulled one by one as the reader takes them, with the faults
// that were ordered for this reply.

import { isObject, type Json } from '../core/json.ts'
import type { Framing } from '../wires/wire.ts'
import { connectionReset, type Fault } from './faults.ts'

export interface StreamOptions {
  framing: Framing
  fault: Fault
  /** The wire's own error event, for `errorAt`. */
  errorEvent: Json
  /** The reader's: when it gives up, so does the stream. */
  signal: AbortSignal
  sleep(ms: number): Promise<void>
  /** Called once, when the stream is over for whatever reason. */
  onEnd(): void
}

export function streamOf(chunks: readonly Json[], options: StreamOptions): ReadableStream<Uint8Array> {
  const steps = stepsOf(chunks, options)
  const encoder = new TextEncoder()
  const { signal } = options
  let ended = false
  let stop: (() => void) | undefined
  const end = () => {
    if (stop) signal.removeEventListener('abort', stop)
    if (!ended) options.onEnd()
    ended = true
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = () => {
          controller.error(signal.reason)
          end()
        }
        signal.addEventListener('abort', stop)
        if (signal.aborted) stop()
      },
      async pull(controller) {
        const { value: step } = steps.next()
        if (step === undefined) {
          controller.close()
          end()
        } else if (step === reset) {
          controller.error(connectionReset())
          end()
        } else if (step === wait) {
          await options.sleep(options.fault.keepAliveMs ?? 1000).catch(() => undefined)
          if (!ended) controller.enqueue(encoder.encode(signOfLife(options.framing)))
        } else {
          controller.enqueue(typeof step === 'string' ? encoder.encode(step) : step)
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}

const reset = Symbol('reset')
const wait = Symbol('wait')

/** What a reader gets, in order: text, bytes, or something that happens to the connection. */
function* stepsOf(
  chunks: readonly Json[],
  options: StreamOptions,
): Generator<string | Uint8Array | typeof reset | typeof wait, undefined, undefined> {
  const { fault, framing } = options
  for (let n = 0; n <= chunks.length; n++) {
    if (n === fault.resetAt) return yield reset
    if (n === fault.cutAt) return undefined
    if (n === fault.errorAt) return yield framed(fault.body ?? options.errorEvent, framing)
    if (n === fault.keepAliveAt) for (;;) yield wait
    if (n === fault.garbageAt) yield Uint8Array.of(0xff, 0xfe, 0x00, 0x7b, 0x22, 0xc3, 0x28, 0x0a)
    const chunk = chunks[n]
    if (chunk === undefined) break
    const text = framed(chunk, framing)
    yield text
    if (fault.duplicate) yield text
  }
  if (framing.kind === 'sse' && framing.done !== undefined) yield `data: ${framing.done}\n\n`
  return undefined
}

function framed(chunk: Json, framing: Framing): string {
  const json = JSON.stringify(chunk)
  if (framing.kind === 'ndjson') return `${json}\n`
  const type = isObject(chunk) ? (chunk.type ?? chunk.event_type) : undefined
  return `${framing.named && typeof type === 'string' ? `event: ${type}\n` : ''}data: ${json}\n\n`
}

function signOfLife(framing: Framing): string {
  return framing.kind === 'ndjson' ? '\n' : ': keep-alive\n\n'
}
