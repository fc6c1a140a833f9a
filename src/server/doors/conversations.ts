// Conversations that clients name: the conversations of the store under the ids of an API. Their items are the messages
// of the current branch; a deleted one stays in the log, on another branch.

import { asFailure, SynapseError } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Conversation, Entry } from '../../core/log.ts'
import type { Message, Part } from '../../core/message.ts'
import { holdLease } from '../../run/log/lease.ts'
import { uuidFrom, uuidv7 } from '../../store/ids.ts'
import type { NewRecord } from '../../store/records.ts'
import type { Store, Write } from '../../store/store.ts'
import type { ConversationForm, StoredItems } from '../../wires/service.ts'
import { listOf } from '../../wires/shared/item-pages.ts'
import { textIn } from '../../wires/shared/json-fields.ts'
import { loadTranscript } from '../../wires/list.ts'
import type { TranscriptFormat } from '../../wires/shared/transcript.ts'
import { clientItems, itemsIn, type ClientItem } from './client-items.ts'
import { pageFor } from './responses.ts'

const kind = 'door-conversation'

export interface ConversationsRequest {
  method: string
  id?: string | undefined
  isItems: boolean
  item?: string | undefined
  body: JsonObject
  query: URLSearchParams
}

/** Where conversations are stored, and their form. */
interface Conversations {
  store: Store
  wire: string
  items: StoredItems
}

export async function atConversations(
  place: Conversations,
  owner: string,
  request: ConversationsRequest,
): Promise<Json> {
  const { method, id, isItems, item, body, query } = request
  const {
    store,
    items: { conversations: form },
  } = place
  if (id === undefined) return createConversation(place, owner, body)
  const conversation = await conversationOf(place, owner, id)
  if (!isItems) {
    if (method === 'GET') return conversationBody(place, conversation)
    const isDeleted = method === 'DELETE'
    const change = isDeleted ? { deleted: true } : { metadata: form.metadataIn(body, { isRequired: true }) }
    await oneByOne(conversation, () => updateData(store, conversation, change))
    return isDeleted ? form.deleted(id) : conversationBody(place, conversation)
  }
  if (method === 'POST') {
    const messages = await messagesOf(place, form.itemsIn(body, { isRequired: true }))
    return withLease(place, conversation, (write) => addItems(place, conversation, messages, write))
  }
  if (item !== undefined && method === 'DELETE') {
    await withLease(place, conversation, (write, now) => deleteItem(place, now, item, write))
    return conversationBody(place, conversation)
  }
  const items = await itemsOf(place, conversation)
  if (item !== undefined) return itemWithId(place, items, item).value
  return pageFor(
    items.map(({ value }) => value),
    query,
  )
}

/** Writes items while nothing else writes to the conversation. `now`: the conversation as it is then. */
async function withLease<T>(
  { store, items: { conversations: form } }: Conversations,
  { owner, id }: Conversation,
  write: (write: Write, now: Conversation) => Promise<T>,
): Promise<T> {
  return oneByOne({ id }, async () => {
    const held = await holdLease(store, owner, id).catch((error: unknown) => {
      throw asFailure(error).kind === 'conflict' ? conversationLocked() : error
    })
    try {
      const now = await store.conversation(owner, id)
      if (!now) throw new SynapseError(form.unknown(apiId(form, id)))
      return await write(held.write(), now)
    } finally {
      await held.release()
    }
  })
}

export function conversationLocked(): SynapseError {
  const message = 'Another process is currently operating on this conversation. Please retry in a few seconds.'
  return new SynapseError({ kind: 'conflict', code: 'conversation_locked', message })
}

/** The last change of each conversation. A client may delete several items at once. */
const changes = new Map<string, Promise<unknown>>()

