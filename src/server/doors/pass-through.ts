// Where the client and the provider speak the same wire and nothing has to be changed, bytes pass through: the body and
// the stream unchanged, with unknown fields and headers. It is still one exchange in the log, decoded in parallel for
// the conversation and the bill.

import { setTimeout as after } from 'node:timers/promises'
import type { Runtime } from '../../run/conversation.ts'
import type { Verbatim } from '../../run/run-context.ts'
import type { FetchedBody, FetchedReply } from '../../transport/send.ts'
import type { WireService } from '../../wires/service.ts'
import type { BodySink } from '../streamed-body.ts'
import type { PassableRequest } from './passable-request.ts'
import { responseHeaders } from './passed-headers.ts'
import { withoutEvents } from './without-events.ts'

export interface PassThrough {
  verbatim: Verbatim
  /** Finds the same endpoints, and observes the response to the request. */
  endpoint: Runtime['endpoint']
  /**
   * A part of the reply is in the log: from now on it is not retried, so its bytes may be sent. True: they will be, so
   * nothing has to be translated.
   */
  shown(): boolean
  /** The run has ended: nothing more comes, and held-back bytes may be sent. `failed`: nothing of it is an answer. */
  ended(failed?: boolean): void
  /** The response to the request; undefined once it is certain that it will be translated instead. */
  reply: Promise<RawReply | undefined>
  /** The part that has arrived. */
  peek(): RawReply | undefined
  /** The id that the provider gave its reply, once known. */
  replyId(): string | undefined
}

export interface RawReply {
  status: number
  headers: Record<string, string>
  /** Writes the bytes that have arrived, and each one that follows. `complete`: called once the end of the reply is sent. */
  start(sink: BodySink, complete?: () => void): void
}

export function passThrough(
  verbatim: PassableRequest,
  find: Runtime['endpoint'],
  { ends }: Pick<WireService, 'ends'>,
): PassThrough {
  const { promise: reply, resolve } = Promise.withResolvers<RawReply | undefined>()
  let coming: { raw: RawReply; copy: Copy } | undefined
  return {
    verbatim,
    async endpoint(model, protocol) {
      const found = await find(model, protocol)
      return { ...found, transport: { ...found.transport, observe } }
    },
    shown() {
      resolve(coming?.raw)
      return coming !== undefined
    },
    ended(failed = false) {
      coming?.copy.release()
      // What was shown is already resolved.
      resolve(failed ? undefined : coming?.raw)
    },
    reply,
    peek: () => coming?.raw,
    replyId: () => coming?.copy.id(),
  }

  function observe(answer: FetchedReply, sent: string | Uint8Array): FetchedReply {
    coming = undefined
    const isReply = answer.status >= 200 && answer.status < 300 && isLabelled(answer, verbatim.whole)
    if (sent !== verbatim.body || !isReply || !answer.body) return answer
    const copy = bufferedCopy(ends, verbatim.whole)
    const headers = responseHeaders(answer.headers)
    coming = { raw: { status: answer.status, headers, start: copy.start }, copy }
    const shown = verbatim.hidden ? withoutEvents(verbatim.hidden, copy) : copy
    const body = teeBody(answer.body, shown, copy.last)
    return { status: answer.status, headers: answer.headers, body, text: () => answer.text() }
  }
}

/**
 * Whether it says that it is what was requested: clients read it by that. Anything else, such as the page of a proxy or a
 * whole reply in place of a stream, is read and written again.
 */
function isLabelled({ headers }: FetchedReply, whole: boolean): boolean {
  const type = headers.get('content-type') ?? ''
  return whole
    ? /^application\/(?:[\w.-]+\+)?json\b/i.test(type)
    : /^(?:text\/event-stream|application\/(?:x-)?(?:ndjson|jsonl))\b/i.test(type)
}

