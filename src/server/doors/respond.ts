// A request at a door, from authentication to the answer, with every error in the format of the client's API.

import { asFailure, SynapseError } from '../../core/error.ts'
import { noUsage } from '../../core/usage.ts'
import type { Store } from '../../store/store.ts'
import type { Endpoint, StoredItems, WireService } from '../../wires/service.ts'
import { loadService, loadWire } from '../../wires/list.ts'
import type { StreamProfile } from '../../wires/shared/stream-writer.ts'
import { answerFor, json, Refusal } from '../answer.ts'
import { forRequest, lastingContext, type ServerContext } from '../context.ts'
import { traceOf } from '../log.ts'
import { allow, doorPrincipal, type Principal } from '../principal.ts'
import { checkHost, checkOrigin } from '../same-origin.ts'
import type { DoorOperation } from './door.ts'
import { compactBody, compactionItem, summaryRequest } from './compact.ts'
import { atConversations, startInConversation } from './conversations.ts'
import { issueOf } from './errors.ts'
import { replyAt } from './hidden-calls.ts'
import { forgetAfter, retentionFor } from './retention.ts'
import { startAfter, type StartingPoint } from './match.ts'
import { modelNames, noSuchModel } from './models.ts'
import { jsonBody, readBody, strictRefusal, type Read } from './read-body.ts'
import type { DoorRequest } from './read-request.ts'
import { verbatimFor } from './pass-through.ts'
import { itemReply, rawReply, repeatedReply, streamedReply, wholeReply } from './reply.ts'
import { cancelledResponse, deletedResponse, inputItems, newId, storedResponse } from './responses.ts'
import { startDoorRun, type DoorRun } from './run.ts'
import { sealOf, type Seal } from './seal.ts'
import { answerKey, delivery, undelivered, type UndeliveredAnswer } from './undelivered.ts'
import type { Arrival, AtDoor, Visit } from './visit.ts'

export async function respondAtDoor(at: AtDoor): Promise<Response> {
  const server = forRequest({ ...at.server, endpoint: remembered(at.server.endpoint) })
  try {
    checkHost(at.request.headers, at.names)
    if (at.door.operation.do === 'head') return new Response(null)
    const principal = await admitted(at, server)
    return await respondTo({ ...at, server }, principal)
  } catch (error) {
    return await errorResponse(at, error, { tokens: 0, window: 0 })
  }
}

/** One request needs the same endpoint for its checks, its plan and its run. */
function remembered(find: ServerContext['endpoint']): ServerContext['endpoint'] {
  const found = new Map<string, ReturnType<typeof find>>()
  return (model, protocol) => {
    const name = `${model} ${protocol ?? ''}`
    const known = found.get(name) ?? find(model, protocol)
    found.set(name, known)
    return known
  }
}

/** For an authenticated caller. */
export async function respondTo(at: Arrival, principal: Principal): Promise<Response> {
  const size = { tokens: 0, window: 0 }
  try {
    return await respond({ ...at, server: await retentionFor(at.server, principal), principal, size })
  } catch (error) {
    return await errorResponse(at, error, size)
  }
}

/** Why a connection may not be opened; undefined: it may. */
export async function refusalAtDoor(at: AtDoor): Promise<Response | undefined> {
  try {
    checkHost(at.request.headers, at.names)
    await admitted(at, forRequest(at.server))
    return undefined
  } catch (error) {
    return errorResponse(at, error, { tokens: 0, window: 0 })
  }
}

async function admitted(at: AtDoor, { store, keysRequired }: ServerContext): Promise<Principal> {
  const { headers } = at.request
  checkOrigin(headers)
  const { door } = await loadService(at.door.wire)
  const query = door?.keyInQuery ? at.url.searchParams : undefined
  return at.admit(() => doorPrincipal(store, headers, query, { keysRequired, now: Date.now() }))
}

async function respond(visit: Visit): Promise<Response> {
  const { operation } = visit.door
  switch (operation.do) {
    case 'reply':
      return reply(visit, operation)
    case 'other':
      return other(visit, operation)
    case 'count':
      return count(visit, operation)
    case 'models':
      return models(visit, operation.id)
    default:
      throw nothingAt(visit.url)
  }
}

function nothingAt(url: URL): SynapseError {
  return new SynapseError({ kind: 'not-found', message: `There is nothing at ${url.pathname.slice(0, 200)}.` })
}

