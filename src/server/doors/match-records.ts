// The records by which requests find the conversation that they continue, and its replies. They are stored per owner,
// so they survive a restart.

import type { JsonObject } from '../../core/json.ts'
import { callsOf, type Message, type Reply } from '../../core/message.ts'
import type { NewRecord, StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { textIn } from '../../wires/shared/json-fields.ts'
import { holdsToken, tokensIn } from '../../wires/shared/sealed-token.ts'
import { callKeys, keyIn } from './call-ids.ts'
import { nextHash, quotableHashes, textHash, type Group } from './canonical.ts'
import { sealOf } from './seal.ts'

const kinds = {
  prefix: 'door-prefix',
  call: 'door-call',
  text: 'door-text',
  response: 'door-response',
  exchange: 'door-exchange',
  item: 'door-item',
} as const

/** The entry that a record stands for. */
export interface RecordedEntry {
  conversationId: string
  entryId: string
  /** The digest of everything up to it. */
  hash: string
  session?: string
  /** The provider whose reply the client received unchanged. */
  passedBy?: string
}

async function entryOf(
  store: Store,
  owner: string,
  kind: keyof typeof kinds,
  id: string,
): Promise<RecordedEntry | undefined> {
  const record = await store.record(owner, kinds[kind], id)
  return record && recordedEntry(record.data)
}

export function recordedEntry({ conversationId, entryId, hash, session, passedBy }: JsonObject): RecordedEntry {
  return {
    conversationId: textIn(conversationId),
    entryId: textIn(entryId),
    hash: textIn(hash),
    ...(typeof session === 'string' && { session }),
    ...(typeof passedBy === 'string' && { passedBy }),
  }
}

/** The record by which requests find everything up to an entry. */
export function prefixRecord(
  owner: string,
  place: { conversationId: string; entryId: string },
  hash: string,
  { session, passedBy }: { session: string | undefined; passedBy?: string | undefined },
): NewRecord {
  const { conversationId, entryId } = place
  const data: JsonObject = {
    entryId,
    conversationId,
    ...(session !== undefined && { session }),
    ...(passedBy !== undefined && { passedBy }),
  }
  return { owner, kind: kinds.prefix, id: hash, conversationId, data }
}

/** The records by which requests find a reply: everything up to it, its calls, its text, the id of the response. */
export function replyRecords(
  owner: string,
  place: { conversationId: string; entryId: string },
  reply: Reply,
  about: {
    hash: string
    session: string | undefined
    passedBy?: string | undefined
    exchangeId: string
    /** For clients that retrieve the reply later. */
    response?: { id: string; data: JsonObject }
    /** The client's id of the reply. */
    replyId?: string | undefined
    /** The ids of its items. */
    itemIds?: readonly string[]
  },
): NewRecord[] {
  const { conversationId, entryId } = place
  const { passedBy, replyId, itemIds = [], session } = about
  const hash = nextHash(about.hash, [reply])
  const data: JsonObject = { entryId, conversationId, hash, ...(passedBy !== undefined && { passedBy }) }
  const record = (kind: string, id: string, more: JsonObject = {}): NewRecord => ({
    owner,
    kind,
    id,
    conversationId,
    data: { ...data, ...more },
  })
  return [
    prefixRecord(owner, place, hash, about),
    record(kinds.exchange, about.exchangeId, replyId === undefined ? {} : { replyId }),
    ...itemIds.map((id) => record(kinds.item, id, { replyId: replyId ?? '' })),
    ...callsOf(reply)
      .flatMap((call) => callKeys(call, passedBy !== undefined))
      .map((key) => record(kinds.call, key)),
    ...quotableHashes(reply).map((words) => record(kinds.text, words, session === undefined ? {} : { session })),
    ...(about.response ? [record(kinds.response, about.response.id, about.response.data)] : []),
  ]
}

/** The replies of a conversation under the ids that the client has, by entry. Old records have no such id. */
export async function replyIdsIn(
  store: Store,
  owner: string,
  conversationId: string,
): Promise<Map<string, { replyId?: string; isPassed: boolean }>> {
  const found = new Map<string, { replyId?: string; isPassed: boolean }>()
  let cursor: string | undefined
  do {
    const query = { conversationId, limit: 500, ...(cursor !== undefined && { cursor }) }
    const page = await store.records(owner, kinds.exchange, query)
    for (const { data } of page.items) {
      const { replyId } = data
      const isPassed = data.passedBy !== undefined
      found.set(textIn(data.entryId), { ...(typeof replyId === 'string' && { replyId }), isPassed })
    }
    cursor = page.next
  } while (cursor !== undefined)
  return found
}

/** The entry up to which everything has this digest. */
export function entryWithPrefix(store: Store, owner: string, hash: string): Promise<RecordedEntry | undefined> {
  return entryOf(store, owner, 'prefix', hash)
}

/** The reply whose text has this digest. */
export function replyWithText(store: Store, owner: string, words: string): Promise<RecordedEntry | undefined> {
  return entryOf(store, owner, 'text', words)
}

/** The record of a response without a reply. */
export function responseRecord(owner: string, conversationId: string, id: string, data: JsonObject): NewRecord {
  return { owner, kind: kinds.response, id, conversationId, data: { ...data, conversationId } }
}

export function responseOf(store: Store, owner: string, id: string): Promise<StoredRecord | undefined> {
  return store.record(owner, kinds.response, id)
}

/** The record of the reply that an item belongs to. */
export function itemRecord(store: Store, owner: string, id: string): Promise<StoredRecord | undefined> {
  return store.record(owner, kinds.item, id)
}

export function forgetResponse(store: Store, owner: string, id: string): Promise<boolean> {
  return store.deleteRecord(owner, kinds.response, id)
}

/** A reply of ours that the messages of a group contain: by a token, a call, or its text. */
export async function ourReplyIn(
  store: Store,
  owner: string,
  group: Group | undefined,
): Promise<RecordedEntry | undefined> {
  for (const message of group?.messages ?? []) {
    const named = await namedReply(store, owner, message)
    if (named) return named
    const words = textHash(message)
    const written = words === undefined ? undefined : await replyWithText(store, owner, words)
    if (written) return written
  }
  return undefined
}

/** The reply that a message names by a token or the id of a call: others may have the same words. */
export async function namedReply(store: Store, owner: string, message: Message): Promise<RecordedEntry | undefined> {
  const sealed = await sealedReply(store, owner, message)
  if (sealed) return sealed
  for (const { callId } of callsOf(message)) {
    const key = keyIn(callId)
    const called = key === undefined ? undefined : await entryOf(store, owner, 'call', key)
    if (called) return called
  }
  return undefined
}

/** The reply that a token in a message names, if it was made for this owner. */
async function sealedReply(store: Store, owner: string, message: Message): Promise<RecordedEntry | undefined> {
  if (message.role !== 'assistant' || !holdsToken(message.native)) return undefined
  for (const token of tokensIn(JSON.stringify(message.native))) {
    const reply = await replyOfToken(store, owner, token)
    if (reply) return reply
  }
  return undefined
}

/** The reply that a token names; undefined: it is not stored, or not for this owner. */
export async function replyOfToken(store: Store, owner: string, token: string): Promise<RecordedEntry | undefined> {
  const exchangeId = (await sealOf(store)).open(owner, token)
  return exchangeId === undefined ? undefined : entryOf(store, owner, 'exchange', exchangeId)
}
