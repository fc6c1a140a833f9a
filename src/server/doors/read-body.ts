// The body of a request at a door, checked against the permissions of the key and the limits of the model.

import { asFailure, badInput, SynapseError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { estimateHead } from '../../context/assemble.ts'
import { totalOf } from '../../context/count.ts'
import type { Policy } from '../../settings/policy.ts'
import { loadService, loadWire } from '../../wires/list.ts'
import { json } from '../answer.ts'
import { readBody as readBytes } from '../body.ts'
import { lastingContext, type ServerContext } from '../context.ts'
import { allowModel } from '../principal.ts'
import { checkPriced } from '../run-settings.ts'
import { withSummaries } from './compact.ts'
import { withFirstRequest } from './first-request.ts'
import { withReferencedItems } from './item-references.ts'
import { parseBody, type ParsedBody } from './known-bodies.ts'
import { modelFor, type DoorModel } from './models.ts'
import { readRequest, type DoorRequest } from './read-request.ts'
import { shortensItself } from './side-call.ts'
import type { AuthenticatedRequest } from './incoming-request.ts'

export interface ReadBody {
  body: JsonObject
  /** The body as received, but decompressed. */
  sent: ParsedBody
  /** The client's name of the model. */
  name: string
  model: DoorModel
  request: DoorRequest
  /** The exchange of the request whose instructions and tools apply to this one. */
  firstExchange?: string
  /** The providers that sent the items that the body refers to; an empty one for items of ours. */
  storedBy: ReadonlySet<string>
}

/** `fields`: what the body may leave out. */
export async function readBody(
  incoming: AuthenticatedRequest,
  pathModel: string | undefined,
  fields: JsonObject = {},
): Promise<ReadBody> {
  const { door, server, principal, size } = incoming
  const sent = await jsonBody(incoming)
  const { withUsualNames, counting, door: { stored } = {} } = await loadService(door.wire)
  const given = withUsualNames?.(sent.value) ?? sent.value
  const counted = door.operation.do === 'count' ? counting?.request?.(given) : undefined
  const body = withDefaults(counted ?? given, fields)
  // Servers of one model do not require its name.
  const name = (pathModel ?? body.model) || (principal.defaultModel ?? server.doorModel?.model)
  if (!name)
    throw badInput('model is missing: send one, such as anthropic/claude-opus-5, or start the server with --model.')
  if (typeof name !== 'string') throw badInput('model must be a string, such as anthropic/claude-opus-5.')
  const named = await modelFor(door, name, server, principal)
  const policy = policyFor(named, server, incoming.request.headers.get('user-agent') ?? '')
  const model = { ...named, ...(policy !== undefined && { policy }) }
  allowModel(principal, model.model)
  const { endpoint } = await server.endpoint(model.model, model.protocol).catch(noKey)
  await checkPriced(server, principal, model)
  const place = { store: lastingContext(server).store, owner: principal.owner }
  const { body: continued, ...first } = await withFirstRequest(place, stored, body)
  const { body: whole, storedBy } = await withReferencedItems(incoming, continued)
  const about = { body: whole, size: sent.bytes.length, isCached: isCached(principal) }
  const written = await readRequest(door, about, incoming.request.headers)
  const request = { ...written, messages: await withSummaries(server.store, principal.owner, written.messages) }
  size.tokens = promptTokens(request)
  size.window = endpoint.capabilities.contextWindow ?? 0
  // Clients compact their conversation when they receive this; if a policy is set, the server does it.
  if (size.window > 0 && size.tokens > size.window && policy === undefined) {
    throw new SynapseError({ kind: 'context-overflow', message: 'The prompt is too long for the model.' })
  }
  return { body, sent, name, model, request, storedBy, ...first }
}

function withDefaults(body: JsonObject, fields: JsonObject): JsonObject {
  const missing = Object.entries(fields).filter(([name]) => (body[name] ?? null) === null)
  return missing.length === 0 ? body : { ...body, ...Object.fromEntries(missing) }
}

export async function jsonBody({ request, server, principal, door }: AuthenticatedRequest): Promise<ParsedBody> {
  const service = await loadService(door.wire)
  const bytes = await readBytes(request, server.limits.body, service.door?.untypedBodies)
  return parseBody(bytes, service.listField, isCached(principal))
}

/** Whether requests may stay in memory. */
function isCached({ keep = 'full' }: AuthenticatedRequest['principal']): boolean {
  return keep === 'full'
}

/** The provider is known, so a key for it is missing. */
function noKey(error: unknown): never {
  const failure = asFailure(error)
  throw failure.kind === 'bad-input' ? new SynapseError({ ...failure, kind: 'auth' }) : error
}

export function promptTokens({ system, tools, messages }: DoorRequest): number {
  const head = estimateHead([{ type: 'text', text: system }], tools)
  return Math.max(1, Math.round(head + totalOf(messages)))
}

/** A general policy does not apply to a client that shortens its history itself. */
function policyFor({ policy }: DoorModel, server: ServerContext, client: string): Policy | undefined {
  return policy ?? (shortensItself(client) ? undefined : server.defaultPolicy)
}

/** What the provider of the API would refuse is refused instead of repaired: for tests of a client. */
export async function strictRefusal(
  { door, request }: AuthenticatedRequest,
  { body, name }: ReadBody,
): Promise<Response | undefined> {
  if (request.headers.get('x-synapse-strict') !== '1') return undefined
  const { refuse, errorBody } = await loadWire(door.wire)
  const model = name.replace(/^.*\//, '')
  const about = { provider: door.provider, model }
  const [issue] = refuse(body.model === undefined ? body : { ...body, model }, about)
  return issue && json(errorBody(issue, about), issue.status)
}
