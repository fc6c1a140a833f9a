// A reply to the client while it is written. Until the first piece everything can still be retried internally, and a
// failure has its own status.

import { SynapseError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import { loadWire } from '../../wires/list.ts'
import { streamHeaders } from '../runs/sse.ts'
import { streamedResponse, type BodySink } from '../streamed-body.ts'
import { clientChunks } from './client-parts.ts'
import { errorOf, headersOf, inForm, requestIdOf, type ReplyOptions } from './reply.ts'
import type { DoorEnd } from './run.ts'
import { streamForm, type StreamForm } from './stream-form.ts'

/** Throws a SynapseError for a failure before the first piece. */
export async function streamedReply(options: ReplyOptions): Promise<Response> {
  const { wire, service, form, profile, run } = options
  const shown = inForm(form, profile)
  const { framing } = await loadWire(wire)
  const written = streamForm(framing, options.asArray)
  const { door } = service
  if (!door) throw new TypeError(`${wire} has no door`)
  const write = (await door.writer())(profile)
  const chunksOf = clientChunks(write, options)
  const body = streamedText(written, options)
  run.events.listen((event) => {
    if (event.type !== 'reply-event' || body.isOver()) return
    try {
      body.send(textOf(chunksOf(event.event)))
    } catch {
      fail(unforeseen())
    }
  })
  run.ended.then(finish, (error: unknown) => fail(error instanceof SynapseError ? error : unforeseen()))
  await body.begun
  const headers = { ...streamHeaders, ...written.headers, ...requestIdOf(run, service), ...headersOf(run) }
  return streamedResponse(body.source, { headers })

  function finish(ended: DoorEnd): void {
    if (!ended.reply || ended.failure || ended.outcome === 'cancelled') fail(errorOf(ended))
    else body.end(textOf(write.end()) + written.end())
  }

  function fail(error: SynapseError): void {
    if (body.abandon(error)) return
    body.end(textOf(write.fail(options.issueOf(error))) + (options.asArray ? written.end() : ''))
  }

  function textOf(chunks: readonly Json[]): string {
    let text = ''
    for (const chunk of chunks) text += written.chunk(shown(chunk))
    return text
  }
}

/** The text of a body. What arrives together is sent together, and a silence is filled, so that clients do not give up. */
function streamedText(
  { keepAlive: filler }: StreamForm,
  { run, keepAliveMs = 15_000, delivered }: Pick<ReplyOptions, 'run' | 'keepAliveMs' | 'delivered'>,
) {
  const { promise: begun, resolve: begin, reject } = Promise.withResolvers<void>()
  let hasBegun = false
  let unsent = ''
  let isFlushing = false
  let isOver = false
  let sink: BodySink | undefined
  const keepAlive = setInterval(() => send(filler), keepAliveMs)
  return {
    source: {
      start(opened: BodySink) {
        sink = opened
        flush()
      },
      delivered: () => delivered?.(),
      cancel() {
        isOver = true
        clearInterval(keepAlive)
        run.abort()
      },
    },
    /** Resolved with the first text. */
    begun,
    send,
    /** With the last text. */
    end(text: string): void {
      if (isOver) return
      isOver = true
      clearInterval(keepAlive)
      unsent += text
      flush()
    },
    /** Rejects `begun`; false: there was text. */
    abandon(error: SynapseError): boolean {
      if (hasBegun || unsent !== '') return false
      clearInterval(keepAlive)
      reject(error)
      return true
    },
    isOver: () => isOver,
  }

  function send(text: string): void {
    if (text === '') return
    unsent += text
    if (isFlushing) return
    isFlushing = true
    queueMicrotask(flush)
  }

  function flush(): void {
    isFlushing = false
    hasBegun = true
    begin()
    if (!sink) return
    if (!isOver) keepAlive.refresh()
    if (unsent !== '') sink.write(unsent)
    unsent = ''
    if (isOver) sink.end()
  }
}

export function unforeseen(): SynapseError {
  return new SynapseError({ kind: 'internal', message: 'Something went wrong on the server.' })
}
