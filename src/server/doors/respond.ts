// A request at a door, from who asks to the answer, with every error in the words of the API that the client speaks.

import { asFailure, badInput, SynapseError } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { estimateHead } from '../../context/assemble.ts'
import { estimateMessage } from '../../context/count.ts'
import { loadService, loadWire } from '../../wires/list.ts'
import type { StreamProfile } from '../../wires/shared/stream-writer.ts'
import { answerFor, json, Refusal } from '../answer.ts'
import { readJson } from '../body.ts'
import { forRequest, lastingContext, type ServerContext } from '../context.ts'
import { traceOf } from '../log.ts'
import { allow, type Principal } from '../principal.ts'
import { checkRun } from '../run-settings.ts'
import { checkHost, checkOrigin } from '../same-origin.ts'
import type { Door, DoorOperation } from './door.ts'
import { issueOf } from './errors.ts'
import { modelEntry, modelFor, modelList, modelNames, noSuchModel, type DoorModel } from './models.ts'
import { doorPrincipal } from './principal.ts'
import { readRequest, type DoorRequest } from './read-request.ts'
import { streamedReply, wholeReply } from './reply.ts'
import { deletedResponse, inputItems, newId, requestFields, storedResponse } from './responses.ts'
import { startDoorRun } from './run.ts'

export interface AtDoor {
  door: Door
  request: globalThis.Request
  url: URL
  server: ServerContext
  names: readonly string[]
  /** Counts requests of a key, and keys that are wrong. */
  admit: (find: () => Promise<Principal>) => Promise<Principal>
}

interface Visit extends AtDoor {
  principal: Principal
  /** For an error that is about the size of the prompt. */
  size: { tokens: number; window: number }
}

export async function respondAtDoor(at: AtDoor): Promise<globalThis.Response> {
  const server = forRequest(at.server)
  const size = { tokens: 0, window: 0 }
  try {
    const { headers } = at.request
    checkHost(headers, at.names)
    if (at.door.operation.do === 'head') return new globalThis.Response(null)
    checkOrigin(headers)
    const query = at.door.operation.wire === 'gemini-generate' ? at.url.searchParams : undefined
    const { keysRequired } = server
    const find = () => doorPrincipal(server.store, headers, query, { keysRequired, now: Date.now() })
    const principal = await at.admit(find)
    return await respond({ ...at, server, principal, size })
  } catch (error) {
    return await errorResponse(at, error, size)
  }
}

async function respond(visit: Visit): Promise<globalThis.Response> {
  const { door, server, principal, url } = visit
  const { operation } = door
  const { owner } = principal
  switch (operation.do) {
    case 'upgrade': {
      const failure = { kind: 'bad-input', message: 'WebSockets are not spoken here. Use HTTP.' } as const
      throw new Refusal(426, failure, { upgrade: 'HTTP/1.1' })
    }
    case 'reply':
      return reply(visit, operation)
    case 'count':
      return count(visit, operation)
    case 'models':
      return models(visit, operation.id)
    case 'response':
      if (operation.method === 'GET') return json(await storedResponse(server.store, owner, operation.id))
      allow(principal, 'write')
      return json(await deletedResponse(server.store, owner, operation.id))
    case 'input-items':
      return json(await inputItems(server.store, owner, operation.id, url.searchParams))
    default: {
      const message = `There is nothing at ${url.pathname.slice(0, 200)}.`
      throw new SynapseError({ kind: 'not-found', message })
    }
  }
}

