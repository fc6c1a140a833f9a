// The request that may be sent as the client wrote it: the provider has the same wire, and nothing has to be shortened,
// repaired or replaced. Only the name of the model may be another one, and the usage may be asked for.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Endpoint } from '../../providers/resolve.ts'
import type { Verbatim } from '../../run/run-context.ts'
import { loadService } from '../../wires/list.ts'
import type { Operation, RequestField, WireDoor } from '../../wires/service.ts'
import { issuesOf } from './check-end.ts'
import type { AuthenticatedRequest } from './incoming-request.ts'
import type { ParsedBody } from './known-bodies.ts'
import { requestHeaders } from './passed-headers.ts'
import type { ReadBody } from './read-body.ts'
import type { EventFilter } from './without-events.ts'

export interface PassableRequest extends Verbatim {
  /** Events of its answer that the client does not get. */
  hidden?: EventFilter
}

/** Undefined: it has to be written from the log. */
export async function passableRequest(
  { door, server, request: http, url, principal }: AuthenticatedRequest,
  operation: Operation & { do: 'reply' },
  { body, sent: given, name, model, request, storedBy }: ReadBody,
): Promise<PassableRequest | undefined> {
  const { wire } = door
  const stream = operation.stream ?? request.stream
  if (!model.hasWire || request.conversation !== undefined || model.policy !== undefined) return undefined
  // The provider would keep the reply.
  if (request.isBackground) return undefined
  if (given.hasToken) return undefined
  const { endpoint } = await server.endpoint(model.model, wire)
  if ([...storedBy].some((provider) => provider !== endpoint.provider.id || !endpoint.state)) return undefined
  const { door: wireDoor, listField, asArray } = await loadService(wire)
  const host = { provider: endpoint.provider.id, toolKinds: endpoint.capabilities.toolKinds === true }
  if (wireDoor?.isForOthers?.(body, host)) return undefined
  const refersToStored = request.previousId !== undefined || wireDoor?.reference?.(body)?.question !== undefined
  // A server that stores nothing ignores what is stored, and answers without it.
  if (refersToStored && !endpoint.state) return undefined
  const inPath = operation.model !== undefined
  const path = inPath ? pathWithModel(door.path, endpoint.model, wireDoor) : door.path
  if (path === undefined || (principal.models && namesOthers(body, listField, given, inPath))) return undefined
  // A stream that is one JSON array is written here.
  if (stream && asArray?.(url.searchParams)) return undefined
  const metered = requestedUsage(wireDoor, body, endpoint)
  const changes = {
    ...(!inPath && name !== endpoint.model && { model: endpoint.model }),
    ...(metered && { [metered.field.name]: metered.field.value }),
  }
  const sent = passableBody(endpoint, { listField, changes }, body, given)
  if (sent === undefined) return undefined
  const query = new URLSearchParams(url.searchParams)
  query.delete('key')
  return {
    provider: endpoint.provider.id,
    protocol: wire,
    path: query.size > 0 ? `${path}?${query.toString()}` : path,
    headers: requestHeaders(http.headers, endpoint.headers, wireDoor?.ownHeaders),
    body: sent,
    whole: !stream,
    ...(metered && { notes: [usageNote(metered.field, body)], hidden: metered.hidden }),
  }
}

/** Undefined: the provider has no such path, or something would not stay the name of a model in it. */
function pathWithModel(path: string, model: string, door: WireDoor | undefined): string | undefined {
  return /^\w[\w.-]*$/.test(model) ? door?.withModel?.(path, model) : undefined
}

/**
 * Whether fields that only the provider knows may name further models, which the key may not be allowed to use: other
 * models to try, or models of its tools and plugins. Some providers ignore the case of names, and of a name that is
 * there twice some use the first value.
 */
function namesOthers(body: JsonObject, listField: string, { fields }: ParsedBody, inPath: boolean): boolean {
  const others = Object.entries(body).filter(([name]) => name !== listField && (inPath || name !== 'model'))
  return fields.size === 0 || holdsModelName(Object.fromEntries(others))
}

/** Every provider that has such fields names them like this: `models`, `fallbacks`, `allowed_models`, `modelName`. */
const modelName = /model|fallback|^preset$/i

/** What the user names: properties of a schema, and labels. */
const namedByUser = /^(?:properties|patternProperties|\$defs|definitions|parameter_definitions|metadata|labels)$/

function holdsModelName(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(holdsModelName)
  if (!isObject(value)) return false
  return Object.entries(value).some(
    ([name, inner]) => modelName.test(name) || (!namedByUser.test(name) && holdsModelName(inner)),
  )
}

/** For a stream that would omit its usage: the field that asks for it, and the events that are sent because of it. */
function requestedUsage(
  door: WireDoor | undefined,
  body: JsonObject,
  { provider, quirks }: Endpoint,
): { field: RequestField; hidden: EventFilter } | undefined {
  const onRequest = door?.usageOnRequest
  const field = quirks.noStreamOptions ? undefined : onRequest?.missing(body, provider.id)
  return onRequest && field && { field, hidden: { mark: onRequest.mark, isHidden: onRequest.isUsage } }
}

function usageNote({ name, value }: RequestField, body: JsonObject): Note {
  const why = 'the cost of the reply is known only from its usage; the client gets the reply without it'
  const [kind, to] = name in body ? (['changed', 'to '] as const) : (['added', ''] as const)
  return { kind, what: `${name} ${to}${JSON.stringify(value)}`, why, at: `$.${name}` }
}

/** The body of a request that may be sent unchanged, except for some fields; undefined: more has to be changed. */
function passableBody(
  endpoint: Endpoint,
  { listField, changes }: { listField: string; changes: JsonObject },
  body: JsonObject,
  given: ParsedBody,
): Uint8Array | undefined {
  const sent = { ...body, ...changes }
  if (issuesOf(sent, listField, endpoint).length > 0) return undefined
  if (Object.keys(changes).length === 0) return given.bytes
  // Where a field is there twice, the body is written again.
  const bytes = given.fields.size === 0 ? Buffer.from(JSON.stringify(sent)) : editedBody(given, changes)
  sentFor.set(given.bytes, bytes)
  return bytes
}

/** With other values of some fields; new fields are at the end. Nothing else is changed, not even a space. */
function editedBody({ bytes, fields }: ParsedBody, changes: JsonObject): Buffer {
  const end = bytes.lastIndexOf('}')
  const edits = Object.entries(changes).map(([name, value]) => {
    const place = fields.get(name)
    const text = JSON.stringify(value)
    return place ? { ...place, text } : { start: end, end, text: `,${JSON.stringify(name)}:${text}` }
  })
  let before = 0
  const pieces = edits
    .toSorted((a, b) => a.start - b.start)
    .flatMap((edit) => {
      const unchanged = bytes.subarray(before, edit.start)
      before = edit.end
      return [unchanged, Buffer.from(edit.text)]
    })
  return Buffer.concat([...pieces, bytes.subarray(before)])
}

/** What was sent is in memory as long as the body is: the store compares the next one with it (`bodyCutter`). */
const sentFor = new WeakMap<Uint8Array, Uint8Array>()