/** What a wire has besides replies, as far as it is stored here. */
async function other(visit: Visit, { name, id, part, item }: Endpoint): Promise<Response> {
  const { door, server, principal, url, request } = visit
  const { store, version } = server
  const { owner } = principal
  const { method } = request
  if (method !== 'GET') allow(principal, 'write')
  const { wire } = door
  const { fixed, stored } = (await loadService(wire)).door ?? {}
  const answer = fixed?.[name]
  if (answer) return json(answer(version))
  if (!stored) throw nothingAt(url)
  const { items } = stored
  if (items && name === 'compact') return compact(visit, items)
  if (items && name === 'conversations' && (id !== undefined || method === 'POST') && (part ?? 'items') === 'items') {
    const body = method === 'POST' ? (await jsonBody(visit)).value : {}
    const asked = { method, id, isItems: part !== undefined, item, body, query: url.searchParams }
    return json(await atConversations({ store, wire, items }, owner, asked))
  }
  if (name !== stored.endpoint || id === undefined) throw nothingAt(url)
  const replies = { store, owner, wire, stored }
  switch (`${method} ${part ?? ''}`) {
    case 'GET ':
      return storedResponse(replies, id, url.searchParams.get('stream') === 'true')
    case 'DELETE ':
      return json(await deletedResponse(replies, id))
    case 'POST cancel':
      return cancelledResponse(replies, id)
    default:
      if (!items || method !== 'GET' || part !== 'input_items') throw nothingAt(url)
      return json(await inputItems(replies, items, id, url.searchParams))
  }
}

/** A summary of the conversation by the named model, as one item of it. */
async function compact(visit: Visit, items: StoredItems): Promise<Response> {
  allow(visit.principal, 'write')
  // What a stored response contains can be summarised without anything new.
  const read = await readBody(visit, undefined, { input: [] })
  const service = await loadService(visit.door.wire)
  const { store } = lastingContext(visit.server)
  const run = await startSummary(visit, read, service)
  const about = { run, replyId: newId(service), body: read.body }
  return json(await compactBody({ store, owner: visit.principal.owner }, items, about))
}

async function startSummary(visit: Visit, read: Read, service: WireService): Promise<DoorRun> {
  const { principal, url, size } = visit
  const { sent: given, model, request } = read
  const server = lastingContext(visit.server)
  const whole = await withStart(visit, service, request)
  const sent = { protocol: visit.door.wire, path: url.pathname, body: given.bytes }
  return startDoorRun({ server, principal, request: await summaryRequest(whole, size.window), model, service, sent })
}

/** The request with the messages that it refers to by id. */
async function withStart(visit: Visit, service: WireService, request: DoorRequest): Promise<DoorRequest> {
  const { store } = lastingContext(visit.server)
  const { owner } = visit.principal
  const start = await startOf(store, visit, service, request)
  const before = start?.entryId === undefined ? [] : await store.history(owner, start.entryId)
  return { ...request, messages: [...before.map(({ message }) => message), ...request.messages] }
}

async function startOf(
  store: Store,
  { principal, memory }: Visit,
  { door }: WireService,
  { previousId, conversation, messages }: DoorRequest,
): Promise<StartingPoint | undefined> {
  const { owner } = principal
  const stored = door?.stored
  if (stored && previousId !== undefined) return startAfter(store, owner, previousId, { stored, memory })
  return conversation === undefined ? undefined : startInConversation(store, owner, conversation, messages)
}

