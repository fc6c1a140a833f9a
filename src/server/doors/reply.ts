// A reply to the client, in the format of its API: complete, or streamed. Until the first piece everything can still be
// retried internally, and a failure has its own status.

import type { ReplyEvent } from '../../core/event.ts'
import { SynapseError } from '../../core/error.ts'
import { isObject, type Json } from '../../core/json.ts'
import type { Part, Reply, Stop } from '../../core/message.ts'
import { noUsage, type Usage } from '../../core/usage.ts'
import { loadWire } from '../../wires/list.ts'
import type { RequestForm, UnfinishedReply, WireService } from '../../wires/service.ts'
import { objectIn } from '../../wires/shared/json-fields.ts'
import { shownUsage, type StreamProfile, type StreamWriter } from '../../wires/shared/stream-writer.ts'
import type { Issue } from '../../wires/wire.ts'
import { json } from '../answer.ts'
import { streamHeaders } from '../runs/sse.ts'
import { streamedResponse, type BodySink } from '../streamed-body.ts'
import { clientCallId } from './call-ids.ts'
import type { RawReply } from './pass-through.ts'
import type { DoorEnd, DoorRun } from './run.ts'
import { streamForm, type StreamForm } from './stream-form.ts'

export interface ReplyOptions {
  wire: string
  service: WireService
  /** Absent: the usual form of the wire. */
  form?: RequestForm | undefined
  profile: StreamProfile
  /** The stream is one JSON array instead of events. */
  asArray?: boolean | undefined
  /** The client did not ask for the reasoning, and its API would not send any. */
  hidesReasoning?: boolean | undefined
  run: DoorRun
  /** The form of a failure on this wire. */
  issueOf(error: SynapseError): Issue
  keepAliveMs?: number
  /** The client has received the complete answer. */
  delivered?: () => void
}

/** Throws a SynapseError for a failure before there was a reply. */
export async function wholeReply({
  wire,
  service,
  form,
  profile,
  run,
  hidesReasoning,
}: ReplyOptions): Promise<Response> {
  const end = await run.ended
  const { reply } = end
  if (!reply || end.failure || end.outcome === 'cancelled') throw errorOf(end)
  const body = await wholeBody({ wire, service, hidesReasoning }, reply, profile, end.replyUsage ?? noUsage)
  return json(inForm(form, profile)(body), 200, {
    ...requestIdOf(run, service),
    ...headersOf(run),
    'x-synapse-cost': String(end.cost),
  })
}

/** A reply that is retrieved later, once its request is in the store. */
export async function queuedReply({
  wire,
  service,
  profile,
  run,
}: Pick<ReplyOptions, 'wire' | 'service' | 'profile' | 'run'>): Promise<Response> {
  if (!(await run.stored)) throw errorOf(await run.ended)
  return json(await unfinishedBody({ wire, service, profile }, { status: 'queued' }), 200, headersOf(run))
}

export async function unfinishedBody(
  { wire, service, profile }: Pick<ReplyOptions, 'wire' | 'service' | 'profile'>,
  state: UnfinishedReply,
): Promise<Json> {
  const empty = objectIn(await wholeBody({ wire, service }, emptyReply({ reason: 'done' }), profile, noUsage))
  return service.door?.stored?.retrieval?.unfinished(empty, state) ?? empty
}

/** What the provider sends, unchanged. `cost`: of a reply that is not streamed. */
export function rawReply({ status, headers, start }: RawReply, options: ReplyOptions, cost?: number): Response {
  const { run, delivered } = options
  const source = {
    start: (sink: BodySink) =>
      start(cost === undefined ? { ...sink, end: () => void endOfStream(options, sink) } : sink),
    delivered: () => delivered?.(),
    cancel: () => run.abort(),
  }
  const ours = { ...headersOf(run), ...(cost !== undefined && { 'x-synapse-cost': String(cost) }) }
  return streamedResponse(source, { status, headers: { ...headers, ...ours } })
}

/** A stream that stopped in the middle of the reply has no error of the provider at its end, so it gets ours. */
async function endOfStream(
  { wire, service, form, profile, run, issueOf }: ReplyOptions,
  sink: BodySink,
): Promise<void> {
  const failure = await run.ended.then((end) => end.failure).catch(() => undefined)
  if (failure?.kind === 'malformed-reply' || failure?.kind === 'limit') {
    const { framing } = await loadWire(wire)
    const replyId = run.passThrough?.replyId() ?? profile.replyId
    const write = (await service.door?.writer())?.({ ...profile, replyId })
    const chunks = write?.fail(issueOf(new SynapseError(failure))) ?? []
    sink.write(chunks.map((chunk) => streamForm(framing).chunk(inForm(form, profile)(chunk))).join(''))
  }
  sink.end()
}

interface RepeatOptions {
  stream: boolean
  headers: Record<string, string>
  /** Its ids are those of the provider. */
  isPassed?: boolean
  /** The events that the client does not have yet. */
  missing?: (events: readonly Json[]) => readonly Json[]
}

/** An answer that is complete, in the format requested now. */
export async function completeReply(
  { wire, service, form, profile, asArray, hidesReasoning }: Omit<ReplyOptions, 'run' | 'issueOf'>,
  reply: Reply,
  usage: Usage,
  { stream, headers, isPassed = false, missing = (events) => events }: RepeatOptions,
): Promise<Response> {
  const body = await wholeBody({ wire, service, isPassed, hidesReasoning }, reply, profile, usage)
  const shown = inForm(form, profile)
  if (!stream) return json(shown(body), 200, headers)
  const { split, framing } = await loadWire(wire)
  const written = streamForm(framing, asArray)
  const bytes = new Blob([...missing(split(body)).map((chunk) => written.chunk(shown(chunk))), written.end()]).stream()
  return new Response(bytes, { headers: { ...streamHeaders, ...written.headers, ...headers } })
}

