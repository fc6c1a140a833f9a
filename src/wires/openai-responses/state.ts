// Server state of the Responses wire: the chain of `previous_response_id`, conversations, stored items, encrypted
// reasoning and compaction. State is always expanded to the whole list of items, because that is what is billed.
//
// A host without state is not the same as one that refuses it: some silently read only the new items.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Incoming, Opened, ServerState } from '../service.ts'
import { createExpiringMap, type ExpiringMap } from '../shared/expiring-map.ts'
import { objectsIn, textIn } from '../shared/json-fields.ts'
import { openaiRefusal } from '../shared/refusal.ts'
import { couldBeReal, seal, unseal } from '../shared/seal.ts'
import {
  autoCompaction,
  compact,
  handleConversation,
  handleResponse,
  type MadeCompaction,
  prune,
  readableItems,
  requestedCompaction,
} from './state-endpoints.ts'
import { requestFields } from './service.ts'
import { ownItems, withItemId } from './stored-items.ts'

interface StoredResponse {
  input: JsonObject[]
  whole: JsonObject
}

export interface StoredConversation {
  createdAt: number
  metadata: Json
  items: JsonObject[]
  /** A response is being written into it. */
  locked: boolean
}

export interface ResponsesState extends ServerState {
  responses: ExpiringMap<StoredResponse>
  conversations: ExpiringMap<StoredConversation>
  /** The items of a request including the chain, conversation and stored items that it names. Throws a Refusal. */
  itemsOf(incoming: Incoming): JsonObject[]
}

/** Hosts that store a chain (checked 2026-11). */
const keepers = new Set(['openai', 'azure-openai', 'xai', 'lmstudio'])

const month = 30 * 24 * 3_600_000

/** What a server remembers. */
interface Stores {
  readonly responses: ExpiringMap<StoredResponse>
  readonly conversations: ExpiringMap<StoredConversation>
  readonly items: ExpiringMap<JsonObject>
}

export function createResponsesState(): ResponsesState {
  const stores: Stores = {
    responses: createExpiringMap(month),
    conversations: createExpiringMap(100 * 12 * month),
    items: createExpiringMap(month),
  }
  const { responses, conversations, items } = stores
  const state: ResponsesState = {
    responses,
    conversations,
    itemsOf: (incoming) => itemsOf(stores, incoming),
    open: (incoming) => open(stores, incoming),
    async visit(endpoint, request) {
      if (endpoint.name === 'responses') return { body: handleResponse(state, endpoint, request) }
      if (endpoint.name === 'conversations') return { body: handleConversation(state, endpoint, request) }
      return { body: compact(state, await request.incoming()) }
    },
    expire: (id) => [responses.expire(id), conversations.expire(id), items.expire(id)].includes(true),
    clear() {
      responses.clear()
      conversations.clear()
      items.clear()
    },
  }
  return state
}

function open(stores: Stores, incoming: Incoming): Opened {
  const { body } = incoming
  const items = itemsOf(stores, incoming)
  const conversation = conversationOf(stores, incoming)
  const full = { ...withoutState(body), input: items }
  if (conversation) conversation.locked = true
  return {
    body: full,
    see() {
      for (const item of ownItems(body)) checkSeal(item, incoming)
      const pruned = prune(items)
      const compaction = requestedCompaction(incoming, items) ?? autoCompaction(incoming, { ...full, input: pruned })
      const view = { ...full, input: compaction?.items ?? pruned }
      return {
        view,
        readable: { ...view, input: readableItems(view.input) },
        finish: (reply) => finishReply(reply, incoming, compaction, conversation !== undefined),
        commit: (reply) => commit(stores, incoming, { input: items, whole: reply }, conversation),
      }
    },
    abandon() {
      if (conversation) conversation.locked = false
    },
  }
}

function finishReply(
  reply: JsonObject,
  incoming: Incoming,
  compaction: MadeCompaction | undefined,
  inConversation: boolean,
): JsonObject {
  const { body } = incoming
  const sealed = compaction?.alone ? [] : objectsIn(reply.output).map((item) => sealItem(item, incoming))
  return {
    ...reply,
    ...requestFields(body),
    output: [...(compaction ? [compaction.item] : []), ...sealed],
    ...(inConversation && { conversation: { id: conversationId(body) ?? '' } }),
  }
}

function commit(
  stores: Stores,
  { body, owner, now, replyId }: Incoming,
  response: StoredResponse,
  conversation: StoredConversation | undefined,
): void {
  const output = objectsIn(response.whole.output)
  if (body.store !== false) {
    stores.responses.put(replyId, owner, response, now)
    for (const item of output) if (typeof item.id === 'string') stores.items.put(item.id, owner, item, now)
  }
  if (!conversation) return
  conversation.items.push(...ownItems(body).map((item, i) => withItemId(item, `${replyId}-${i}`)), ...output)
  conversation.locked = false
}