async function reply(visit: Visit, operation: DoorOperation & { do: 'reply' }): Promise<Response> {
  const { principal, request: http, size } = visit
  allow(principal, 'write')
  const { wire } = visit.door
  const read = await readBody(visit, operation.model)
  const { body, sent: given, name, model, request } = read
  const refused = await strictRefusal(visit, read)
  if (refused) return refused
  const server = lastingContext(visit.server)
  const stream = operation.stream ?? request.stream
  const createdAt = Math.floor(Date.now() / 1000)
  const service = await loadService(wire)
  const stored = service.door?.stored
  const profile: StreamProfile = {
    model: name,
    replyId: newId(service),
    createdAt,
    inputTokens: size.tokens,
    includeUsage: request.includeUsage,
    ...(stored && { fields: stored.fields(body) }),
  }
  const seal = await sealOf(server.store)
  const unchanged = await verbatimFor(visit, operation, read)
  if (stored?.items?.asksForCompaction(body) && !unchanged.verbatim) {
    return compacted(visit, read, { profile, service, items: stored.items })
  }
  const key = answerKey(visit.url.pathname, given)
  const before = await undelivered(server.store, principal.owner, key)
  const again = before && (await repeated(visit, before, { profile, service, seal, stream }))
  if (again) return again
  const delivered = delivery(server.store, principal.owner, key)
  const client = http.headers.get('user-agent')?.slice(0, 200)
  const run = await startDoorRun({
    server,
    principal,
    request,
    model,
    service,
    delivery: { ...delivered, replyId: profile.replyId },
    ...unchanged,
    sent: { ...(client && { client }), protocol: wire, path: visit.url.pathname, body: given.bytes },
    start: await startOf(server.store, visit, service, request),
    isNamed: request.conversation !== undefined,
    memory: visit.memory,
    ...(stored && { response: response(profile) }),
  }).catch((error: unknown) => {
    delivered.lost()
    throw error
  })
  forgetAfter(server, principal, run)
  const leave = () => {
    delivered.lost()
    run.abort()
  }
  // The client may have left while its conversation was looked up.
  if (http.signal.aborted) leave()
  http.signal.addEventListener('abort', leave)
  const issue = (error: SynapseError) => issueOf(service, error.failure, size)
  const token = () => tokenFor(seal, principal.owner, run.exchangeId())
  const replying = { wire, service, profile: { ...profile, token }, run, issueOf: issue, delivered: delivered.done }
  const raw = await run.passing?.reply
  if (raw) return rawReply(raw, replying)
  try {
    if (stream) return await streamedReply(replying)
    const whole = await wholeReply(replying)
    if (!http.signal.aborted) delivered.done()
    return whole
  } catch (error) {
    delivered.lost()
    throw error
  }

  function response({ replyId, fields = {} }: StreamProfile) {
    const isStored = body.store !== false
    return { id: replyId, isStored, about: (exchangeId: string) => ({ exchangeId, model: name, createdAt, fields }) }
  }
}

/** The answer that the same request did not receive; undefined: it is gone. */
async function repeated(
  { server, principal, door }: Visit,
  { conversationId, entryId, exchangeId, replyId }: UndeliveredAnswer,
  about: { profile: StreamProfile; service: WireService; seal: Seal; stream: boolean },
): Promise<Response | undefined> {
  const { store } = server
  const { owner } = principal
  const { service, seal, stream } = about
  const reply = await replyAt(store, owner, entryId)
  if (!reply) return undefined
  const usage = (await store.exchange(owner, exchangeId))?.usage ?? noUsage
  const profile = { ...about.profile, replyId, token: () => seal.token(owner, exchangeId) }
  return repeatedReply({ wire: door.wire, service, profile }, reply, usage, { conversationId, stream })
}

/** The answer to a request that ends with a trigger: one item, and nothing else. */
async function compacted(
  visit: Visit,
  read: Read,
  { profile, service, items }: { profile: StreamProfile; service: WireService; items: StoredItems },
): Promise<Response> {
  const { owner } = visit.principal
  const run = await startSummary(visit, read, service)
  const item = await compactionItem({ store: lastingContext(visit.server).store, owner }, items, run)
  return itemReply(item, { wire: visit.door.wire, profile, run }, read.request.stream)
}

function tokenFor(seal: Seal, owner: string, exchangeId: string | undefined): string | undefined {
  return exchangeId === undefined ? undefined : seal.token(owner, exchangeId)
}

async function count(visit: Visit, operation: DoorOperation & { do: 'count' }): Promise<Response> {
  await readBody(visit, operation.model)
  const { tokens } = visit.size
  const { counting } = await loadService(visit.door.wire)
  return json(counting ? counting.answer(tokens, {}, () => tokens) : { tokens })
}

async function models({ door, server, principal }: Visit, id: string | undefined): Promise<Response> {
  const { door: written } = await loadService(door.wire)
  if (!written) throw new TypeError(`${door.wire} has no door`)
  const form = written.models
  const names = await modelNames(server, door.provider, principal)
  if (id === undefined) {
    const all = names.map((name) => form.one(name, door.provider))
    return json(form.list(all, names))
  }
  const name = id.replace(/^models\//, '')
  if (!names.includes(name)) throw noSuchModel(name)
  return json(form.one(name, door.provider))
}

async function errorResponse(at: Arrival, error: unknown, size: Visit['size']): Promise<Response> {
  const { status: usual, headers, body, hidden } = answerFor(error)
  if (hidden !== undefined) {
    const { code } = body.error
    at.server.log({ event: 'error', code, method: at.request.method, path: at.url.pathname, trace: traceOf(hidden) })
  }
  const { wire } = at.door
  const failure = hidden === undefined ? asFailure(error) : { kind: 'internal' as const, message: body.error.message }
  const issue = issueOf(await loadService(wire), failure, size)
  const { errorBody } = await loadWire(wire)
  // An error with its own status, such as for a body that is not JSON, keeps it.
  const status = error instanceof Refusal ? usual : issue.status
  return json(errorBody({ ...issue, status }), status, headers)
}
