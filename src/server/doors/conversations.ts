// Conversations of OpenAI's API: the conversations of the store under the ids of that API. Their items are the messages
// of the current branch; a deleted one stays in the log, on another branch.

import { SynapseError } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Conversation, Entry } from '../../core/log.ts'
import type { Message } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import type { StoredItems } from '../../wires/service.ts'
import { listOf } from '../../wires/shared/item-pages.ts'
import { objectsIn } from '../../wires/shared/json-fields.ts'
import { isInterrupted } from '../../wires/shared/replayable.ts'
import { loadTranscript } from '../../wires/list.ts'
import type { TranscriptFormat } from '../../wires/shared/transcript.ts'
import { grouped } from './canonical.ts'
import { withoutAnswered } from './hidden-calls.ts'
import type { StartingPoint } from './match.ts'
import { pageFor } from './responses.ts'

const kind = 'door-conversation'
const mostItems = 20

export interface ConversationsRequest {
  method: string
  id?: string | undefined
  isItems: boolean
  item?: string | undefined
  body: JsonObject
  query: URLSearchParams
}

/** Where conversations are stored, and the format of their items. */
export interface ConversationForm {
  store: Store
  wire: string
  items: StoredItems
}

export async function atConversations(
  form: ConversationForm,
  owner: string,
  request: ConversationsRequest,
): Promise<Json> {
  const { method, id, isItems, item, body, query } = request
  const { store } = form
  if (id === undefined) return created(form, owner, body)
  const conversation = await conversationOf(store, owner, id)
  if (isItems && item !== undefined) {
    return method === 'DELETE' ? withoutItem(form, conversation, item) : itemOf(form, conversation, item)
  }
  if (isItems && method === 'POST') return added(form, conversation, body)
  if (isItems)
    return pageFor(
      (await itemsOf(form, conversation)).map(({ value }) => value),
      query,
    )
  if (method === 'DELETE') {
    await updateData(store, conversation, { deleted: true })
    return { id, object: 'conversation.deleted', deleted: true }
  }
  if (method === 'POST') await updateData(store, conversation, { metadata: body.metadata ?? {} })
  return shown(store, conversation)
}

/** Where a request with these messages continues, if it names a conversation. */
export async function startInConversation(
  store: Store,
  owner: string,
  id: string,
  messages: readonly Message[],
): Promise<StartingPoint> {
  const { id: conversationId, head } = await conversationOf(store, owner, id)
  if (head === null) return { conversationId, hash: '' }
  const path = await store.history(owner, head)
  const unanswered = await unansweredPath(store, owner, conversationId, path)
  // A retry: the messages of the request are stored, but have no answer. It continues there, and nothing is stored
  // twice.
  const before = unanswered.slice(0, -messages.length)
  const isRetry = unanswered.length > 0 && hashOf(messages, hashOf(before)) === hashOf(unanswered)
  const start = isRetry ? before : path
  const entryId = start.at(-1)?.id
  return { conversationId, ...(entryId !== undefined && { entryId }), hash: hashOf(start) }
}

/** The path up to the last question, if the provider gave no complete reply to it. Empty: it did. */
async function unansweredPath(
  store: Store,
  owner: string,
  conversationId: string,
  path: readonly Entry[],
): Promise<readonly Entry[]> {
  const [exchange] = (await store.exchanges(owner, conversationId, { limit: 1 })).items
  if (!exchange || exchange.outcome === 'done') return []
  const last = path.at(-1)
  const isPartial = last?.message.role === 'assistant' && isInterrupted(last.message.stop)
  const asked = isPartial ? path.slice(0, -1) : path
  return asked.at(-1)?.id === exchange.basedOn ? asked : []
}

function hashOf(messages: readonly (Message | Entry)[], before: string = ''): string {
  const list = messages.map((one) => ('message' in one ? one.message : one))
  return grouped(list, before).at(-1)?.hash ?? before
}

async function created(form: ConversationForm, owner: string, body: JsonObject): Promise<Json> {
  const { store } = form
  const items = objectsIn(body.items)
  checkCount(items)
  const conversation = await store.createConversation(owner)
  if (items.length > 0) await append(form, conversation, items)
  if (isObject(body.metadata)) await updateData(store, conversation, { metadata: body.metadata })
  return shown(store, conversation)
}

async function conversationOf(store: Store, owner: string, id: string): Promise<Conversation> {
  const hex = /^conv_([0-9a-f]{32})$/.exec(id)?.[1]
  const uuid = hex?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  const found = uuid === undefined ? undefined : await store.conversation(owner, uuid)
  const isDeleted = found && (await store.record(owner, kind, found.id))?.data['deleted'] === true
  if (found && !isDeleted) return found
  throw new SynapseError({ kind: 'not-found', message: `Conversation with id '${id.slice(0, 100)}' not found.` })
}

async function updateData(store: Store, conversation: Conversation, data: JsonObject): Promise<void> {
  const { owner, id } = conversation
  const before = await storedData(store, conversation)
  await store.putRecords([{ owner, kind, id, conversationId: id, data: { ...before, ...data } }])
}

