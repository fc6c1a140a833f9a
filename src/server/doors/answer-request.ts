// The answer to a client's request for a reply: it is run in its conversation, and written in the client's format. A
// request whose answer was stored but not received gets that answer again.

import { estimateMessage } from '../../context/count.ts'
import { badInput, SynapseError } from '../../core/error.ts'
import { noUsage } from '../../core/usage.ts'
import type { Store } from '../../store/store.ts'
import { loadService } from '../../wires/list.ts'
import { clientFormOf, type WireService } from '../../wires/service.ts'
import { textIn } from '../../wires/shared/json-fields.ts'
import type { StreamProfile } from '../../wires/shared/stream-writer.ts'
import { json } from '../answer.ts'
import { lastingContext } from '../context.ts'
import { allow } from '../principal.ts'
import { whenAborted } from '../when-aborted.ts'
import { answerWithSummary } from './answer-summary.ts'
import type { DoorOperation } from './door.ts'
import { issueOf } from './errors.ts'
import { replyAt } from './hidden-calls.ts'
import type { AuthenticatedRequest } from './incoming-request.ts'
import type { StartingPoint } from './match.ts'
import { passableRequest } from './passable-request.ts'
import { readBody, strictRefusal, type ReadBody } from './read-body.ts'
import { passedStream, rawReply } from './passed-reply.ts'
import { completeReply, queuedReply, wholeReply, type ReplyForm } from './reply.ts'
import { newId } from './responses.ts'
import { forgetAfter } from './retention.ts'
import { startDoorRun, type DoorRun, type DoorRunOptions } from './run.ts'
import { sealOf, type Seal } from './seal.ts'
import { startOf } from './starting-point.ts'
import { streamedReply } from './streamed-reply.ts'
import { answerKey, trackDelivery, type Delivery, type UndeliveredAnswer } from './undelivered.ts'

export async function answerRequest(
  incoming: AuthenticatedRequest,
  operation: DoorOperation & { do: 'reply' },
): Promise<Response> {
  const { principal, door, url } = incoming
  allow(principal, 'write')
  const service = await loadService(door.wire)
  // To load a model, a request in the usual form needs no list of messages.
  const isUsual = operation.form === undefined
  const read = await readBody(incoming, operation.model, service.loading && isUsual ? { [service.listField]: [] } : {})
  const form = clientFormOf(service, operation.form, read.body)
  const refused = await strictRefusal(incoming, read)
  if (refused) return refused
  const { store } = lastingContext(incoming.server)
  const loaded = service.loading?.(form ? form.request(read.body) : read.body, Date.now())
  if (loaded) return json(form ? form.reply(loaded) : loaded)
  const reply: ReplyForm = {
    service,
    form,
    profile: profileFor(incoming, service, read),
    seal: await sealOf(store),
    stream: operation.stream ?? read.request.stream,
    asArray: service.asArray?.(url.searchParams),
    hidesReasoning: service.door?.showsReasoning?.(read.body) === false,
  }
  const verbatim = form?.isForeign ? undefined : await passableRequest(incoming, operation, read)
  const unsupported = verbatim ? undefined : form?.unsupported(read.body)
  if (unsupported !== undefined) throw badInput(unsupported)
  const lost = verbatim ? undefined : service.door?.untranslatable?.(read.body)
  if (lost) throw new SynapseError(lost)
  if (service.door?.asksForSummary?.(read.body) && !verbatim) return answerWithSummary(incoming, read, reply)
  if (read.request.isBackground) return queued(incoming, read, reply)
  const delivery = trackDelivery(store, principal.owner, answerKey(url.pathname, read.sent))
  whenAborted(incoming.request.signal, delivery.lost)
  try {
    const stored = await delivery.earlier()
    const repeated = stored && (await repeatAnswer(incoming, stored, reply, delivery))
    if (repeated) return repeated
    const run = await startReply(incoming, read, reply, { verbatim, delivery })
    return await writeReply(incoming, reply, run, delivery)
  } catch (error) {
    delivery.lost()
    throw error
  }
}

function profileFor(
  { size }: AuthenticatedRequest,
  service: WireService,
  { name, body }: ReadBody,
): StreamProfile & { createdAt: number } {
  const stored = service.door?.stored
  const began = performance.now()
  return {
    model: name,
    replyId: newId(service),
    createdAt: Math.floor(Date.now() / 1000),
    inputTokens: size.tokens,
    estimate: (reply) => ({ ...noUsage, input: size.tokens, output: estimateMessage(reply) }),
    elapsed: () => performance.now() - began,
    includeUsage: service.door?.usageOnRequest?.isRequested(body) ?? false,
    ...(stored && { fields: stored.fields(body) }),
  }
}

