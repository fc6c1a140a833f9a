// A reply to the client, in the form of the API that it speaks: whole, or in pieces while it is coming. Until the first
// piece is there anything may still be tried again inside, and a failure has a status of its own.

import type { ReplyEvent, RunEvent } from '../../core/event.ts'
import { SynapseError } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import { noUsage, type Usage } from '../../core/usage.ts'
import { writer as messagesWriter } from '../../wires/anthropic-messages/write-stream.ts'
import { writer as geminiWriter } from '../../wires/gemini-generate/write-stream.ts'
import { writer as chatWriter } from '../../wires/openai-chat/write-stream.ts'
import { writer as responsesWriter } from '../../wires/openai-responses/write-stream.ts'
import { loadWire } from '../../wires/list.ts'
import type { StreamProfile, StreamWriter } from '../../wires/shared/stream-writer.ts'
import type { Framing, Issue } from '../../wires/wire.ts'
import { json } from '../answer.ts'
import { streamHeaders } from '../runs/sse.ts'
import { clientCallId } from './canonical.ts'
import type { DoorWire } from './door.ts'
import type { DoorEnd, DoorRun } from './run.ts'

const writers: Record<DoorWire, (profile: StreamProfile) => StreamWriter> = {
  'openai-chat': chatWriter,
  'openai-responses': responsesWriter,
  'anthropic-messages': messagesWriter,
  'gemini-generate': geminiWriter,
}

export interface Replying {
  wire: DoorWire
  profile: StreamProfile
  run: DoorRun
  /** What a failure is on this wire. */
  issueOf(error: SynapseError): Issue
  keepAliveMs?: number
}

/** Throws a SynapseError for what went wrong before there was a reply. */
export async function wholeReply({ wire, profile, run }: Replying): Promise<globalThis.Response> {
  const end = await run.ended
  const { reply } = end
  if (!reply || end.failure || end.outcome === 'cancelled') throw errorOf(end)
  const body = await wholeBody(wire, reply, profile, end.replyUsage ?? noUsage)
  return json(body, 200, { ...headersOf(run), 'x-synapse-cost': String(end.cost) })
}

export async function wholeBody(wire: DoorWire, reply: Reply, profile: StreamProfile, usage: Usage): Promise<Json> {
  const { whole } = await loadWire(wire)
  const shown = { ...reply, native: [], parts: reply.parts.flatMap((part) => clientPart(wire, part)) }
  const body = whole(shown, { ...profile, usage })
  if (!isObject(body)) return body
  return wire === 'anthropic-messages' ? unsigned(body) : { ...body, ...profile.fields }
}

/** Throws a SynapseError for what went wrong before the first piece. */
export async function streamedReply(replying: Replying): Promise<globalThis.Response> {
  const { wire, profile, run } = replying
  const { framing } = await loadWire(wire)
  const write = writers[wire](profile)
  const events = run.events[Symbol.asyncIterator]()
  const keepAliveMs = replying.keepAliveMs ?? 15_000
  const encoder = new TextEncoder()
  let coming: Promise<IteratorResult<RunEvent>> | undefined
  let isOver = false
  const unbegun = new Map<number, ReplyEvent>()
  const first = await nextText()
  return new globalThis.Response(
    new ReadableStream<Uint8Array>(
      {
        start: (controller) => controller.enqueue(encoder.encode(first)),
        async pull(controller) {
          const text = await nextText().catch((error: unknown) => failed(error))
          if (text === undefined) controller.close()
          else controller.enqueue(encoder.encode(text))
        },
        cancel: () => run.abort(),
      },
      { highWaterMark: 0 },
    ),
    { headers: { ...streamHeaders, ...headersOf(run) } },
  )

  /** What is to be sent next: chunks, or a sign of life; undefined: nothing more. Throws what the run failed with. */
  async function nextText(): Promise<string | undefined> {
    while (!isOver) {
      coming ??= events.next()
      const next = await orLate(coming, keepAliveMs)
      if (next === undefined) return ': keep-alive\n\n'
      coming = undefined
      if (next.done === true) return finish()
      const chunks = next.value.type === 'reply-event' ? pieces(next.value.event) : []
      if (chunks.length > 0) return chunks.map((chunk) => framed(chunk, framing)).join('')
    }
    return undefined
  }

  function pieces(event: ReplyEvent): Json[] {
    if (event.type === 'part-delta') return [...begin(event.index), ...write.push(event)]
    if (event.type !== 'part-start' && event.type !== 'part-end') return write.push(event)
    const [part] = clientPart(wire, event.part)
    if (event.type === 'part-end') {
      if (!part && unbegun.delete(event.index)) return []
      return [...begin(event.index), ...write.push({ ...event, part: part ?? event.part })]
    }
    if (part) return write.push({ ...event, part })
    unbegun.set(event.index, event)
    return []
  }

  /** A part that had no words at its beginning gets some now. */
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
  return { 'x-synapse-conversation': run.conversationId }
}

/** A part as the client gets it: calls under an id of ours, and nothing of reasoning that has no words. */
function clientPart(wire: DoorWire, part: Part): Part[] {
  if (part.type === 'reasoning' && part.hidden && part.text === '') return []
  if (part.type !== 'tool-call') return [part]
  const { alias: _alias, ...call } = part
  return [{ ...call, callId: clientCallId(wire, part.callId) }]
}

/** Signatures that no provider has written are not handed out: a client may send them to a real one. */
function unsigned(body: JsonObject): JsonObject {
  const content = Array.isArray(body.content) ? body.content : []
  const plain = content.map((block) =>
    isObject(block) && block.type === 'thinking' ? { ...block, signature: '' } : block,
  )
  return { ...body, content: plain }
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

function framed(chunk: Json, framing: Framing): string {
  const type = isObject(chunk) ? chunk.type : undefined
  const named = framing.kind === 'sse' && framing.named && typeof type === 'string' ? `event: ${type}\n` : ''
  return `${named}data: ${JSON.stringify(chunk)}\n\n`
}

function doneLine(framing: Framing): string {
  return framing.kind === 'sse' && framing.done !== undefined ? `data: ${framing.done}\n\n` : ''
}