async function storedData(store: Store, { owner, id }: Conversation): Promise<JsonObject> {
  return (await store.record(owner, kind, id))?.data ?? {}
}

async function shown(store: Store, conversation: Conversation): Promise<Json> {
  const { id, createdAt } = conversation
  const { metadata = {} } = await storedData(store, conversation)
  const created_at = Math.floor(Date.parse(createdAt) / 1000)
  return { id: `conv_${id.replaceAll('-', '')}`, object: 'conversation', created_at, metadata }
}

interface PlacedItem {
  entry: Entry
  /** What its id is made of. */
  key: string
  value: JsonObject
}

async function itemsOf(
  { store, wire, items: form }: ConversationForm,
  conversation: Conversation,
): Promise<PlacedItem[]> {
  const { owner, head } = conversation
  const format = await loadTranscript(wire)
  const path = head === null ? [] : withoutAnswered(await store.history(owner, head))
  const { keys } = await storedData(store, conversation)
  const items = itemsIn(format, ...path.map(({ message }) => message))
  const places = path.flatMap((entry) => {
    const moved = isObject(keys) ? keys[entry.id] : undefined
    return itemsIn(format, entry.message).map((_, i) => {
      const key = Array.isArray(moved) ? moved[i] : undefined
      return { entry, key: typeof key === 'string' ? key : `${entry.id.replaceAll('-', '')}${i}` }
    })
  })
  return items.flatMap((item, at) => {
    const place = places[at]
    return place ? [{ ...place, value: form.withId(item, place.key) }] : []
  })
}

function itemsIn({ write }: TranscriptFormat, ...messages: Message[]): JsonObject[] {
  const written = write(messages)
  return (Array.isArray(written) ? written : []).filter(isObject)
}

async function itemOf(form: ConversationForm, conversation: Conversation, id: string): Promise<Json> {
  return (await placeOf(form, conversation, id)).value
}

async function placeOf(form: ConversationForm, conversation: Conversation, id: string): Promise<PlacedItem> {
  const found = (await itemsOf(form, conversation)).find(({ value }) => value.id === id)
  if (found) return found
  throw new SynapseError({ kind: 'not-found', message: `Item with id '${id.slice(0, 100)}' not found.` })
}

async function added(form: ConversationForm, conversation: Conversation, body: JsonObject): Promise<Json> {
  const items = objectsIn(body.items)
  checkCount(items)
  const before = (await itemsOf(form, conversation)).length
  await append(form, conversation, items)
  const after = await form.store.conversation(conversation.owner, conversation.id)
  const all = after ? await itemsOf(form, after) : []
  return listOf(all.slice(before).map(({ value }) => value))
}

async function append(
  { store, wire }: ConversationForm,
  { owner, id }: Conversation,
  items: JsonObject[],
): Promise<void> {
  const { messages } = (await loadTranscript(wire)).read(items)
  await store.appendAll(
    owner,
    id,
    messages.map((message) => ({ message })),
  )
}

/** What came after the item is written again, without it. Its items keep their ids. */
async function withoutItem(form: ConversationForm, conversation: Conversation, id: string): Promise<Json> {
  const { store } = form
  const { owner, head } = conversation
  const format = await loadTranscript(form.wire)
  const { entry, key } = await placeOf(form, conversation, id)
  const placed = await itemsOf(form, conversation)
  const keysOf = (one: Entry): string[] => placed.filter((item) => item.entry.id === one.id).map((item) => item.key)
  const own = keysOf(entry)
  const left = itemsIn(format, entry.message).filter((_, i) => own[i] !== key)
  const path = head === null ? [] : await store.history(owner, head)
  const at = path.findIndex((one) => one.id === entry.id)
  const later = path.slice(at + 1)
  const rest = left.length === 0 ? [] : format.read(left).messages
  const messages = [...rest, ...later.map(({ message }) => message)]
  await store.setHead(owner, conversation.id, { entryId: entry.parentId })
  if (messages.length === 0) return shown(store, conversation)
  const entries = await store.appendAll(
    owner,
    conversation.id,
    messages.map((message) => ({ message })),
  )
  const remaining = own.filter((one) => one !== key)
  const keys = entries.map(({ id: entryId }, i) => {
    const before = later[i - rest.length]
    const count = i < rest.length ? itemsIn(format, ...rest.slice(i, i + 1)).length : 0
    return [entryId, before ? keysOf(before) : remaining.splice(0, count)]
  })
  const earlier = path.slice(0, at).map((one) => [one.id, keysOf(one)])
  await updateData(store, conversation, { keys: Object.fromEntries([...earlier, ...keys]) as JsonObject })
  return shown(store, conversation)
}

function checkCount(items: readonly JsonObject[]): void {
  if (items.length <= mostItems) return
  const message = `Invalid 'items': array too long. Expected an array with maximum length ${mostItems}, but got an array with length ${items.length} instead.`
  throw new SynapseError({ kind: 'bad-input', code: 'array_above_max_length', message })
}
