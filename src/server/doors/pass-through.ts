// Where the client and the provider speak the same wire and nothing has to be changed, bytes pass through: the body and
// the stream unchanged, with unknown fields and headers. It is still one exchange in the log, decoded in parallel for
// the conversation and the bill.

import type { JsonObject } from '../../core/json.ts'
import type { Endpoint } from '../../providers/resolve.ts'
import { channel } from '../../run/channel.ts'
import type { Runtime } from '../../run/conversation.ts'
import type { Verbatim } from '../../run/run-context.ts'
import { defaultFetch } from '../../transport/http.ts'
import type { Fetch, FetchedBody, FetchedReply } from '../../transport/send.ts'
import { loadService } from '../../wires/list.ts'
import type { Operation, WireService } from '../../wires/service.ts'
import { tokenPrefix } from '../../wires/shared/sealed-token.ts'
import type { Read } from './read-body.ts'
import type { Visit } from './visit.ts'

export interface Passing {
  verbatim: Verbatim
  /** Finds the same endpoints, and observes the response to the request. */
  endpoint: Runtime['endpoint']
  /** A part of the reply is in the log: from now on it is not retried, so its bytes may be sent. */
  shown(): void
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
  bytes: AsyncIterable<Uint8Array>
}

/**
 * The request that may be sent unchanged: on the same wire, if nothing has to be shortened and nothing is wrong with
 * it.
 */
export async function verbatimFor(
  { door, server, request: http, url }: Visit,
  operation: Operation & { do: 'reply' },
  { body, text, name, model, request }: Read,
): Promise<{ verbatim?: Verbatim }> {
  const { wire } = door
  const stream = operation.stream ?? request.stream
  if (!model.hasWire || request.conversation !== undefined || model.policy !== undefined || text.includes(tokenPrefix))
    return {}
  const { endpoint } = await server.endpoint(model.model, wire)
  const inPath = operation.model !== undefined
  // A stream that is one JSON array is written here.
  if (inPath && stream && url.searchParams.get('alt') !== 'sse') return {}
  const { door: written } = await loadService(wire)
  // Without a last chunk with the usage, the cost of a chat would be unknown.
  if (written?.isUnmetered?.(body) && !endpoint.quirks.noStreamOptions) return {}
  const sent = passable(endpoint, inPath ? undefined : name, body, text)
  if (sent === undefined) return {}
  const query = new URLSearchParams(url.searchParams)
  query.delete('key')
  const tail = url.pathname.slice(url.pathname.lastIndexOf(':') + 1)
  const path = inPath ? `/models/${endpoint.model}:${tail}` : door.path
  return {
    verbatim: {
      provider: endpoint.provider.id,
      protocol: wire,
      path: query.size > 0 ? `${path}?${query.toString()}` : path,
      headers: passedHeaders(http.headers, endpoint.headers),
      body: sent,
      whole: !stream,
    },
  }
}

/** The body of a request that may be sent unchanged; undefined: something has to be changed. */
function passable(
  { model, provider, protocol }: Endpoint,
  name: string | undefined,
  body: JsonObject,
  text: string,
): string | undefined {
  const sent = name === undefined || name === model ? body : { ...body, model }
  const issues = protocol.refuse(sent, { provider: provider.id, model })
  // A new field of the provider is refused by older rules.
  if (issues.some(({ message }) => !isAboutUnknown(message))) return undefined
  return sent === body ? text : JSON.stringify(sent)
}

function isAboutUnknown(message: string): boolean {
  return /unknown (?:parameter|name)|unrecognized|extra inputs|not permitted/i.test(message)
}

