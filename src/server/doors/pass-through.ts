// Where the client and the provider speak the same wire and nothing has to be changed, bytes pass through: the body and
// the stream unchanged, with unknown fields and headers. It is still one exchange in the log, decoded in parallel for
// the conversation and the bill.

import type { Note } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Endpoint } from '../../providers/resolve.ts'
import type { Runtime } from '../../run/conversation.ts'
import type { Verbatim } from '../../run/run-context.ts'
import type { FetchedBody, FetchedReply } from '../../transport/send.ts'
import { loadService } from '../../wires/list.ts'
import type { Operation, RequestField, WireDoor, WireService } from '../../wires/service.ts'
import type { BodySink } from '../streamed-body.ts'
import { issuesOf } from './check-end.ts'
import type { ParsedBody } from './known-bodies.ts'
import type { ReadBody } from './read-body.ts'
import type { AuthenticatedRequest } from './incoming-request.ts'
import { withoutEvents, type EventFilter } from './without-events.ts'

export interface PassThrough {
  verbatim: Verbatim
  /** Finds the same endpoints, and observes the response to the request. */
  endpoint: Runtime['endpoint']
  /**
   * A part of the reply is in the log: from now on it is not retried, so its bytes may be sent. True: they will be, so
   * nothing has to be translated.
   */
  shown(): boolean
  /** The run has ended: nothing more comes, and held-back bytes may be sent. */
  ended(): void
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
  /** Writes the bytes that have arrived, and each one that follows. */
  start(sink: BodySink): void
}

export interface PassableRequest extends Verbatim {
  /** Events of its answer that the client does not get. */
  hidden?: EventFilter
}

/**
 * The request that may be sent unchanged: on the same wire, if nothing has to be shortened and nothing is wrong with
 * it.
 */
export async function verbatimFor(
  { door, server, request: http, url, principal }: AuthenticatedRequest,
  operation: Operation & { do: 'reply' },
  { body, sent: given, name, model, request, storedBy }: ReadBody,
): Promise<PassableRequest | undefined> {
  const { wire } = door
  const stream = operation.stream ?? request.stream
  if (!model.hasWire || request.conversation !== undefined || model.policy !== undefined) return undefined
  // The provider would keep the reply.
  if (request.isBackground) return undefined
  if (given.hasToken) return undefined
  const { endpoint } = await server.endpoint(model.model, wire)
  if ([...storedBy].some((provider) => provider !== endpoint.provider.id || !endpoint.state)) return undefined
  const { door: wireDoor, listField, asArray } = await loadService(wire)
  const refersToStored = request.previousId !== undefined || wireDoor?.reference?.(body)?.question !== undefined
  // A server that stores nothing ignores what is stored, and answers without it.
  if (refersToStored && !endpoint.state) return undefined
  const inPath = operation.model !== undefined
  const path = inPath ? pathWithModel(door.path, endpoint.model, wireDoor) : door.path
  if (path === undefined || (principal.models && namesOthers(body, inPath))) return undefined
  // A stream that is one JSON array is written here.
  if (stream && asArray?.(url.searchParams)) return undefined
  const metered = requestedUsage(wireDoor, body, endpoint)
  const changes = {
    ...(!inPath && name !== endpoint.model && { model: endpoint.model }),
    ...(metered && { [metered.field.name]: metered.field.value }),
  }
  const sent = passableBody(endpoint, { listField, changes }, body, given)
  if (sent === undefined) return undefined
  const query = new URLSearchParams(url.searchParams)
  query.delete('key')
  return {
    provider: endpoint.provider.id,
    protocol: wire,
    path: query.size > 0 ? `${path}?${query.toString()}` : path,
    headers: requestHeaders(http.headers, endpoint.headers, wireDoor?.ownHeaders),
    body: sent,
    whole: !stream,
    ...(metered && { notes: [usageNote(metered.field, body)], hidden: metered.hidden }),
  }
}

