// A request at a door, from authentication to the answer, with every error in the format of the client's API.

import { asFailure, badInput, SynapseError } from '../../core/error.ts'
import type { Endpoint } from '../../wires/service.ts'
import { loadService, loadWire } from '../../wires/list.ts'
import { randomHex } from '../../store/ids.ts'
import { textIn, valueAt } from '../../wires/shared/json-fields.ts'
import { answerFor, json, Refusal } from '../answer.ts'
import { forRequest, type ServerContext } from '../context.ts'
import { traceOf } from '../log.ts'
import { allow, allowModel, doorPrincipal, type Principal } from '../principal.ts'
import { checkHost, checkOrigin } from '../same-origin.ts'
import { answerRequest } from './answer-request.ts'
import { compact } from './answer-summary.ts'
import { atConversations } from './conversations.ts'
import type { DoorOperation } from './door.ts'
import { issueOf } from './errors.ts'
import type { AuthenticatedRequest, IncomingRequest, UnauthenticatedRequest } from './incoming-request.ts'
import { modelFor, modelNames, noSuchModel } from './models.ts'
import { jsonBody, promptTokens, readBody } from './read-body.ts'
import { cancelledResponse, deletedResponse, inputItems, storedResponse } from './responses.ts'
import { retentionFor } from './retention.ts'
import { withStart } from './starting-point.ts'

export async function respondAtDoor(incoming: UnauthenticatedRequest): Promise<Response> {
  const server = forRequest(incoming.server)
  try {
    checkHost(incoming.request.headers, incoming.names)
    if (incoming.door.operation.do === 'head') return new Response(null)
    const principal = await authenticate(incoming, server)
    return await respondTo({ ...incoming, server }, principal)
  } catch (error) {
    return await errorResponse(incoming, error, { tokens: 0, window: 0 })
  }
}

/** For an authenticated caller. */
export async function respondTo(incoming: IncomingRequest, principal: Principal): Promise<Response> {
  const size = { tokens: 0, window: 0 }
  try {
    return await respond({ ...incoming, server: await retentionFor(incoming.server, principal), principal, size })
  } catch (error) {
    return await errorResponse(incoming, error, size)
  }
}

/** Why a connection may not be opened; undefined: it may. */
export async function refusalAtDoor(incoming: UnauthenticatedRequest): Promise<Response | undefined> {
  try {
    checkHost(incoming.request.headers, incoming.names)
    await authenticate(incoming, forRequest(incoming.server))
    return undefined
  } catch (error) {
    return errorResponse(incoming, error, { tokens: 0, window: 0 })
  }
}

async function authenticate(
  incoming: UnauthenticatedRequest,
  { store, keysRequired }: ServerContext,
): Promise<Principal> {
  const { headers } = incoming.request
  checkOrigin(headers)
  const { door } = await loadService(incoming.door.wire)
  const query = door?.keyInQuery ? incoming.url.searchParams : undefined
  return incoming.admit(() => doorPrincipal(store, headers, query, { keysRequired, now: Date.now() }))
}

async function respond(incoming: AuthenticatedRequest): Promise<Response> {
  const { operation } = incoming.door
  switch (operation.do) {
    case 'reply':
      return answerRequest(incoming, operation)
    case 'other':
      return other(incoming, operation)
    case 'count':
      return count(incoming, operation)
    case 'models':
      return models(incoming, operation.id)
    case 'model':
      return describedModel(incoming)
    default:
      throw nothingAt(incoming)
  }
}

function nothingAt({ request, url }: AuthenticatedRequest): SynapseError {
  const message = `There is nothing at ${request.method} ${url.pathname.slice(0, 200)}.`
  return new SynapseError({ kind: 'not-found', message })
}