async function oneByOne<T>({ id }: Pick<Conversation, 'id'>, change: () => Promise<T>): Promise<T> {
  const own = (changes.get(id) ?? Promise.resolve()).then(change, change)
  changes.set(id, own)
  try {
    return await own
  } finally {
    if (changes.get(id) === own) changes.delete(id)
  }
}

async function createConversation(place: Conversations, owner: string, body: JsonObject): Promise<Json> {
  const {
    store,
    items: { conversations: form },
  } = place
  const messages = await messagesOf(place, form.itemsIn(body, { isRequired: false }))
  const metadata = form.metadataIn(body, { isRequired: false })
  const conversation = await store.createConversation(owner)
  const entries = messages.map((message) => ({ message }))
  if (entries.length > 0) await store.appendAll(owner, conversation.id, entries)
  if (Object.keys(metadata).length > 0) await updateData(store, conversation, { metadata })
  return conversationBody(place, conversation)
}

/** By the id of the API. */
export async function conversationOf(
  { store, items: { conversations: form } }: Pick<Conversations, 'store' | 'items'>,
  owner: string,
  id: string,
): Promise<Conversation> {
  const key = form.keyIn(id)
  const found = key === undefined ? undefined : await store.conversation(owner, uuidFrom(key))
  const isDeleted = found && (await store.record(owner, kind, found.id))?.data['deleted'] === true
  if (found && !isDeleted) return found
  throw new SynapseError(form.unknown(id.slice(0, 100)))
}

async function updateData(store: Store, conversation: Conversation, data: JsonObject): Promise<void> {
  await store.putRecords([await recordWith(store, conversation, () => data)])
}

async function recordWith(
  store: Store,
  { owner, id }: Conversation,
  change: (before: JsonObject) => JsonObject,
): Promise<NewRecord> {
  const { data = {}, version = 0 } = (await store.record(owner, kind, id)) ?? {}
  return { owner, kind, id, conversationId: id, data: { ...data, ...change(data) }, version }
}

async function storedData(store: Store, { owner, id }: Conversation): Promise<JsonObject> {
  return (await store.record(owner, kind, id))?.data ?? {}
}

async function conversationBody(
  { store, items: { conversations: form } }: Conversations,
  conversation: Conversation,
): Promise<Json> {
  const { id, createdAt } = conversation
  const { metadata = {} } = await storedData(store, conversation)
  return form.whole({ id: apiId(form, id), createdAt: Math.floor(Date.parse(createdAt) / 1000), metadata })
}

function apiId({ id }: ConversationForm, conversationId: string): string {
  return id(conversationId.replaceAll('-', ''))
}

async function itemsOf({ store, wire, items: form }: Conversations, conversation: Conversation): Promise<ClientItem[]> {
  const { owner, head } = conversation
  const path = head === null ? [] : await store.history(owner, head)
  const { keys } = await storedData(store, conversation)
  const counts = new Map<string, number>()
  return (await clientItems({ store, owner, wire, items: form }, path)).map(({ entry, value }) => {
    const i = counts.get(entry.id) ?? 0
    counts.set(entry.id, i + 1)
    const moved = isObject(keys) ? keys[entry.id] : undefined
    const key = Array.isArray(moved) ? moved[i] : undefined
    if (typeof key !== 'string') return { entry, value: form.withId(value, `${entry.id.replaceAll('-', '')}${i}`) }
    // Keys of earlier versions are not whole ids.
    return { entry, value: form.withId({ ...value, ...(key.includes('_') && { id: key }) }, key) }
  })
}

function itemWithId({ items: form }: Conversations, items: readonly ClientItem[], id: string): ClientItem {
  const found = items.find(({ value }) => value.id === id)
  if (found) return found
  throw new SynapseError(form.conversations.unknownItem(id.slice(0, 100)))
}