function itemsOf(stores: Stores, incoming: Incoming): JsonObject[] {
  const { body, provider, owner, now } = incoming
  const prior = priorItems(stores, incoming)
  const priorIds = new Set(prior.map((item) => item.id).filter((id) => typeof id === 'string'))
  const items = ownItems(body).map((item): JsonObject => {
    const { id } = item
    if (typeof id === 'string' && priorIds.has(id)) {
      throw openaiRefusal(
        400,
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        {
          param: 'input',
        },
      )
    }
    if (keepers.has(provider) && (item.type === 'item_reference' || isBareReasoning(item))) {
      const stored = stores.items.get(textIn(id), owner, now)
      if (!stored) throw notPersisted(textIn(id))
      return stored
    }
    return item
  })
  return [...prior, ...items]
}

function priorItems(stores: Stores, incoming: Incoming): JsonObject[] {
  const { body, provider, owner, now } = incoming
  const id = body.previous_response_id
  if (typeof id !== 'string') return conversationOf(stores, incoming)?.items ?? []
  if (!keepers.has(provider)) return refuseState(provider, id)
  const response = stores.responses.get(id, owner, now)
  if (!response) {
    throw openaiRefusal(400, `Previous response with id '${id}' not found.`, {
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    })
  }
  return [...response.input, ...objectsIn(response.whole.output)]
}

function conversationOf(stores: Stores, incoming: Incoming): StoredConversation | undefined {
  const { body, owner, now, provider } = incoming
  const id = conversationId(body)
  if (id === undefined || !keepers.has(provider)) return undefined
  const conversation = stores.conversations.get(id, owner, now)
  // The text for an unknown conversation is not recorded; this one follows that for a response.
  if (!conversation) throw openaiRefusal(404, `Conversation with id '${id}' not found.`, { param: 'conversation' })
  if (conversation.locked) {
    throw openaiRefusal(
      400,
      'Another process is currently operating on this conversation. Please retry in a few seconds.',
      { param: 'conversation', code: 'conversation_locked' },
    )
  }
  return conversation
}

/** What hosts without state do with an id (checked 2026-11): three refuse it, each differently; the rest ignore it. */
function refuseState(provider: string, id: string): [] {
  if (provider === 'llama.cpp') throw openaiRefusal(400, "llama.cpp does not support 'previous_response_id'.")
  if (provider === 'vllm') throw openaiRefusal(404, `Response with id '${id}' not found.`)
  if (provider === 'openrouter') {
    throw openaiRefusal(400, 'previous_response_id is not supported', { param: 'previous_response_id' })
  }
  return []
}

function notPersisted(id: string) {
  return openaiRefusal(
    404,
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    { param: 'input' },
  )
}

/** Reasoning with only its id: the server must have stored it. */
function isBareReasoning(item: JsonObject): boolean {
  return item.type === 'reasoning' && typeof item.id === 'string' && typeof item.encrypted_content !== 'string'
}

function checkSeal(item: JsonObject, incoming: Incoming): void {
  const text = item.encrypted_content
  if ((item.type !== 'reasoning' && item.type !== 'compaction') || typeof text !== 'string') return
  const payload = unseal(text)
  if (!payload && couldBeReal(text)) return
  if (payload?.kind === item.type && payload.owner === incoming.owner) return
  const reason =
    payload && payload.owner !== incoming.owner
      ? 'Encrypted content organization_id did not match the target organization.'
      : 'Encrypted content could not be decrypted or parsed.'
  const id = typeof item.id === 'string' ? item.id : ''
  throw openaiRefusal(400, `The encrypted content for item ${id} could not be verified. Reason: ${reason}`, {
    code: 'invalid_encrypted_content',
  })
}

function sealItem(item: JsonObject, { owner, model }: Incoming): JsonObject {
  if (item.type !== 'reasoning') return item
  const text = objectsIn(item.summary)
    .map((part) => textIn(part.text))
    .join('\n')
  return { ...item, encrypted_content: seal({ kind: 'reasoning', owner, model, id: item.id ?? null, text }) }
}

function withoutState(body: JsonObject): JsonObject {
  const { previous_response_id: _chain, conversation: _conversation, ...rest } = body
  return rest
}

function conversationId(body: JsonObject): string | undefined {
  const { conversation } = body
  const id = isObject(conversation) ? conversation.id : conversation
  return typeof id === 'string' ? id : undefined
}
