// Responses that clients ask for later by their id. Only what cannot be read from the conversation is kept beside it.

import { randomBytes } from 'node:crypto'
import { SynapseError } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { noUsage } from '../../core/usage.ts'
import { pageOf } from '../../wires/shared/item-pages.ts'
import { Refusal } from '../../wires/shared/refusal.ts'
import { requestFields as fieldsOf } from '../../wires/openai-responses/state-fields.ts'
import { withItemId } from '../../wires/openai-responses/state-items.ts'
import { loadTranscript } from '../../wires/list.ts'
import type { WireService } from '../../wires/service.ts'
import type { StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { forgetResponse, notFound, responseOf } from './match.ts'
import { wholeBody } from './reply.ts'

/** An id for a reply, in the form of its wire. */
export function newId({ replyPrefix = '' }: Pick<WireService, 'replyPrefix'>): string {
  return replyPrefix + randomBytes(24).toString('hex')
}

/** The fields of a response that repeat the request. */
export function requestFields(body: JsonObject): JsonObject {
  return fieldsOf(body)
}

export async function storedResponse(store: Store, owner: string, id: string): Promise<Json> {
  const { data } = await known(store, owner, id)
  const entry = await store.entry(owner, textIn(data, 'entryId'))
  if (entry?.message.role !== 'assistant') throw gone(id)
  const exchange = await store.exchange(owner, textIn(data, 'exchangeId'))
  const profile = {
    model: textIn(data, 'model'),
    replyId: id,
    createdAt: typeof data.createdAt === 'number' ? data.createdAt : 0,
    inputTokens: 0,
    ...(isObject(data.fields) && { fields: data.fields }),
  }
  return wholeBody('openai-responses', entry.message, profile, exchange?.usage ?? noUsage)
}

/** Only the id is forgotten: the conversation stays, and is deleted as any other. */
export async function deletedResponse(store: Store, owner: string, id: string): Promise<Json> {
  if (!(await forgetResponse(store, owner, id))) throw gone(id)
  return { id, object: 'response', deleted: true }
}

export async function inputItems(store: Store, owner: string, id: string, query: URLSearchParams): Promise<Json> {
  const { data } = await known(store, owner, id)
  const path = await store.history(owner, textIn(data, 'entryId'))
  const items = (await loadTranscript('openai-responses')).write(path.slice(0, -1).map(({ message }) => message))
  const list = (Array.isArray(items) ? items : []).filter(isObject)
  try {
    return pageOf(
      list.map((item, i) => withItemId(item, `${id}-${i}`)),
      query,
    )
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { error: said } = isObject(error.body) ? error.body : {}
    const message = isObject(said) && typeof said.message === 'string' ? said.message : 'The query is not valid.'
    throw new SynapseError({ kind: 'bad-input', message })
  }
}

async function known(store: Store, owner: string, id: string): Promise<StoredRecord> {
  return responseOf(store, owner, id).catch((error: unknown) => {
    throw error instanceof SynapseError && error.failure.code === notFound ? gone(id) : error
  })
}

function gone(id: string): SynapseError {
  return new SynapseError({ kind: 'not-found', message: `Response with id '${id}' not found.` })
}

function textIn(data: JsonObject, name: string): string {
  const value = data[name]
  return typeof value === 'string' ? value : ''
}
