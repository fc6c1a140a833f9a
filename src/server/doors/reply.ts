// A reply to the client that is complete, in the format of its API.

import { SynapseError } from '../../core/error.ts'
import { isObject, type Json } from '../../core/json.ts'
import type { Reply, Stop } from '../../core/message.ts'
import { noUsage, type Usage } from '../../core/usage.ts'
import { loadWire } from '../../wires/list.ts'
import type { RequestForm, UnfinishedReply, WireService } from '../../wires/service.ts'
import { objectIn } from '../../wires/shared/json-fields.ts'
import { shownUsage, type StreamProfile } from '../../wires/shared/stream-writer.ts'
import type { Issue } from '../../wires/wire.ts'
import { json, jsonHeaders } from '../answer.ts'
import { streamHeaders } from '../runs/sse.ts'
import { textResponse } from '../streamed-body.ts'
import { shownParts, type PartsForm } from './client-parts.ts'
import type { DoorEnd, DoorRun } from './run.ts'
import type { Seal } from './seal.ts'
import { streamForm } from './stream-form.ts'

export interface ReplyOptions extends PartsForm {
  /** Absent: the usual form of the wire. */
  form?: RequestForm | undefined
  profile: StreamProfile
  /** The stream is one JSON array instead of events. */
  asArray?: boolean | undefined
  run: DoorRun
  /** The form of a failure on this wire. */
  issueOf(error: SynapseError): Issue
  keepAliveMs?: number
  /** The client has received the complete answer. */
  delivered?: () => void
}

/** How the client gets its reply. */
export interface ReplyForm {
  service: WireService
  form: RequestForm | undefined
  profile: StreamProfile
  seal: Seal
  stream: boolean
  asArray: boolean | undefined
  hidesReasoning: boolean
}

/** Throws a SynapseError for a failure before there was a reply. */
export async function wholeReply(options: ReplyOptions): Promise<Response> {
  const { service, run } = options
  const end = await run.ended
  const { reply } = end
  if (!reply || end.failure || end.outcome === 'cancelled') throw errorOf(end)
  const headers = { ...requestIdOf(run, service), ...headersOf(run), 'x-synapse-cost': String(end.cost) }
  return completeReply(options, reply, end.replyUsage ?? noUsage, { stream: false, headers })
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
  { form, profile, asArray, delivered, ...parts }: Omit<ReplyOptions, 'run' | 'issueOf'>,
  reply: Reply,
  usage: Usage,
  { stream, headers, isPassed = false, missing = (events) => events }: RepeatOptions,
): Promise<Response> {
  const body = await wholeBody({ ...parts, isPassed }, reply, profile, usage)
  const shown = inForm(form, profile)
  if (!stream) {
    const text = JSON.stringify(shown(body))
    const length = { 'content-length': String(Buffer.byteLength(text)) }
    return textResponse(text, { ...jsonHeaders, ...length, ...headers }, delivered)
  }
  const { split, framing } = await loadWire(parts.wire)
  const written = streamForm(framing, asArray)
  const text =
    missing(split(body))
      .map((chunk) => written.chunk(shown(chunk)))
      .join('') + written.end()
  return textResponse(text, { ...streamHeaders, ...written.headers, ...headers }, delivered)
}

/** A reply without content, which has no entry in the log. */
export function emptyReply(stop: Stop): Reply {
  return { role: 'assistant', parts: [], native: [], origin: { protocol: '', provider: '', model: '' }, stop }
}

/** A reply in the usual form of its wire, or a chunk of it, in the form of its request. */
export function inForm(form: RequestForm | undefined, { token }: StreamProfile): (chunk: Json) => Json {
  return (chunk) => (form && isObject(chunk) ? form.reply(chunk, token) : chunk)
}

export async function wholeBody(
  { isPassed = false, ...form }: PartsForm & { isPassed?: boolean },
  reply: Reply,
  profile: StreamProfile,
  usage: Usage,
): Promise<Json> {
  const { whole } = await loadWire(form.wire)
  const shown = { ...reply, native: [], parts: shownParts(form, reply, isPassed) }
  const body = whole(shown, { ...profile, usage: shownUsage(reply, usage, profile) })
  if (!isObject(body)) return body
  return { ...body, ...profile.fields }
}

export function errorOf({ failure, outcome }: DoorEnd): SynapseError {
  if (failure) return new SynapseError(failure)
  const message = outcome === 'cancelled' ? 'The request was cancelled.' : 'The model returned no answer.'
  return new SynapseError({ kind: outcome === 'cancelled' ? 'aborted' : 'malformed-reply', message })
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
export function requestIdOf(run: DoorRun, { door }: WireService): Record<string, string> {
  const exchangeId = run.exchangeId()
  return door?.requestId === undefined || exchangeId === undefined ? {} : { [door.requestId]: exchangeId }
}
