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
    await keep(store, conversation, { deleted: true })
    return { id, object: 'conversation.deleted', deleted: true }
  }
  if (method === 'POST') await keep(store, conversation, { metadata: body.metadata ?? {} })
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
  if (isObject(body.metadata)) await keep(store, conversation, { metadata: body.metadata })
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

async function keep(store: Store, { owner, id }: Conversation, data: JsonObject): Promise<void> {
  await store.putRecords([{ owner, kind, id, conversationId: id, data }])
}

async function shown(store: Store, { owner, id, createdAt }: Conversation): Promise<Json> {
  const metadata = (await store.record(owner, kind, id))?.data['metadata'] ?? {}
  const created_at = Math.floor(Date.parse(createdAt) / 1000)
  return { id: `conv_${id.replaceAll('-', '')}`, object: 'conversation', created_at, metadata }
}

interface PlacedItem {
  entry: Entry
  /** The only item of its message. */
  isAlone: boolean
  value: JsonObject
}

async function itemsOf(
  { store, wire, items: form }: ConversationForm,
  { owner, head }: Conversation,
): Promise<PlacedItem[]> {
  const format = await loadTranscript(wire)
  const path = head === null ? [] : withoutAnswered(await store.history(owner, head))
  const written = format.write(path.map(({ message }) => message))
  const items = (Array.isArray(written) ? written : []).filter(isObject)
  const owners = path.flatMap((entry) => {
    const own = format.write([entry.message])
    const count = Array.isArray(own) ? own.length : 0
    return Array.from({ length: count }, (_, i) => ({ entry, i, isAlone: count === 1 }))
  })
  return items.flatMap((item, at) => {
    const place = owners[at]
    if (!place) return []
    const { entry, i, isAlone } = place
    return [{ entry, isAlone, value: form.withId(item, `${entry.id.replaceAll('-', '')}${i}`) }]
  })
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

async function withoutItem(form: ConversationForm, conversation: Conversation, id: string): Promise<Json> {
  const { store } = form
  const { owner, head } = conversation
  const { entry, isAlone } = await placeOf(form, conversation, id)
  if (!isAlone) {
    const message = `The item '${id}' is part of a reply: delete the whole conversation, or start a new one.`
    throw new SynapseError({ kind: 'bad-input', message })
  }
  const path = head === null ? [] : await store.history(owner, head)
  const later = path.slice(path.findIndex((one) => one.id === entry.id) + 1)
  await store.setHead(owner, conversation.id, { entryId: entry.parentId })
  if (later.length > 0) {
    await store.appendAll(
      owner,
      conversation.id,
      later.map(({ message }) => ({ message })),
    )
  }
  return shown(store, conversation)
}

function checkCount(items: readonly JsonObject[]): void {
  if (items.length <= mostItems) return
  const message = `Invalid 'items': array too long. Expected an array with maximum length ${mostItems}, but got an array with length ${items.length} instead.`
  throw new SynapseError({ kind: 'bad-input', code: 'array_above_max_length', message })
}
