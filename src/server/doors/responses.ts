// Replies that clients retrieve later by their ids. Only what cannot be derived from the conversation is stored
// separately.

import { SynapseError } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Reply, Stop } from '../../core/message.ts'
import { noUsage } from '../../core/usage.ts'
import { randomHex } from '../../store/ids.ts'
import type { StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { loadService, loadTranscript } from '../../wires/list.ts'
import type { StoredItems, StoredReplies, WireService } from '../../wires/service.ts'
import { objectsIn, textIn } from '../../wires/shared/json-fields.ts'
import { pageOf } from '../../wires/shared/item-pages.ts'
import { Refusal } from '../../wires/shared/refusal.ts'
import { lastShown, replyAt } from './hidden-calls.ts'
import { forgetResponse, responseOf } from './match-records.ts'
import { emptyReply, repeatedReply } from './reply.ts'
import { sealOf } from './seal.ts'

/** The requested replies: those of an owner, in the format of a wire. */
export interface Replies {
  store: Store
  owner: string
  wire: string
  stored: StoredReplies
}

/** An id for a reply, in the form of its wire. */
export function newId({ replyPrefix = '' }: Pick<WireService, 'replyPrefix'>): string {
  return replyPrefix + randomHex(48)
}

export async function storedResponse(replies: Replies, id: string, stream: boolean): Promise<Response> {
  const { store, owner, wire } = replies
  const { data } = await known(replies, id)
  const reply = emptyReplyIn(data) ?? (await replyAt(store, owner, textIn(data.entryId)))
  if (!reply) throw gone(replies, id)
  const exchange = await store.exchange(owner, textIn(data.exchangeId))
  // The client has received the bytes of the provider.
  const isPassed = data.passedBy !== undefined
  const profile = {
    model: isPassed ? reply.origin.model || textIn(data.model) : textIn(data.model),
    replyId: id,
    createdAt: typeof data.createdAt === 'number' ? data.createdAt : 0,
    inputTokens: 0,
    ...(isObject(data.fields) && { fields: data.fields }),
    token: await sealOf(store).then((seal) => () => seal.token(owner, textIn(data.exchangeId))),
  }
  const conversationId = textIn(data.conversationId)
  const replying = { wire, service: await loadService(wire), profile }
  return repeatedReply(replying, reply, exchange?.usage ?? noUsage, { conversationId, stream, isPassed })
}

function emptyReplyIn({ stop }: JsonObject): Reply | undefined {
  return isObject(stop) ? emptyReply(stop as unknown as Stop) : undefined
}

/** Only the id is deleted: the conversation stays, and is deleted like any other. */
export async function deletedResponse(replies: Replies, id: string): Promise<Json> {
  const { store, owner, stored } = replies
  if (!(await forgetResponse(store, owner, id))) throw gone(replies, id)
  return stored.deleted(id)
}

/** A page of items in order of arrival. */
export function pageFor(items: readonly JsonObject[], query: URLSearchParams): Json {
  try {
    return pageOf(items, query)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { error: inner } = isObject(error.body) ? error.body : {}
    const message = isObject(inner) && typeof inner.message === 'string' ? inner.message : 'The query is not valid.'
    throw new SynapseError({ kind: 'bad-input', message })
  }
}

/** Only background responses could be cancelled, and there are none. */
export async function cancelledResponse(replies: Replies, id: string): Promise<never> {
  await known(replies, id)
  throw new SynapseError({ kind: 'bad-input', message: replies.stored.notCancellable })
}

export async function inputItems(
  replies: Replies,
  { withId }: StoredItems,
  id: string,
  query: URLSearchParams,
): Promise<Json> {
  const { store, owner, wire } = replies
  const { data } = await known(replies, id)
  const path = await store.history(owner, textIn(data.entryId))
  const { before } = lastShown(path)
  const items = objectsIn((await loadTranscript(wire)).write(before.map(({ message }) => message)))
  return pageFor(
    items.map((item, i) => withId(item, `${id}-${i}`)),
    query,
  )
}

async function known(replies: Replies, id: string): Promise<StoredRecord> {
  const record = await responseOf(replies.store, replies.owner, id)
  if (!record) throw gone(replies, id)
  return record
}

function gone({ stored }: Replies, id: string): SynapseError {
  return new SynapseError(stored.unknown(id))
}