/** Undefined: the provider has no such path, or something would not stay the name of a model in it. */
function pathWithModel(path: string, model: string, door: WireDoor | undefined): string | undefined {
  return /^\w[\w.-]*$/.test(model) ? door?.withModel?.(path, model) : undefined
}

/**
 * Whether fields that only the provider knows may name further models, which the key may not be allowed to use: other
 * models to try, or models of its tools. Some providers ignore the case of names.
 */
function namesOthers(body: JsonObject, inPath: boolean): boolean {
  const isOther = (name: string) => /^models?$/i.test(name)
  const tools = Array.isArray(body.tools) ? body.tools : []
  return (
    Object.keys(body).some((name) => isOther(name) && (inPath || name !== 'model')) ||
    tools.some((tool) => isObject(tool) && Object.keys(tool).some(isOther))
  )
}

/** For a stream that would omit its usage: the field that asks for it, and the events that are sent because of it. */
function requestedUsage(
  door: WireDoor | undefined,
  body: JsonObject,
  { provider, quirks }: Endpoint,
): { field: RequestField; hidden: EventFilter } | undefined {
  const onRequest = door?.usageOnRequest
  const field = quirks.noStreamOptions ? undefined : onRequest?.missing(body, provider.id)
  return onRequest && field && { field, hidden: { mark: onRequest.mark, isHidden: onRequest.isUsage } }
}

function usageNote({ name, value }: RequestField, body: JsonObject): Note {
  const why = 'the cost of the reply is known only from its usage; the client gets the reply without it'
  const [kind, to] = name in body ? (['changed', 'to '] as const) : (['added', ''] as const)
  return { kind, what: `${name} ${to}${JSON.stringify(value)}`, why, at: `$.${name}` }
}

/** The body of a request that may be sent unchanged, except for some fields; undefined: more has to be changed. */
function passableBody(
  endpoint: Endpoint,
  { listField, changes }: { listField: string; changes: JsonObject },
  body: JsonObject,
  given: ParsedBody,
): Uint8Array | undefined {
  const sent = { ...body, ...changes }
  if (issuesOf(sent, listField, endpoint).length > 0) return undefined
  if (Object.keys(changes).length === 0) return given.bytes
  // Where a field is there twice, the body is written again.
  const bytes = given.fields.size === 0 ? Buffer.from(JSON.stringify(sent)) : editedBody(given, changes)
  sentFor.set(given.bytes, bytes)
  return bytes
}

/** With other values of some fields; new fields are at the end. Nothing else is changed, not even a space. */
function editedBody({ bytes, fields }: ParsedBody, changes: JsonObject): Buffer {
  const end = bytes.lastIndexOf('}')
  const edits = Object.entries(changes).map(([name, value]) => {
    const place = fields.get(name)
    const text = JSON.stringify(value)
    return place ? { ...place, text } : { start: end, end, text: `,${JSON.stringify(name)}:${text}` }
  })
  let before = 0
  const pieces = edits
    .toSorted((a, b) => a.start - b.start)
    .flatMap((edit) => {
      const unchanged = bytes.subarray(before, edit.start)
      before = edit.end
      return [unchanged, Buffer.from(edit.text)]
    })
  return Buffer.concat([...pieces, bytes.subarray(before)])
}

/** What was sent is in memory as long as the body is: the store compares the next one with it (`bodyCutter`). */
const sentFor = new WeakMap<Uint8Array, Uint8Array>()

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
    ended() {
      coming?.copy.release()
      resolve(coming?.raw)
    },
    reply,
    peek: () => coming?.raw,
    replyId: () => coming?.copy.id(),
  }

  function observe(answer: FetchedReply, sent: string | Uint8Array): FetchedReply {
    coming = undefined
    const isReply = answer.status >= 200 && answer.status < 300 && !isPage(answer)
    if (sent !== verbatim.body || !isReply || !answer.body) return answer
    const copy = bufferedCopy(ends, verbatim.whole)
    const headers = responseHeaders(answer.headers)
    coming = { raw: { status: answer.status, headers, start: copy.start }, copy }
    const body = teeBody(answer.body, verbatim.hidden ? withoutEvents(verbatim.hidden, copy) : copy)
    return { status: answer.status, headers: answer.headers, body, text: () => answer.text() }
  }
}

