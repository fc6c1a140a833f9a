// A reply to the client, in the format of its API: complete, or streamed. Until the first piece everything can still be
// retried internally, and a failure has its own status.

import type { ReplyEvent, RunEvent } from '../../core/event.ts'
import { SynapseError } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import { noUsage, type Usage } from '../../core/usage.ts'
import { loadWire } from '../../wires/list.ts'
import type { WireService } from '../../wires/service.ts'
import type { StreamProfile } from '../../wires/shared/stream-writer.ts'
import type { Framing, Issue } from '../../wires/wire.ts'
import { json } from '../answer.ts'
import { streamHeaders } from '../runs/sse.ts'
import { clientCallId } from './canonical.ts'
import type { RawReply } from './pass-through.ts'
import type { DoorEnd, DoorRun } from './run.ts'

export interface Replying {
  wire: string
  service: WireService
  profile: StreamProfile
  run: DoorRun
  /** The form of a failure on this wire. */
  issueOf(error: SynapseError): Issue
  keepAliveMs?: number
  /** The client has received the complete answer. */
  delivered?: () => void
}

/** Throws a SynapseError for a failure before there was a reply. */
export async function wholeReply({ wire, service, profile, run }: Replying): Promise<globalThis.Response> {
  const end = await run.ended
  const { reply } = end
  if (!reply || end.failure || end.outcome === 'cancelled') throw errorOf(end)
  const body = await wholeBody({ wire, service }, reply, profile, end.replyUsage ?? noUsage)
  return json(body, 200, { ...headersOf(run), 'x-synapse-cost': String(end.cost) })
}

/** What the provider sends, unchanged. */
export function rawReply(
  { status, headers, bytes }: RawReply,
  { run, delivered }: Pick<Replying, 'run' | 'delivered'>,
): globalThis.Response {
  const iterator = bytes[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done !== true) {
          controller.enqueue(value)
          return
        }
        controller.close()
        delivered?.()
      },
      cancel: () => run.abort(),
    },
    { highWaterMark: 0 },
  )
  return new globalThis.Response(body, { status, headers: { ...headers, ...headersOf(run) } })
}

/** An answer that was complete before, in the format requested now. */
export async function repeatedReply(
  { wire, service, profile }: Omit<Replying, 'run' | 'issueOf'>,
  reply: Reply,
  usage: Usage,
  { conversationId, stream }: { conversationId: string; stream: boolean },
): Promise<globalThis.Response> {
  const body = await wholeBody({ wire, service }, reply, profile, usage)
  const headers = { 'x-synapse-conversation': conversationId }
  if (!stream) return json(body, 200, headers)
  const { split, framing } = await loadWire(wire)
  const bytes = new Blob([...split(body).map((chunk) => framed(chunk, framing)), doneLine(framing)]).stream()
  return new globalThis.Response(bytes, { headers: { ...streamHeaders, ...typeOf(framing), ...headers } })
}

/** A reply of one item that no model has written. */
export async function itemReply(
  item: JsonObject,
  { wire, profile, run }: Pick<Replying, 'wire' | 'profile' | 'run'>,
  stream: boolean,
): Promise<globalThis.Response> {
  const { whole, split, framing } = await loadWire(wire)
  const { replyUsage: usage = noUsage } = await run.ended
  const none: Reply = {
    role: 'assistant',
    parts: [],
    native: [],
    origin: { protocol: '', provider: '', model: profile.model },
    stop: { reason: 'done' },
  }
  const empty = whole(none, { ...profile, usage })
  const body = { ...(isObject(empty) ? empty : {}), ...profile.fields, output: [item] }
  if (!stream) return json(body, 200, headersOf(run))
  const text = split(body).map((chunk) => framed(chunk, framing))
  const bytes = new Blob(text).stream()
  return new globalThis.Response(bytes, { headers: { ...streamHeaders, ...headersOf(run) } })
}

async function wholeBody(
  { wire, service }: Pick<Replying, 'wire' | 'service'>,
  reply: Reply,
  profile: StreamProfile,
  usage: Usage,
): Promise<Json> {
  const { whole } = await loadWire(wire)
  const own = reply.parts.filter((part) => !isForeign(part, reply.origin.protocol, wire))
  const shown = { ...reply, native: [], parts: own.flatMap((part) => clientPart(service, part)) }
  const body = whole(shown, { ...profile, usage })
  if (!isObject(body)) return body
  return { ...body, ...profile.fields }
}