/** What a wire has besides replies, as far as it is stored here. */
async function other(incoming: AuthenticatedRequest, { name, id, part, item }: Endpoint): Promise<Response> {
  const { door, server, principal, url, request } = incoming
  const { store, runs } = server
  const { owner } = principal
  const { method } = request
  if (method !== 'GET') allow(principal, 'write')
  const { wire } = door
  const { fixed, door: { stored } = {} } = await loadService(wire)
  const answer = fixed?.[name]
  if (answer !== undefined) return json(answer)
  if (!stored) throw nothingAt(incoming)
  const { items, retrieval } = stored
  if (items && name === 'compact') return compact(incoming, items)
  const isConversation = name === items?.conversations.endpoint && (id !== undefined || method === 'POST')
  if (items && isConversation && (part ?? 'items') === 'items') {
    const body = method === 'POST' ? (await jsonBody(incoming)).value : {}
    const asked = { method, id, isItems: part !== undefined, item, body, query: url.searchParams }
    return json(await atConversations({ store, wire, items }, owner, asked))
  }
  if (name !== retrieval?.endpoint || id === undefined) throw nothingAt(incoming)
  const replies = { store, runs, owner, wire, retrieval }
  switch (`${method} ${part ?? ''}`) {
    case 'GET ':
      return storedResponse(replies, id, url.searchParams)
    case 'DELETE ':
      return json(await deletedResponse(replies, id))
    case 'POST cancel':
      return cancelledResponse(replies, id)
    default:
      if (!items || method !== 'GET' || part !== 'input_items') throw nothingAt(incoming)
      return json(await inputItems(replies, items, id, url.searchParams))
  }
}

async function count(incoming: AuthenticatedRequest, operation: DoorOperation & { do: 'count' }): Promise<Response> {
  const { request } = await readBody(incoming, operation.model)
  const service = await loadService(incoming.door.wire)
  const { counting } = service
  const tokens = promptTokens(await withStart(incoming, service, request))
  return json(counting ? counting.answer(tokens, {}, () => tokens) : { tokens })
}

async function models(
  { door, server, principal, url }: AuthenticatedRequest,
  id: string | undefined,
): Promise<Response> {
  const { door: wireDoor } = await loadService(door.wire)
  if (!wireDoor) throw new TypeError(`${door.wire} has no door`)
  const form = wireDoor.models
  const names = await modelNames(server, door.provider, principal)
  if (id === undefined) {
    const all = names.map((name) => form.one(name, door.provider))
    return json(form.list(all, names, url.searchParams))
  }
  const name = id.replace(/^models\//, '')
  if (!names.includes(name)) throw noSuchModel(name, wireDoor)
  return json(form.one(name, door.provider))
}

async function describedModel(incoming: AuthenticatedRequest): Promise<Response> {
  const { door, server, principal } = incoming
  const { describe } = await loadService(door.wire)
  if (!describe) throw nothingAt(incoming)
  const { value: body } = await jsonBody(incoming)
  const name = textIn(body.model) || textIn(body.name)
  if (name === '') throw badInput('model is required')
  const { model, protocol } = await modelFor(door, name, server, principal)
  allowModel(principal, model)
  const { endpoint } = await server.endpoint(model, protocol)
  const { provider, capabilities } = endpoint
  return json(describe({ name, provider: provider.id, model, capabilities }))
}

async function errorResponse(
  incoming: IncomingRequest,
  error: unknown,
  size: AuthenticatedRequest['size'],
): Promise<Response> {
  const { status: usual, headers, body, hidden } = answerFor(error)
  if (hidden !== undefined) {
    const { code } = body.error
    incoming.server.log({
      event: 'error',
      code,
      method: incoming.request.method,
      path: incoming.url.pathname,
      trace: traceOf(hidden),
    })
  }
  const { wire } = incoming.door
  const failure = hidden === undefined ? asFailure(error) : { kind: 'internal' as const, message: body.error.message }
  const service = await loadService(wire)
  const issue = issueOf(service, failure, size)
  const { errorBody } = await loadWire(wire)
  // An error with its own status, such as for a body that is not JSON, keeps it.
  const status = error instanceof Refusal ? usual : issue.status
  const written = errorBody({ ...issue, status })
  const requestId = valueAt(written, 'request_id') ?? `req_${randomHex(32)}`
  const named = service.door?.requestId === undefined ? {} : { [service.door.requestId]: textIn(requestId) }
  return json(written, status, { ...headers, ...named })
}
