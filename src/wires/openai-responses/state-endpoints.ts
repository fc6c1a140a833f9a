// OpenAI's other endpoints: stored responses, conversations with their items, and compaction on demand.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { objectsIn, textIn } from '../shared/json-fields.ts'
import { lettersFrom } from '../shared/letters.ts'
import { listOf, pageOf } from '../shared/item-pages.ts'
import { promptTokens } from '../shared/prompt.ts'
import { promptOf } from './prompt.ts'
import { openaiRefusal, refusalFor } from '../shared/refusal.ts'
import { compactionItem } from './state-compaction.ts'
import { withItemId } from './state-items.ts'
import type { StoredConversation, ResponsesState } from './state.ts'
import type { Endpoint, EndpointRequest, Incoming } from '../service.ts'
import { unseal } from '../shared/seal.ts'

/** GET and DELETE of a stored response, and the list of its input items. */
export function handleResponse(service: ResponsesState, operation: Endpoint, visit: EndpointRequest): Json {
  const { id = '' } = operation
  const found = service.responses.get(id, visit.owner, visit.now)
  if (!found) throw openaiRefusal(404, `Response with id '${id}' not found.`)
  if (visit.method === 'DELETE') {
    service.responses.delete(id, visit.owner)
    return { id, object: 'response', deleted: true }
  }
  return operation.part === 'input_items'
    ? pageOf(
        found.input.map((item, i) => withItemId(item, `${id}${i}`)),
        visit.query,
      )
    : found.whole
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
    const made = `conv_${lettersFrom(seed, 32)}`
    service.conversations.put(made, owner, conversation, now)
    return conversationBody(made, conversation)
  }
  const conversation = service.conversations.get(id, owner, now)
  if (!conversation) throw openaiRefusal(404, `Conversation with id '${id}' not found.`, { param: 'conversation' })
  if (part === 'items') return handleItems(id, conversation, item, visit)
  if (method === 'DELETE') {
    service.conversations.delete(id, owner)
    return { id, object: 'conversation.deleted', deleted: true }
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
    const at = conversation.items.findIndex((one) => one.id === item)
    const found = conversation.items[at]
    if (!found) throw openaiRefusal(404, `Item with id '${item}' not found.`)
    if (method !== 'DELETE') return found
    conversation.items.splice(at, 1)
    return conversationBody(id, conversation)
  }
  if (method !== 'POST') return pageOf(conversation.items, query)
  const items = newItems(body, seed)
  // Checked 2026-11: at most 20 in one call.
  if (items.length > 20) {
    const message = `Invalid 'items': array too long. Expected an array with maximum length 20, but got an array with length ${items.length} instead.`
    throw openaiRefusal(400, message, { param: 'items', code: 'array_above_max_length' })
  }
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
  const whole: JsonObject = {
    model,
    input: items,
    ...(body.instructions !== undefined && { instructions: body.instructions }),
  }
  const [issue] = protocol.refuse(whole, { provider, model })
  if (issue) throw refusalFor(protocol, issue, { provider })
  const made = compactionItem(incoming, items, false)
  const users = items.filter((item) => item.role === 'user').map((item, i) => withItemId(item, `${replyId}${i}`))
  const input = promptTokens(promptOf(whole), count)
  const output = count(textIn(unseal(textIn(made.encrypted_content))?.text))
  return {
    id: replyId,
    object: 'response.compaction',
    created_at: Math.floor(now / 1000),
    output: [...users, made],
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

function conversationBody(id: string, conversation: StoredConversation): JsonObject {
  return {
    id,
    object: 'conversation',
    created_at: conversation.createdAt,
    metadata: isObject(conversation.metadata) ? conversation.metadata : {},
  }
}