async function addItems(
  place: Conversations,
  conversation: Conversation,
  messages: readonly Message[],
  write: Write,
): Promise<Json> {
  const { store } = place
  const { owner, id } = conversation
  const entries = messages.map((message) => ({ message }))
  const appended = entries.length === 0 ? [] : await store.appendAll(owner, id, entries, write)
  const ids = new Set(appended.map((entry) => entry.id))
  const head = appended.at(-1)?.id ?? null
  const items = await itemsOf(place, { ...conversation, head })
  return listOf(items.filter(({ entry }) => ids.has(entry.id)).map(({ value }) => value))
}

async function messagesOf({ wire }: Conversations, items: JsonObject[]): Promise<readonly Message[]> {
  return items.length === 0 ? [] : (await loadTranscript(wire)).read(items).messages
}

/** What came after the item is written again without it, in one transaction. The items that are left keep their ids. */
async function deleteItem(
  place: Conversations,
  conversation: Conversation,
  itemId: string,
  write: Write,
): Promise<void> {
  const { store, items: form } = place
  const { owner, id: conversationId, head } = conversation
  const format = await loadTranscript(place.wire)
  const items = await itemsOf(place, conversation)
  const { entry } = itemWithId(place, items, itemId)
  const keysOf = ({ id }: Entry): string[] =>
    items.filter((item) => item.entry.id === id).map(({ value }) => textIn(value.id))
  const path = head === null ? [] : await store.history(owner, head)
  const index = path.findIndex(({ id }) => id === entry.id)
  const later = path.slice(index + 1).map((after) => ({ message: after.message, at: after.at, keys: keysOf(after) }))
  const rewritten = [...withoutItem({ format, form }, entry, keysOf(entry), itemId), ...later].map((one) => ({
    id: uuidv7(),
    ...one,
  }))
  if (rewritten.length === 0) {
    await store.setHead(owner, conversationId, { entryId: entry.parentId }, write)
    return
  }
  const entries = rewritten.map(({ id, message, at }, i) => ({
    id,
    message,
    at,
    parentId: rewritten[i - 1]?.id ?? entry.parentId,
    head: 'move' as const,
  }))
  const record = await recordWith(store, conversation, ({ keys }) => {
    const earlier = path.slice(0, index).filter(({ id }) => isObject(keys) && id in keys)
    const keysById = [...earlier.map((one) => [one.id, keysOf(one)]), ...rewritten.map((one) => [one.id, one.keys])]
    return { keys: Object.fromEntries(keysById) as JsonObject }
  })
  await store.appendAll(owner, conversationId, entries, write, [record])
}

/** A message without one of its items; what is left may be several messages. `keys`: of its items. */
function withoutItem(
  { format, form }: { format: TranscriptFormat; form: StoredItems },
  entry: Entry,
  keys: string[],
  key: string,
) {
  const { message, at } = entry
  const items = itemsIn(format, entry)
  const left = items.filter((_, i) => keys[i] !== key)
  const leftKeys = keys.filter((other) => other !== key)
  const isCallLeft = items.flatMap((item, i) => (form.callIdIn(item) === undefined ? [] : [keys[i] !== key]))
  const callIds = callIdsIn(message).filter((_, i) => isCallLeft[i])
  const messages = left.length === 0 ? [] : format.read(left).messages
  return withCallIds(messages, callIds, message.source !== undefined).map((part) => ({
    message: part,
    at,
    keys: leftKeys.splice(0, itemsIn(format, { message: part }).length),
  }))
}

function callIdsIn({ parts }: Message): string[] {
  return parts.flatMap((part) => ('callId' in part ? [part.callId] : []))
}

/** Read on their own, calls and results have other ids than their counterparts in other messages. */
function withCallIds(messages: readonly Message[], callIds: string[], ofClient: boolean): Message[] {
  return messages.map(({ source, ...message }) => {
    const parts = (message.parts as Part[]).map((part) =>
      'callId' in part ? { ...part, callId: callIds.shift() ?? part.callId } : part,
    )
    return { ...message, parts, ...(ofClient && source && { source }) } as Message
  })
}