export function passing(verbatim: Verbatim, find: Runtime['endpoint'], { ends }: Pick<WireService, 'ends'>): Passing {
  const { promise: reply, resolve } = Promise.withResolvers<RawReply | undefined>()
  const over = Promise.withResolvers<void>()
  let id: string | undefined
  let coming: RawReply | undefined
  return {
    verbatim,
    async endpoint(model, protocol) {
      const found = await find(model, protocol)
      return { ...found, transport: { ...found.transport, fetch: listening(found.transport.fetch ?? defaultFetch) } }
    },
    shown: () => resolve(coming),
    ended() {
      over.resolve()
      resolve(coming)
    },
    reply,
    peek: () => coming,
    replyId: () => id,
  }

  function listening(send: Fetch): Fetch {
    return async (url, init) => {
      const answer = await send(url, init)
      coming = undefined
      const isOurs = init.body === verbatim.body
      if (!isOurs || answer.status < 200 || answer.status >= 300 || !answer.body) return answer
      const { heard, bytes } = overheard(answer.body, findId())
      coming = { status: answer.status, headers: returned(answer.headers), bytes: held(bytes) }
      return { status: answer.status, headers: answer.headers, body: heard, text: () => new Response(heard).text() }
    }
  }

  /** Before the reply is in the log, which may be before the client reads any of it. */
  function findId(): (piece: Uint8Array) => void {
    const decoder = new TextDecoder()
    let before = ''
    id = undefined
    return (piece) => {
      if (id !== undefined) return
      const text = before + decoder.decode(piece, { stream: true })
      id = /"id"\s*:\s*"([\w-]{4,200})"/.exec(text)?.[1]
      before = text.slice(-220)
    }
  }

  /**
   * The client may send its next request as soon as it has the end of a reply, and then the reply must be in the log.
   */
  async function* held(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const decoder = new TextDecoder()
    let before = ''
    let isLast = verbatim.whole
    for await (const piece of bytes) {
      const text = before + decoder.decode(piece, { stream: true })
      isLast ||= ends.test(text)
      before = text.slice(-40)
      if (isLast) await over.promise
      yield piece
    }
    await over.promise
  }
}

/** The same bytes twice: they are passed on as they are read. */
function overheard(
  body: FetchedBody,
  onPiece: (piece: Uint8Array) => void,
): {
  heard: ReadableStream<Uint8Array>
  bytes: AsyncIterable<Uint8Array>
} {
  const copies = channel<Uint8Array>()
  let broken: { error: unknown } | undefined
  const reader = body.getReader()
  const heard = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done || !value) {
            copies.end()
            controller.close()
            return
          }
          onPiece(value)
          copies.push(value)
          controller.enqueue(value)
        } catch (error) {
          broken = { error }
          copies.end()
          controller.error(error)
        }
      },
      async cancel() {
        copies.end()
        await reader.cancel()
      },
    },
    { highWaterMark: 0 },
  )
  return { heard, bytes: whole() }

  /** A broken stream is broken for the client too. */
  async function* whole(): AsyncGenerator<Uint8Array> {
    for await (const pieces of copies.batches()) yield Buffer.concat(pieces)
    if (broken) throw broken.error
  }
}

/** Specific to one connection, or to decoded content. */
const ofConnection =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-encoding|set-cookie2?)$/

/** Credentials and routing headers are for this server only. */
const ofClient =
  /^(?:authorization|x-api-key|api-key|x-goog-api-key|cookie2?|host|origin|referer|forwarded|x-forwarded-.*|x-real-ip|via|accept-encoding|sec-.*|x-synapse-.*|idempotency-key|expect)$/

/** The headers of a client that are passed on to the provider. Those that the provider's row sets are the row's. */
function passedHeaders(headers: Headers, own: Readonly<Record<string, string>>): Record<string, string> {
  const set = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const given = [...headers].filter(
    ([name, value]) =>
      !ofConnection.test(name) &&
      !ofClient.test(name) &&
      (!set.has(name) || name.startsWith('anthropic-')) &&
      !/[^\t\x20-\x7e\x80-\xff]/.test(value),
  )
  return Object.fromEntries(given)
}

function returned(headers: FetchedReply['headers']): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !ofConnection.test(name.toLowerCase())))
}
