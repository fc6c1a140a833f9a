// OpenAI's other endpoints: stored responses, conversations with their items, and compaction on demand.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Endpoint, EndpointRequest, Incoming } from '../service.ts'
import { summaryLabel } from '../shared/injected-text.ts'
import { listOf, pageOf } from '../shared/item-pages.ts'
import { objectsIn, textIn } from '../shared/json-fields.ts'
import { lettersFrom } from '../shared/letters.ts'
import { promptTokens } from '../shared/prompt.ts'
import { openaiRefusal, refusalFor } from '../shared/refusal.ts'
import { seal, unseal } from '../shared/seal.ts'
import { promptOf } from './service.ts'
import { conversationForm, tooMany, withItemId } from './stored-items.ts'
import type { ResponsesState, StoredConversation } from './state.ts'

/** GET and DELETE of a stored response, and the list of its input items. */
export function handleResponse(service: ResponsesState, operation: Endpoint, visit: EndpointRequest): Json {
  const { id = '' } = operation
  const response = service.responses.get(id, visit.owner, visit.now)
  if (!response) throw openaiRefusal(404, `Response with id '${id}' not found.`)
  if (visit.method === 'DELETE') {
    service.responses.delete(id, visit.owner)
    return { id, object: 'response', deleted: true }
  }
  return operation.part === 'input_items'
    ? pageOf(
        response.input.map((item, i) => withItemId(item, `${id}${i}`)),
        visit.query,
      )
    : response.whole
}

export function handleConversation(service: ResponsesState, operation: Endpoint, visit: EndpointRequest): Json {
  const { owner, now, method, body, seed } = visit
  const { id, part, item } = operation
  if (id === undefined) {
    const conversation: StoredConversation = {
      createdAt: Math.floor(now / 1000),
      metadata: body.metadata ?? {},
      items: newItems(body, seed),
      locked: false,
    }
    const newId = conversationForm.id(lettersFrom(seed, 32))
    service.conversations.put(newId, owner, conversation, now)
    return conversationBody(newId, conversation)
  }
  const conversation = service.conversations.get(id, owner, now)
  if (!conversation) throw openaiRefusal(404, conversationForm.unknown(id).message, { param: 'conversation' })
  if (part === 'items') return handleItems(id, conversation, item, visit)
  if (method === 'DELETE') {
    service.conversations.delete(id, owner)
    return conversationForm.deleted(id)
  }
  if (method === 'POST') conversation.metadata = body.metadata ?? conversation.metadata
  return conversationBody(id, conversation)
}

function handleItems(
  id: string,
  conversation: StoredConversation,
  item: string | undefined,
  visit: EndpointRequest,
): Json {
  const { method, body, seed, query } = visit
  if (item !== undefined) {
    const index = conversation.items.findIndex((candidate) => candidate.id === item)
    const stored = conversation.items[index]
    if (!stored) throw openaiRefusal(404, conversationForm.unknownItem(item).message)
    if (method !== 'DELETE') return stored
    conversation.items.splice(index, 1)
    return conversationBody(id, conversation)
  }
  if (method !== 'POST') return pageOf(conversation.items, query)
  const items = newItems(body, seed)
  const failure = tooMany(items)
  if (failure) throw openaiRefusal(400, failure.message, failure)
  conversation.items.push(...items)
  return listOf(items)
}

/** `POST /responses/compact`: all user messages unchanged, and one encrypted item after them. */
export function compact(service: ResponsesState, incoming: Incoming): Json {
  const { body, protocol, provider, model, count, replyId, now } = incoming
  if (model === '') {
    throw openaiRefusal(400, "Missing required parameter: 'model'.", {
      param: 'model',
      code: 'missing_required_parameter',
    })
  }
  const items = service.itemsOf(incoming)
  const request: JsonObject = {
    model,
    input: items,
    ...(body.instructions !== undefined && { instructions: body.instructions }),
  }
  const [issue] = protocol.refuse(request, { provider, model })
  if (issue) throw refusalFor(protocol, issue, { provider })
  const compaction = compactionItem(incoming, items, false)
  const users = items.filter((item) => item.role === 'user').map((item, i) => withItemId(item, `${replyId}${i}`))
  const input = promptTokens(promptOf(request), count)
  const output = count(textIn(unseal(textIn(compaction.encrypted_content))?.text))
  return {
    id: replyId,
    object: 'response.compaction',
    created_at: Math.floor(now / 1000),
    output: [...users, compaction],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  }
}