/** Throws a SynapseError for a failure before the first piece. */
export async function streamedReply(replying: Replying): Promise<globalThis.Response> {
  const { wire, service, profile, run } = replying
  const { framing } = await loadWire(wire)
  const { door } = service
  if (!door) throw new TypeError(`${wire} has no door`)
  const write = (await door.writer())(profile)
  const events = run.events.batches()[Symbol.asyncIterator]()
  const keepAliveMs = replying.keepAliveMs ?? 15_000
  const encoder = new TextEncoder()
  let coming: Promise<IteratorResult<readonly RunEvent[]>> | undefined
  let isOver = false
  const unbegun = new Map<number, ReplyEvent>()
  const hidden = new Set<number>()
  let from = ''
  const first = await nextText()
  return new globalThis.Response(
    new ReadableStream<Uint8Array>(
      {
        start: (controller) => controller.enqueue(encoder.encode(first)),
        async pull(controller) {
          const text = await nextText().catch((error: unknown) => failed(error))
          if (text !== undefined) {
            controller.enqueue(encoder.encode(text))
            return
          }
          controller.close()
          replying.delivered?.()
        },
        cancel: () => run.abort(),
      },
      { highWaterMark: 0 },
    ),
    { headers: { ...streamHeaders, ...typeOf(framing), ...headersOf(run) } },
  )

  /** What to send next: chunks, or a keep-alive; undefined: nothing more. Throws the failure of the run. */
  async function nextText(): Promise<string | undefined> {
    while (!isOver) {
      coming ??= events.next()
      const next = await orLate(coming, keepAliveMs)
      if (next === undefined) return framing.kind === 'sse' ? ': keep-alive\n\n' : '\n'
      coming = undefined
      if (next.done === true) return finish()
      let text = ''
      for (const event of next.value) {
        if (event.type !== 'reply-event') continue
        for (const chunk of pieces(event.event)) text += framed(chunk, framing)
      }
      if (text !== '') return text
    }
    return undefined
  }

  function pieces(event: ReplyEvent): Json[] {
    if (event.type === 'reply-start') from = event.origin.protocol
    if (event.type === 'part-start' && isForeign(event.part, from, wire)) hidden.add(event.index)
    if ('index' in event && hidden.has(event.index)) return []
    if (event.type === 'part-delta') return [...begin(event.index), ...write.push(event)]
    if (event.type !== 'part-start' && event.type !== 'part-end') return write.push(event)
    const [part] = clientPart(service, event.part)
    if (event.type === 'part-end') {
      if (!part && unbegun.delete(event.index)) return []
      return [...begin(event.index), ...write.push({ ...event, part: part ?? event.part })]
    }
    if (part) return write.push({ ...event, part })
    unbegun.set(event.index, event)
    return []
  }

  /** A part that began without text gets its text now. */
  function begin(index: number): Json[] {
    const start = unbegun.get(index)
    unbegun.delete(index)
    return start ? write.push(start) : []
  }

  async function finish(): Promise<string> {
    isOver = true
    const end = await run.ended
    if (!end.reply || end.failure || end.outcome === 'cancelled') throw errorOf(end)
    return (
      write
        .end()
        .map((chunk) => framed(chunk, framing))
        .join('') + doneLine(framing)
    )
  }

  function failed(error: unknown): string {
    isOver = true
    const known = error instanceof SynapseError ? error : unforeseen()
    return write
      .fail(replying.issueOf(known))
      .map((chunk) => framed(chunk, framing))
      .join('')
  }
}

function errorOf({ failure, outcome }: DoorEnd): SynapseError {
  if (failure) return new SynapseError(failure)
  const message = outcome === 'cancelled' ? 'The request was cancelled.' : 'The model gave no answer.'
  return new SynapseError({ kind: outcome === 'cancelled' ? 'aborted' : 'malformed-reply', message })
}

function unforeseen(): SynapseError {
  return new SynapseError({ kind: 'internal', message: 'Something went wrong on the server.' })
}

function headersOf(run: DoorRun): Record<string, string> {
  const exchangeId = run.exchangeId()
  return {
    'x-synapse-conversation': run.conversationId,
    ...(exchangeId !== undefined && { 'x-synapse-exchange': exchangeId }),
    'x-synapse-notes': String(run.noteCount()),
  }
}

/** What a tool of the provider did has a form on the wire of that provider only. */
function isForeign(part: Part, from: string, wire: string): boolean {
  return part.type === 'server-tool' && from !== wire
}

/** A part as the client gets it: calls under an id of ours, and nothing of reasoning that has no words. */
function clientPart(service: WireService, part: Part): Part[] {
  if (part.type === 'reasoning' && part.hidden && part.text === '') return []
  if (part.type !== 'tool-call') return [part]
  const { alias: _alias, ...call } = part
  return [{ ...call, callId: clientCallId(service, part.callId) }]
}

async function orLate<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, ms, undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function typeOf({ kind }: Framing): Record<string, string> {
  return kind === 'ndjson' ? { 'content-type': 'application/x-ndjson' } : {}
}

function framed(chunk: Json, framing: Framing): string {
  if (framing.kind === 'ndjson') return `${JSON.stringify(chunk)}\n`
  const type = isObject(chunk) ? (chunk.type ?? chunk.event_type) : undefined
  const named = framing.kind === 'sse' && framing.named && typeof type === 'string' ? `event: ${type}\n` : ''
  return `${named}data: ${JSON.stringify(chunk)}\n\n`
}

function doneLine(framing: Framing): string {
  return framing.kind === 'sse' && framing.done !== undefined ? `data: ${framing.done}\n\n` : ''
}
