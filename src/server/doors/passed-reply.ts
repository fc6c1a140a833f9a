// The reply of a provider as the client gets it unchanged, with what the provider cannot say: that the server waits for
// it, and that it could not be read to its end.

import { SynapseError, type ErrorKind } from '../../core/error.ts'
import { loadWire } from '../../wires/list.ts'
import { sourceOf, streamedResponse, type BodySink, type BodySource } from '../streamed-body.ts'
import type { PassThrough, RawReply } from './pass-through.ts'
import { headersOf, inForm, type ReplyOptions } from './reply.ts'
import { streamForm } from './stream-form.ts'
import { streamedReply, unforeseen } from './streamed-reply.ts'

/** What the provider sends, unchanged. `cost`: of a reply that is not streamed. */
export function rawReply({ status, headers, start }: RawReply, options: ReplyOptions, cost?: number): Response {
  const { run, delivered } = options
  const source = {
    // Some clients leave after the last event, before the provider ends the body.
    start: (sink: BodySink) => start(cost === undefined ? withFailure(sink, options) : sink, delivered),
    delivered: () => delivered?.(),
    cancel: () => run.abort(),
  }
  const ours = { ...headersOf(run), ...(cost !== undefined && { 'x-synapse-cost': String(cost) }) }
  return streamedResponse(source, { status, headers: { ...headers, ...ours } })
}

/**
 * A stream from the provider, or one written here in its place. Once the provider has begun to answer, the client does
 * not wait long for a sign of it: many clients limit that time, and send the request again.
 */
export async function passedStream(passes: PassThrough, options: ReplyOptions): Promise<Response> {
  const { keepAliveMs = 5000 } = options
  const reply = passes.reply.then((raw) => (raw ? rawReply(raw, options) : streamedReply(options)))
  const { promise: begun, resolve: begin } = Promise.withResolvers<RawReply>()
  const timer = setInterval(() => {
    const raw = passes.peek()
    if (raw) begin(raw)
  }, keepAliveMs)
  try {
    const first = await Promise.race([reply, begun])
    return first instanceof Response ? first : await waitingReply(first, reply, options, keepAliveMs)
  } finally {
    clearInterval(timer)
  }
}

/** It has begun, with the headers of the provider, and is filled until there is a reply: one can still be retried. */
async function waitingReply(
  { status, headers }: RawReply,
  reply: Promise<Response>,
  options: ReplyOptions,
  keepAliveMs: number,
): Promise<Response> {
  const { run, delivered, wire } = options
  const { framing } = await loadWire(wire)
  const { keepAlive } = streamForm(framing)
  let source: BodySource | undefined
  let hasLeft = false
  const begin = (sink: BodySink): void => {
    sink.write(keepAlive)
    const timer = setInterval(() => sink.write(keepAlive), keepAliveMs)
    const take = (response: Response): void => {
      clearInterval(timer)
      source = sourceOf(response)
      if (hasLeft) source?.cancel()
      else source?.start(sink)
    }
    const fail = async (error: unknown): Promise<void> => {
      clearInterval(timer)
      sink.write(await failureText(error instanceof SynapseError ? error : unforeseen(), options))
      sink.end()
    }
    reply.then(take, fail)
  }
  const cancel = (): void => {
    hasLeft = true
    run.abort()
    source?.cancel()
  }
  const waiting = { start: begin, delivered: () => delivered?.(), cancel }
  return streamedResponse(waiting, { status, headers: { ...headers, ...headersOf(run) } })
}

/** What the server reports about a reply that it has not read to its end, other than that the connection broke. */
const unread: ReadonlySet<ErrorKind> = new Set(['malformed-reply', 'limit', 'timeout'])

/** The end of an event, which is an empty line. */
const endOfEvent = /^$|(?:\n\n|\r\r|\n\r\n)$/
const endOfLine = /^$|\n$/

/** A stream that could not be read to its end has no error of the provider there, so it gets ours. */
function withFailure(sink: BodySink, options: ReplyOptions): BodySink {
  let tail = ''
  return {
    write(piece, sent) {
      const { length } = piece
      tail = (tail + Buffer.from(piece.slice(Math.max(0, length - 4))).toString('latin1')).slice(-4)
      sink.write(piece, sent)
    },
    end: () => void finish(() => sink.end()),
    fail: (error) => void finish(() => sink.fail(error)),
  }

  async function finish(asItWas: () => void): Promise<void> {
    const failure = await options.run.ended.then((end) => end.failure).catch(() => undefined)
    // With a body, it is the provider that has reported it.
    if (!failure || failure.raw !== undefined || !unread.has(failure.kind)) return asItWas()
    const error = new SynapseError(failure)
    const { framing } = await loadWire(options.wire)
    // In the middle of an event, an error would be read as a part of it.
    if (!(framing.kind === 'ndjson' ? endOfLine : endOfEvent).test(tail)) return sink.fail(error)
    sink.write(await failureText(error, options, true))
    sink.end()
  }
}

/** The chunks that end a reply which cannot be finished. `hasBegun`: only the error itself. */
async function failureText(
  error: SynapseError,
  { wire, service, form, profile, run, issueOf }: ReplyOptions,
  hasBegun = false,
): Promise<string> {
  const { framing } = await loadWire(wire)
  const replyId = run.passThrough?.replyId() ?? profile.replyId
  const write = (await service.door?.writer())?.({ ...profile, replyId })
  const chunks = write?.fail(issueOf(error)) ?? []
  const shown = inForm(form, profile)
  return chunks
    .slice(hasBegun ? -1 : 0)
    .map((chunk) => streamForm(framing).chunk(shown(chunk)))
    .join('')
}