async function reply(visit: Visit, operation: DoorOperation & { do: 'reply' }): Promise<globalThis.Response> {
  const { principal, request: http, size } = visit
  allow(principal, 'write')
  const { wire } = operation
  const { body, name, model, request } = await read(visit, operation.model)
  const server = lastingContext(visit.server)
  const stream = operation.stream ?? request.stream
  const createdAt = Math.floor(Date.now() / 1000)
  const service = await loadService(wire)
  const profile: StreamProfile = {
    model: name,
    replyId: newId(service),
    createdAt,
    inputTokens: size.tokens,
    includeUsage: request.includeUsage,
    ...(wire === 'openai-responses' && { fields: requestFields(body) }),
  }
  const client = http.headers.get('user-agent')?.slice(0, 200)
  const run = await startDoorRun({
    server,
    principal,
    request,
    model,
    client,
    ...(wire === 'openai-responses' && body.store !== false && { response: response(profile) }),
  })
  // It may have left while its conversation was looked for.
  if (http.signal.aborted) run.abort()
  http.signal.addEventListener('abort', () => run.abort())
  const issue = (error: SynapseError) => issueOf(wire, service, error.failure, size)
  const replying = { wire, profile, run, issueOf: issue }
  return stream ? streamedReply(replying) : wholeReply(replying)

  function response({ replyId, fields = {} }: StreamProfile) {
    return { id: replyId, about: (exchangeId: string) => ({ exchangeId, model: name, createdAt, fields }) }
  }
}

interface Read {
  body: JsonObject
  /** The model as the client calls it. */
  name: string
  model: DoorModel
  request: DoorRequest
}

async function read(visit: Visit, pathModel: string | undefined): Promise<Read> {
  const { door, server, principal, size } = visit
  const { value } = await readJson(visit.request, server.limits.body)
  const given = value as Json
  if (!isObject(given)) throw badInput('The body must be a JSON object.')
  // What Gemini's clients count may be wrapped.
  const inner = given.generateContentRequest
  const body = isObject(inner) ? inner : given
  const name = pathModel ?? body.model
  if (typeof name !== 'string' || name === '') throw badInput('model must be a text, such as anthropic/claude-opus-5.')
  const model = modelFor(door, name, server)
  const { endpoint } = await server.endpoint(model.model, model.protocol).catch(noKey)
  await checkRun(server, principal, model)
  const request = await readRequest(door.operation.wire, door.provider, body, visit.request.headers)
  size.tokens = promptTokens(request)
  size.window = endpoint.capabilities.contextWindow ?? 0
  // Clients compact their conversation when they hear this; where a policy is set, the server takes care of it.
  if (size.window > 0 && size.tokens > size.window && server.defaultPolicy === undefined) {
    throw new SynapseError({ kind: 'context-overflow', message: 'The prompt is too long for the model.' })
  }
  return { body, name, model, request }
}

/** The provider is known, so what is missing is a key for it. */
function noKey(error: unknown): never {
  const failure = asFailure(error)
  throw failure.kind === 'bad-input' ? new SynapseError({ ...failure, kind: 'auth' }) : error
}

function promptTokens({ system, tools, messages }: DoorRequest): number {
  const head = estimateHead([{ type: 'text', text: system }], tools)
  return Math.max(1, Math.round(messages.reduce((sum, message) => sum + estimateMessage(message), head)))
}

async function count(visit: Visit, operation: DoorOperation & { do: 'count' }): Promise<globalThis.Response> {
  await read(visit, operation.model)
  const { tokens } = visit.size
  if (operation.wire === 'gemini-generate') return json({ totalTokens: tokens })
  return json({
    ...(operation.wire === 'openai-responses' && { object: 'response.input_tokens' }),
    input_tokens: tokens,
  })
}

async function models({ door, server }: Visit, id: string | undefined): Promise<globalThis.Response> {
  const { wire } = door.operation
  const names = await modelNames(server, door.provider)
  if (id === undefined) return json(modelList(wire, names))
  const name = id.replace(/^models\//, '')
  if (!names.includes(name)) throw noSuchModel(name)
  return json(modelEntry(wire, name))
}

async function errorResponse(at: AtDoor, error: unknown, size: Visit['size']): Promise<globalThis.Response> {
  const { status: usual, headers, body, hidden } = answerFor(error)
  if (hidden !== undefined) {
    const { code } = body.error
    at.server.log({ event: 'error', code, method: at.request.method, path: at.url.pathname, trace: traceOf(hidden) })
  }
  const { wire } = at.door.operation
  const failure = hidden === undefined ? asFailure(error) : { kind: 'internal' as const, message: body.error.message }
  const issue = issueOf(wire, await loadService(wire), failure, size)
  const { errorBody } = await loadWire(wire)
  // What has a status of its own, such as a body that is no JSON, keeps it.
  const status = error instanceof Refusal ? usual : issue.status
  return json(errorBody({ ...issue, status }), status, headers)
}