function newItems(body: JsonObject, seed: string): JsonObject[] {
  return objectsIn(body.items).map((item, i) => withItemId(item, lettersFrom(`${seed} ${i}`, 24)))
}

function conversationBody(id: string, { createdAt, metadata }: StoredConversation): JsonObject {
  return conversationForm.whole({ id, createdAt, metadata: isObject(metadata) ? metadata : {} })
}

// Compaction on the Responses wire: an encrypted item that replaces what came before it. It comes from a separate
// endpoint, from a trigger item at the end of the input, or automatically when the input has grown past a threshold.
//
// An item from the endpoint comes after the user messages that it keeps; one in a reply makes the server ignore
// everything before it.

export interface MadeCompaction {
  item: JsonObject
  /** What the model sees from now on. */
  items: JsonObject[]
  /** The item is the whole answer. */
  alone: boolean
}

/** The last input item requests it. */
export function requestedCompaction(incoming: Incoming, items: readonly JsonObject[]): MadeCompaction | undefined {
  if (items.at(-1)?.type !== 'compaction_trigger') return undefined
  const item = compactionItem(incoming, items.slice(0, -1), true)
  return { item, items: [item], alone: true }
}

/** The input has grown past `compact_threshold`, and there is something to compact. */
export function autoCompaction(incoming: Incoming, body: JsonObject): MadeCompaction | undefined {
  const setting = objectsIn(body.context_management).find((edit) => edit.type === 'compaction')
  const threshold = setting?.compact_threshold
  if (typeof threshold !== 'number') return undefined
  if (promptTokens(promptOf(body), incoming.count) < threshold) return undefined
  const items = objectsIn(body.input)
  const lastUser = items.findLastIndex((item) => item.role === 'user')
  if (lastUser <= 0) return undefined
  const item = compactionItem(incoming, items, true)
  return { item, items: [item, ...items.slice(lastUser)], alone: false }
}

function compactionItem(incoming: Incoming, items: readonly JsonObject[], standsForAll: boolean): JsonObject {
  const { replyId, owner } = incoming
  const { messages } = incoming.read({ ...incoming.body, input: items.filter((item) => !sealedIn(item)) })
  const earlier = items.map((item) => sealedIn(item)?.text).filter((text) => typeof text === 'string')
  const text = [...earlier, incoming.summarise(messages)].join('\n')
  return {
    id: `cmp_${replyId.replace(/^[a-z]+_/, '')}`,
    type: 'compaction',
    encrypted_content: seal({ kind: 'compaction', owner, standsForAll, text }),
  }
}

/** What is left when everything before the newest complete compaction is ignored. */
export function prune(items: readonly JsonObject[]): JsonObject[] {
  const last = items.findLastIndex((item) => sealedIn(item)?.standsForAll === true)
  return items.slice(Math.max(last, 0))
}

/** The items with every readable summary written out. */
export function readableItems(items: readonly JsonObject[]): JsonObject[] {
  return items
    .filter((item) => item.type !== 'compaction_trigger')
    .map((item) => {
      const text = sealedIn(item)?.text
      return typeof text === 'string'
        ? { type: 'message', role: 'developer', content: `${summaryLabel}\n${text}` }
        : item
    })
}

function sealedIn(item: JsonObject): JsonObject | undefined {
  if (item.type !== 'compaction' || typeof item.encrypted_content !== 'string') return undefined
  const payload = unseal(item.encrypted_content)
  return isObject(payload) ? payload : undefined
}