/** A reply without content, which has no entry in the log. */
export function emptyReply(stop: Stop): Reply {
  return { role: 'assistant', parts: [], native: [], origin: { protocol: '', provider: '', model: '' }, stop }
}

/** A reply in the usual form of its wire, or a chunk of it, in the form of its request. */
function inForm(form: RequestForm | undefined, { token }: StreamProfile): (chunk: Json) => Json {
  return (chunk) => (form && isObject(chunk) ? form.reply(chunk, token) : chunk)
}

/** What the client gets of a reply. */
export function shownParts(
  { wire, service, hidesReasoning }: Pick<ReplyOptions, 'wire' | 'service' | 'hidesReasoning'>,
  { parts, origin }: Reply,
  isPassed: boolean,
): Part[] {
  const own = parts.filter((part) => !isHidden(part, { from: origin.protocol, wire, hidesReasoning }))
  return own.flatMap((part) => clientPart(service, part, isPassed))
}

interface WholeOptions extends Pick<ReplyOptions, 'wire' | 'service' | 'hidesReasoning'> {
  isPassed?: boolean
}

export async function wholeBody(
  { wire, service, isPassed = false, hidesReasoning }: WholeOptions,
  reply: Reply,
  profile: StreamProfile,
  usage: Usage,
): Promise<Json> {
  const { whole } = await loadWire(wire)
  const shown = { ...reply, native: [], parts: shownParts({ wire, service, hidesReasoning }, reply, isPassed) }
  const body = whole(shown, { ...profile, usage: shownUsage(reply, usage, profile) })
  if (!isObject(body)) return body
  return { ...body, ...profile.fields }
}

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

/** The chunks of each event, without what the client does not get. */
function clientChunks(
  write: StreamWriter,
  { wire, service, hidesReasoning }: Pick<ReplyOptions, 'wire' | 'service' | 'hidesReasoning'>,
): (event: ReplyEvent) => Json[] {
  const unbegun = new Map<number, ReplyEvent>()
  const hidden = new Set<number>()
  let from = ''
  return (event) => {
    if (event.type === 'reply-start') from = event.origin.protocol
    if (event.type === 'part-start' && isHidden(event.part, { from, wire, hidesReasoning })) hidden.add(event.index)
    if ('index' in event && hidden.has(event.index)) return []
    if (event.type === 'part-delta')
      return unbegun.size === 0 ? write.push(event) : [...begin(event.index), ...write.push(event)]
    if (event.type !== 'part-start' && event.type !== 'part-end') return write.push(event)
    const [part] = clientPart(service, event.part)
    if (event.type === 'part-end') {
      if (!part && unbegun.delete(event.index)) return []
      return [...begin(event.index), ...write.push({ ...event, part: part ?? event.part })]
    }
    // Whether reasoning has words is only known once they arrive.
    if (part && !(part.type === 'reasoning' && part.text === '')) return write.push({ ...event, part })
    unbegun.set(event.index, event)
    return []
  }

  /** A part that began without text gets its text now. */
  function begin(index: number): Json[] {
    const start = unbegun.get(index)
    unbegun.delete(index)
    return start ? write.push(start) : []
  }
}

function errorOf({ failure, outcome }: DoorEnd): SynapseError {
  if (failure) return new SynapseError(failure)
  const message = outcome === 'cancelled' ? 'The request was cancelled.' : 'The model returned no answer.'
  return new SynapseError({ kind: outcome === 'cancelled' ? 'aborted' : 'malformed-reply', message })
}

function unforeseen(): SynapseError {
  return new SynapseError({ kind: 'internal', message: 'Something went wrong on the server.' })
}

export function headersOf(run: DoorRun): Record<string, string> {
  const exchangeId = run.exchangeId()
  return {
    'x-synapse-conversation': run.conversationId,
    ...(exchangeId !== undefined && { 'x-synapse-exchange': exchangeId }),
    'x-synapse-notes': String(run.noteCount()),
  }
}

/** The id of the request in the header of its API: that of the exchange, by which it can be found in the log. */
function requestIdOf(run: DoorRun, { door }: WireService): Record<string, string> {
  const exchangeId = run.exchangeId()
  return door?.requestId === undefined || exchangeId === undefined ? {} : { [door.requestId]: exchangeId }
}

/** What a tool of the provider did has a form on the wire of that provider only. */
function isHidden(
  { type }: Part,
  { from, wire, hidesReasoning = false }: { from: string; wire: string; hidesReasoning?: boolean | undefined },
): boolean {
  return type === 'server-tool' ? from !== wire : type === 'reasoning' && hidesReasoning
}

/**
 * A part as the client gets it: calls under an id of ours, or that of the provider if it `isPassed`, and nothing of
 * reasoning that has no words.
 */
function clientPart(service: WireService, part: Part, isPassed: boolean = false): Part[] {
  if (part.type === 'reasoning' && part.hidden && part.text === '') return []
  if (part.type !== 'tool-call') return [part]
  const { alias, ...call } = part
  return [{ ...call, callId: (isPassed ? alias : undefined) ?? clientCallId(service, part.callId) }]
}
