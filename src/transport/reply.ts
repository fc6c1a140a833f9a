// The events of one reply, over as many attempts as needed.
//
// Failures of a provider are never thrown: they end as a `reply-end` with stop and failure. An attempt is repeated only
// as long as nothing of the reply was shown; after that the decoder keeps what has arrived.

import { setTimeout as delay } from 'node:timers/promises'
import type { Failure } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import type { Origin } from '../core/message.ts'
import type { DecoderOptions, EndCause } from '../wires/wire.ts'
import { defaultLimits } from './limits.ts'
import { redactFailure } from './redact.ts'
import { defaultRetry, retryWait, type RetryPolicy } from './retry.ts'
import type { RetryBudget } from './retry-budget.ts'
import { send, SendError, type Attempt } from './send.ts'
import { sizeText } from './unframe.ts'

export interface ReplyCall extends Omit<Attempt, 'progress'> {
  origin: Origin
  decoder?: DecoderOptions
  retry?: Partial<RetryPolicy>
  /** The retry budget of this provider; without it, retries are not limited. */
  budget?: RetryBudget
  /** Waits between attempts; ends early, by resolving or rejecting, when the signal is aborted. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/** What happens between attempts. */
export type RetryEvent =
  /** `attempt` is the number of the next attempt: 2 for the first retry. */
  | { type: 'retry'; attempt: number; waitMs: number; failure: Failure }
  /** A retry could help, but too many recent requests to this provider were retries. */
  | { type: 'no-retry'; failure: Failure }

/** A promise is waited for before more of the reply is read. */
export type OnEvent = (event: ReplyEvent | RetryEvent) => Promise<unknown> | undefined

/** Emits the events of a reply as they arrive. An error thrown by `emit` stops the reading and is rethrown. */
export async function readReply(call: ReplyCall, emit: OnEvent): Promise<void> {
  const policy = { ...defaultRetry, ...call.retry }
  call.budget?.countRequest()
  for (let failed = 1; ; failed++) {
    const { shown, rest, advised } = await tryOnce(call, emit)
    // Nothing is reported of a request that is not in the log.
    await call.committed
    const failure = rest.findLast((event) => event.type === 'reply-end')?.failure
    const wait = failure && !shown ? retryWait(failure, failed, advised, policy) : undefined
    if (!failure || wait === undefined || call.signal?.aborted) return emitAll(rest, emit)
    if (call.budget?.take() === false) {
      await emit({ type: 'no-retry', failure })
      return emitAll(rest, emit)
    }
    await emit({ type: 'retry', attempt: failed + 1, waitMs: wait, failure })
    try {
      await (call.sleep ?? sleep)(wait, call.signal)
    } catch (error) {
      if (!call.signal?.aborted) throw error
    }
    if (call.signal?.aborted) return emitAll(cancelled(call), emit)
  }
}

async function emitAll(events: readonly ReplyEvent[], emit: OnEvent): Promise<void> {
  for (const event of events) await emit(event)
}

/** The same as an iterator: no more is read than was requested. */
export async function* streamReply(call: ReplyCall): AsyncGenerator<ReplyEvent | RetryEvent, void, void> {
  const left = new AbortController()
  const signal = call.signal ? AbortSignal.any([call.signal, left.signal]) : left.signal
  const events: (ReplyEvent | RetryEvent)[] = []
  let wake = (): void => {}
  let drained = (): void => {}
  let ended = false
  const reading = readReply({ ...call, signal }, (event) => {
    events.push(event)
    wake()
    return new Promise<void>((resolve) => (drained = resolve))
  }).finally(() => {
    ended = true
    wake()
  })
  // Reported when it is awaited.
  reading.catch(() => {})
  try {
    for (;;) {
      while (events.length > 0) yield* events.splice(0)
      drained()
      if (ended) break
      await new Promise<void>((resolve) => (wake = resolve))
    }
    await reading
  } finally {
    left.abort()
    drained()
  }
}

interface Outcome {
  /** Some part of the reply was emitted. */
  shown: boolean
  /** The events that were not emitted yet: the end, and all of them if nothing was shown. */
  rest: ReplyEvent[]
  advised: boolean | undefined
}

async function tryOnce(call: ReplyCall, emit: OnEvent): Promise<Outcome> {
  const decoder = call.protocol.decoder(call.origin, call.decoder)
  const open = openThoughts()
  const progress = { isDone: () => decoder.done, isThinking: open.any }
  let held: ReplyEvent[] = []
  let shown = false
  let chunks = 0
  let cause: EndCause | undefined
  let advised: boolean | undefined
  const most = call.limits?.contentSize ?? defaultLimits.contentSize
  let size = 0

  try {
    await send({ ...call, progress }, (chunk) => {
      chunks++
      let emitted: Promise<unknown> | undefined
      for (const event of decoder.push(chunk)) {
        open.watch(event)
        size += sizeOf(event)
        if (!shown && event.type === 'reply-start') {
          held = [event]
          continue
        }
        if (!shown) for (const first of started(held, call.origin)) emitted = emit(first) ?? emitted
        shown = true
        held = []
        emitted = emit(event) ?? emitted
      }
      if (call.signal?.aborted && !decoder.done) cause = { reason: 'cancelled' }
      else if (size > most && !decoder.done) cause = { reason: 'interrupted', failure: tooMuch(call, most) }
      return cause ? 'stop' : emitted
    })
    if (chunks === 0) cause ??= { reason: 'failed', failure: emptyReply(call) }
  } catch (error) {
    if (!(error instanceof SendError)) throw error
    advised = error.advised
    cause =
      error.kind === 'aborted'
        ? { reason: 'cancelled' }
        : { reason: shown ? 'interrupted' : 'failed', failure: error.failure }
  }
  const end = decoder.end(cause).map((event) => withoutSecrets(event, call))
  return { shown, rest: shown ? end : started([...held, ...end], call.origin), advised }
}

/** Even an empty part takes space in the log. */
const partSize = 256

/** What an event adds to the reply. A part that arrived in deltas is not counted again at its end. */
function sizeOf(event: ReplyEvent): number {
  if (event.type === 'part-delta') return event.text.length
  if (event.type !== 'part-start') return 0
  const { part } = event
  if (part.type === 'media') return partSize + (part.data.kind === 'base64' ? part.data.base64.length : 0)
  return partSize + ('text' in part ? (part.text?.length ?? 0) : 0)
}

function tooMuch({ provider = 'The provider' }: ReplyCall, most: number): Failure {
  return {
    kind: 'limit',
    code: 'reply-size',
    message:
      `${provider} sent more than the ${sizeText(most)} that are stored of a reply, so reading it was stopped. ` +
      'Ask for less at a time, or raise guards.replySize.',
  }
}

/** Every reply starts once, even one that failed before its first chunk. */
function started(events: ReplyEvent[], origin: Origin): ReplyEvent[] {
  return events[0]?.type === 'reply-start' ? events : [{ type: 'reply-start', origin }, ...events]
}

function openThoughts(): { watch(event: ReplyEvent): void; any(): boolean } {
  const open = new Set<number>()
  return {
    watch(event) {
      if (event.type === 'reply-start') open.clear()
      else if (event.type === 'part-start' && event.part.type === 'reasoning') open.add(event.index)
      else if (event.type === 'part-end') open.delete(event.index)
    },
    any: () => open.size > 0,
  }
}

/** LM Studio answers this way when the prompt does not fit the model's context (checked 2026-11). */
function emptyReply({ provider = 'The provider' }: ReplyCall): Failure {
  return {
    kind: 'malformed-reply',
    message:
      `${provider} ended the reply before it began. Try again; if this is a local server, the conversation may be ` +
      'longer than the context it was started with.',
  }
}

function withoutSecrets(event: ReplyEvent, call: ReplyCall): ReplyEvent {
  if (event.type !== 'reply-end' || !event.failure) return event
  return { ...event, failure: redactFailure(event.failure, call.headers) }
}

function cancelled(call: ReplyCall): ReplyEvent[] {
  return started(call.protocol.decoder(call.origin, call.decoder).end({ reason: 'cancelled' }), call.origin)
}

export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(ms, undefined, signal && { signal })
}