async function startReply(
  incoming: AuthenticatedRequest,
  { body, sent, name, model, request, firstExchange }: ReadBody,
  { service, form, profile }: ReplyForm,
  { verbatim, delivery }: Pick<DoorRunOptions, 'verbatim' | 'delivery'>,
): Promise<DoorRun> {
  const { principal, door, url, memory } = incoming
  const server = lastingContext(incoming.server)
  const client = incoming.request.headers.get('user-agent')?.slice(0, 200)
  const { replyId, createdAt, fields = {} } = profile
  const { stored } = service.door ?? {}
  const start = await startOf(server.store, incoming, service, { ...request, token: form?.token(body) })
  const notes = form?.leftOut(body, start !== undefined) ?? []
  const system = request.system || (form && start ? await systemOf(server.store, principal.owner, start) : '')
  const run = await startDoorRun({
    server,
    principal,
    request: { ...request, system, notes: [...request.notes, ...notes] },
    model,
    service,
    verbatim,
    signal: incoming.request.signal,
    delivery,
    sent: { ...(client && { client }), protocol: door.wire, path: url.pathname, body: sent.bytes },
    start,
    replyId,
    memory,
    ...(stored && {
      response: {
        isStored: stored.keeps(body),
        isBackground: request.isBackground === true,
        isFirst: stored.ofFirst !== undefined && firstExchange === undefined,
        data: {
          model: name,
          createdAt,
          fields,
          ...(request.isBackground && { background: true }),
          ...(firstExchange !== undefined && { firstExchange }),
        },
      },
    }),
  })
  forgetAfter(server, principal, run)
  return run
}

/** What a token names includes the instructions. */
async function systemOf(store: Store, owner: string, { conversationId }: StartingPoint): Promise<string> {
  return textIn((await store.conversation(owner, conversationId))?.settings['system'])
}

/** The reply is written in the background, whether the client stays or not. */
async function queued(incoming: AuthenticatedRequest, read: ReadBody, reply: ReplyForm): Promise<Response> {
  const { principal, door, server } = incoming
  if (principal.keep === 'none') {
    throw badInput('background is not possible with this key, which stores nothing: leave it out.')
  }
  server.runs.checkCapacity()
  const run = await startReply(incoming, read, reply, {})
  return queuedReply({ wire: door.wire, service: reply.service, profile: reply.profile, run })
}

/** The reply of a run, as it arrives. */
async function writeReply(
  { principal, door, size }: AuthenticatedRequest,
  { service, form, profile, seal, stream, asArray, hidesReasoning }: ReplyForm,
  run: DoorRun,
  delivery: Delivery,
): Promise<Response> {
  const options = {
    wire: door.wire,
    service,
    form,
    profile: { ...profile, token: () => tokenFor(seal, principal.owner, run.exchangeId()) },
    asArray,
    hidesReasoning,
    run,
    issueOf: (error: SynapseError) => issueOf(service, error.failure, size),
    delivered: delivery.done,
  }
  const { passThrough } = run
  if (stream) return passThrough ? passedStream(passThrough, options) : streamedReply(options)
  const raw = await passThrough?.reply
  // None of an answer that is not streamed is sent before it is in the log, so its cost is known.
  return raw ? rawReply(raw, options, (await run.ended).cost) : wholeReply(options)
}

function tokenFor(seal: Seal, owner: string, exchangeId: string | undefined): string | undefined {
  return exchangeId === undefined ? undefined : seal.token(owner, exchangeId)
}

/** The answer that the same request did not receive; undefined: it is gone. */
async function repeatAnswer(
  { server, principal, door }: AuthenticatedRequest,
  { conversationId, entryId, exchangeId, replyId }: UndeliveredAnswer,
  { service, form, profile: ownProfile, seal, stream, asArray, hidesReasoning }: ReplyForm,
  { done: delivered }: Delivery,
): Promise<Response | undefined> {
  const { store } = server
  const { owner } = principal
  const reply = await replyAt(store, owner, entryId)
  if (!reply) return undefined
  const usage = (await store.exchange(owner, exchangeId))?.usage ?? noUsage
  const profile = { ...ownProfile, replyId, token: () => seal.token(owner, exchangeId) }
  const written = { wire: door.wire, service, form, profile, asArray, hidesReasoning, delivered }
  return completeReply(written, reply, usage, { stream, headers: { 'x-synapse-conversation': conversationId } })
}
