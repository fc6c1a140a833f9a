// What only the first request of a stored conversation says, such as its instructions and tools: it applies to those
// that continue it. It is read from the first request itself, which is stored with its exchange.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { SynapseError } from '../../core/error.ts'
import type { Store } from '../../store/store.ts'
import type { StoredReplies } from '../../wires/service.ts'
import { textIn } from '../../wires/shared/json-fields.ts'
import { clientRequestOf } from './client-request.ts'
import { responseOf } from './match-records.ts'

export interface WithFirst {
  /** The body, with the fields of the first request. */
  body: JsonObject
  /** The exchange of the first request; absent: the request is the first one. */
  firstExchange?: string
}

/** Throws the error of the API if the first request is not stored, so that the client sends everything again. */
export async function withFirstRequest(
  { store, owner }: { store: Store; owner: string },
  stored: StoredReplies | undefined,
  body: JsonObject,
): Promise<WithFirst> {
  const previousId = stored?.previousId(body)
  if (!stored?.ofFirst || previousId === undefined) return { body }
  const previous = await responseOf(store, owner, previousId)
  const firstExchange = textIn(previous?.data.firstExchange)
  const first = await requestBody(store, owner, firstExchange)
  if (!first) throw new SynapseError(stored.unknownPrevious(previousId.slice(0, 100)))
  const fields = stored.ofFirst.filter((name) => first[name] !== undefined && body[name] === undefined)
  const given = Object.fromEntries(fields.map((name) => [name, first[name] as Json]))
  return { body: { ...body, ...given }, firstExchange }
}

/** The request of a client that an exchange answers; undefined: it is not stored. */
export async function requestBody(store: Store, owner: string, exchangeId: string): Promise<JsonObject | undefined> {
  const request = await clientRequestOf(store, owner, exchangeId)
  const bytes = request && (await store.blob(owner, request.bodySha256))
  const body: unknown = bytes && JSON.parse(new TextDecoder().decode(bytes))
  return isObject(body) ? body : undefined
}
