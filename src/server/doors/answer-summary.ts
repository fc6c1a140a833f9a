// The answers to requests for a summary of a conversation: as a reply that consists of it, or as one item alone.

import { badInput, SynapseError } from '../../core/error.ts'
import { loadService } from '../../wires/list.ts'
import type { StoredItems, WireService } from '../../wires/service.ts'
import { json } from '../answer.ts'
import { lastingContext } from '../context.ts'
import { allow } from '../principal.ts'
import { compactBody, summaryOf, summaryReply, summaryRequest } from './compact.ts'
import type { AuthenticatedRequest } from './incoming-request.ts'
import { responseRecord } from './match-records.ts'
import { readBody, type ReadBody } from './read-body.ts'
import { completeReply, headersOf, type ReplyForm } from './reply.ts'
import { newId } from './responses.ts'
import { startDoorRun, type DoorRun } from './run.ts'
import { withStart } from './starting-point.ts'

/** The answer to a request for a summary: a reply that consists of it. */
export async function answerWithSummary(
  incoming: AuthenticatedRequest,
  read: ReadBody,
  { service, form, profile, seal, stream }: ReplyForm,
): Promise<Response> {
  const { principal, door, memory } = incoming
  const { owner } = principal
  const { stored } = service.door ?? {}
  const run = await startSummary(incoming, read, service)
  const { text, exchangeId, usage } = await summaryOf(run)
  if (stored?.items) {
    const { conversationId } = run
    const { replyId, createdAt, fields = {} } = profile
    const data = { model: read.name, createdAt, fields, conversationId, exchangeId, isSummary: true }
    const record = responseRecord(owner, conversationId, replyId, data)
    if (stored.keeps(read.body)) await lastingContext(incoming.server).store.putRecords([record])
    else memory?.remember(replyId, data)
  }
  const written = { ...profile, token: () => seal.token(owner, exchangeId) }
  const options = { stream, headers: headersOf(run) }
  return completeReply({ wire: door.wire, service, form, profile: written }, summaryReply(text), usage, options)
}

/** A summary of the conversation by the named model, as one item of it. */
export async function compact(incoming: AuthenticatedRequest, items: StoredItems): Promise<Response> {
  allow(incoming.principal, 'write')
  const service = await loadService(incoming.door.wire)
  // What a stored response contains can be summarised without anything new.
  const read = await readBody(incoming, undefined, { [service.listField]: [] })
  const refused = items.refuseCompaction(read.body)
  if (refused) throw new SynapseError(refused)
  const { store } = lastingContext(incoming.server)
  const run = await startSummary(incoming, read, service)
  const about = { run, replyId: newId(service), body: read.body }
  return json(await compactBody({ store, owner: incoming.principal.owner }, items, about))
}

async function startSummary(incoming: AuthenticatedRequest, read: ReadBody, service: WireService): Promise<DoorRun> {
  const { principal, url, size } = incoming
  const { sent: given, model, request } = read
  const server = lastingContext(incoming.server)
  const whole = await withStart(incoming, service, request)
  if (whole.messages.length === 0) throw badInput(`There is nothing to summarise: send ${service.listField}.`)
  const sent = { protocol: incoming.door.wire, path: url.pathname, body: given.bytes }
  const { signal } = incoming.request
  const summary = await summaryRequest(whole, size.window)
  return startDoorRun({ server, principal, request: summary, model, service, signal, sent })
}