interface Copy extends BodySink {
  write(piece: Uint8Array): void
  start: RawReply['start']
  /** The reply is in the log: all of it may be sent. */
  release(): void
  /** Resolved when the end of the reply has arrived, or nothing more comes. */
  last: Promise<void>
  /** The id of the reply. It is known before the reply is in the log, and so before the client reads any of it. */
  id(): string | undefined
}

/**
 * The client may send its next request as soon as it has the end of a reply, and then the reply must be in the log:
 * from the first match of `ends` on, nothing is sent before it is released.
 */
function bufferedCopy(ends: RegExp, whole: boolean): Copy {
  /** Before the client reads. */
  const early: Uint8Array[] = []
  /** Before the reply is in the log. */
  const late: Uint8Array[] = []
  let sink: BodySink | undefined
  let complete: (() => void) | undefined
  let isReleased = false
  let isLast = whole
  let outcome: 'ended' | { error: unknown } | undefined
  let before = ''
  let id: string | undefined
  const { promise: last, resolve: reachLast } = Promise.withResolvers<void>()
  return {
    last,
    write(piece) {
      const free = freeIn(piece)
      if (free > 0) send(piece.subarray(0, free))
      if (free < piece.length) late.push(piece.subarray(free))
    },
    end() {
      isLast = true
      outcome = 'ended'
      flush()
    },
    fail(error) {
      outcome = { error }
      flush()
    },
    start(opened, onComplete) {
      sink = opened
      complete = onComplete
      flush()
    },
    release() {
      isReleased = true
      flush()
    },
    id: () => id,
  }

  /** How many bytes may be sent. All that is looked for is ASCII, and may be cut anywhere. */
  function freeIn(piece: Uint8Array): number {
    if (isLast && isReleased) return piece.length
    if (isLast && id !== undefined) return 0
    const text = before + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1')
    id ??= /"id"\s*:\s*"([\w-]{4,200})"/.exec(text)?.[1]
    const end = isLast ? { index: 0 } : ends.exec(text)
    const free = end ? Math.max(0, end.index - before.length) : piece.length
    isLast = end !== null
    if (isLast) reachLast()
    before = text.slice(id === undefined ? -220 : -40)
    return isReleased ? piece.length : free
  }

  function send(piece: Uint8Array): void {
    if (sink) sink.write(piece, isLast && isReleased ? complete : undefined)
    else early.push(piece)
  }

  function flush(): void {
    if (isReleased) early.push(...late.splice(0))
    if (outcome) reachLast()
    if (!sink) return
    if (early.length > 0) sink.write(Buffer.concat(early.splice(0)), isLast && isReleased ? complete : undefined)
    if (!outcome || (isLast && !isReleased)) return
    if (outcome === 'ended') sink.end()
    else sink.fail(outcome.error)
    sink = undefined
  }
}

/** For how long the last event, such as `[DONE]`, is waited for if the reply has ended before it. */
const lastEventMs = 5000
/** The rest of it. */
const restMs = 250

/** The same bytes twice: they are passed on as they are read. `last`: resolved with the last event. */
function teeBody(body: FetchedBody, copy: BodySink, last: Promise<void>): FetchedBody {
  const reader = body.getReader()
  let isOver = false
  let hasLast = false
  const rest = last.then(() => {
    hasLast = true
    return after(restMs, undefined, { ref: false })
  })
  // The reader has all that it needs, but the client gets the last event too.
  const cancel = async (): Promise<void> => {
    if (!hasLast) await Promise.race([rest, after(lastEventMs, undefined, { ref: false })])
    end()
    await reader.cancel()
  }
  return { getReader: () => ({ read, cancel }), cancel }

  function end(): void {
    if (!isOver) copy.end()
    isOver = true
  }

  async function read(): ReturnType<typeof reader.read> {
    try {
      const piece = await reader.read()
      if (piece.done || !piece.value) end()
      else copy.write(piece.value)
      return piece
    } catch (error) {
      if (!isOver) copy.fail(error)
      isOver = true
      throw error
    }
  }
}