/** What a proxy or a wrong address answers with: an error, whatever its status is. */
function isPage({ headers }: FetchedReply): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '')
}

interface Copy extends BodySink {
  write(piece: Uint8Array): void
  start(sink: BodySink): void
  /** The reply is in the log: all of it may be sent. */
  release(): void
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
  let isReleased = false
  let isLast = whole
  let outcome: 'ended' | { error: unknown } | undefined
  let before = ''
  let id: string | undefined
  return {
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
    start(opened) {
      sink = opened
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
    if (isReleased) return piece.length
    if (isLast && id !== undefined) return 0
    const text = before + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1')
    id ??= /"id"\s*:\s*"([\w-]{4,200})"/.exec(text)?.[1]
    const end = isLast ? { index: 0 } : ends.exec(text)
    const free = end ? Math.max(0, end.index - before.length) : piece.length
    isLast = end !== null
    before = text.slice(id === undefined ? -220 : -40)
    return free
  }

  function send(piece: Uint8Array): void {
    if (sink) sink.write(piece)
    else early.push(piece)
  }

  function flush(): void {
    if (isReleased) early.push(...late.splice(0))
    if (!sink) return
    if (early.length > 0) sink.write(Buffer.concat(early.splice(0)))
    if (!outcome || (isLast && !isReleased)) return
    if (outcome === 'ended') sink.end()
    else sink.fail(outcome.error)
    sink = undefined
  }
}

/** The same bytes twice: they are passed on as they are read. */
function teeBody(body: FetchedBody, copy: BodySink): FetchedBody {
  const reader = body.getReader()
  const cancel = async (): Promise<void> => {
    copy.end()
    await reader.cancel()
  }
  return { getReader: () => ({ read, cancel }), cancel }

  async function read(): ReturnType<typeof reader.read> {
    try {
      const piece = await reader.read()
      if (piece.done || !piece.value) copy.end()
      else copy.write(piece.value)
      return piece
    } catch (error) {
      copy.fail(error)
      throw error
    }
  }
}

/** Specific to one connection, or to decoded content. */
const ofConnection = new Set(
  'connection keep-alive te trailer transfer-encoding upgrade content-length content-encoding set-cookie set-cookie2'.split(
    ' ',
  ),
)

/** Credentials and routing headers are for this server only. */
const ofClient = new Set(
  'authorization x-api-key api-key x-goog-api-key cookie cookie2 host origin referer forwarded x-real-ip via accept-encoding idempotency-key expect'.split(
    ' ',
  ),
)

function isOfConnection(name: string): boolean {
  return ofConnection.has(name) || name.startsWith('proxy-')
}

function isOfClient(name: string): boolean {
  return ofClient.has(name) || /^(?:x-forwarded|sec|x-synapse)-/.test(name)
}

/**
 * The headers of a client that are passed on to the provider. Those that the provider's row sets are the row's, except
 * those of the API itself.
 */
function requestHeaders(
  headers: Headers,
  ofRow: Readonly<Record<string, string>>,
  ofApi: RegExp | undefined,
): Record<string, string> {
  const set = new Set(Object.keys(ofRow).map((name) => name.toLowerCase()))
  const given = [...headers].filter(
    ([name, value]) =>
      !isOfConnection(name) &&
      !isOfClient(name) &&
      (!set.has(name) || ofApi?.test(name)) &&
      !/[^\t\x20-\x7e\x80-\xff]/.test(value),
  )
  return Object.fromEntries(given)
}

/** What a browser or a client would apply to this server, but is about the provider's. */
const ofHost =
  /^(?:strict-transport-security|content-security-policy|access-control-|cross-origin-|alt-svc$|clear-site-data$|nel$|report-to$|reporting-endpoints$|www-authenticate$)/

function responseHeaders(headers: FetchedReply['headers']): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => !isOfConnection(name.toLowerCase()) && !ofHost.test(name.toLowerCase())),
  )
}
