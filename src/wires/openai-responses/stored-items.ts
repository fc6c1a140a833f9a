// The items that a server stores: of responses, and of conversations, which consist of them.

import { SynapseError, type Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { ConversationForm, StoredItems } from '../service.ts'
import { objectsIn, textIn, valueFor } from '../shared/json-fields.ts'
import { itemsOf, writeUsage } from './emulate.ts'
import { itemId } from './types.ts'

export const conversationForm: ConversationForm = {
  endpoint: 'conversations',
  id: (key) => `conv_${key}`,
  keyIn: (id) => /^conv_([0-9a-f]{32})$/.exec(id)?.[1],
  whole: ({ id, createdAt, metadata }) => ({ id, object: 'conversation', created_at: createdAt, metadata }),
  deleted: (id) => ({ id, object: 'conversation.deleted', deleted: true }),
  unknown: (id) => ({ kind: 'not-found', message: `Conversation with id '${id}' not found.` }),
  unknownItem: (id) => ({ kind: 'not-found', message: `Item with id '${id}' not found.` }),
  metadataIn({ metadata }, { isRequired }) {
    if (isObject(metadata)) return metadata
    if (metadata === undefined && isRequired) throw missing('metadata')
    if (metadata == null) return {}
    throw wrongField('metadata', "Invalid type for 'metadata': expected an object.")
  },
  itemsIn({ items: given }, { isRequired }) {
    if (given === undefined && isRequired) throw missing('items')
    const items = objectsIn(given)
    const isList = given == null || (Array.isArray(given) && items.length === given.length)
    if (!isList) throw wrongField('items', "Invalid type for 'items': expected an array of objects.")
    const failure = tooMany(items)
    if (failure) throw new SynapseError(failure)
    return items
  },
}

export const storedItems: StoredItems = {
  withId: withItemId,
  idsOf: (parts, replyId) => itemsOf(parts, replyId).map(({ id }) => textIn(id)),
  inBody: ({ output }) => objectsIn(output),
  callIdIn: ({ call_id: id }) => (typeof id === 'string' ? id : undefined),
  withCallId: (item, id) => ({ ...item, call_id: id }),
  referenceIn: (item) => (isObject(item) && item.type === 'item_reference' ? textIn(item.id) : undefined),
  compaction: (exchangeId, token) => ({
    id: itemId('compaction', exchangeId),
    type: 'compaction',
    encrypted_content: token,
  }),
  continuing: (item, { previous_response_id: _id, ...body }) => ({ ...body, input: [item, ...ownItems(body)] }),
  // Required even of a server that has a default model.
  refuseCompaction: ({ model }) => (model ? undefined : missing('model').failure),
  compacted(body, { replyId, createdAt, item, usage }) {
    const users = objectsIn(body.input).filter(({ role }) => role === 'user')
    return {
      id: replyId,
      object: 'response.compaction',
      created_at: createdAt,
      output: [...users.map((user, i) => withItemId(user, `${replyId}${i}`)), item],
      usage: writeUsage(usage),
    }
  },
  conversations: conversationForm,
}

function missing(param: string): SynapseError {
  return new SynapseError({
    kind: 'bad-input',
    code: 'missing_required_parameter',
    param,
    message: `Missing required parameter: '${param}'.`,
  })
}

function wrongField(param: string, message: string): SynapseError {
  return new SynapseError({ kind: 'bad-input', param, message })
}

/** In one request (checked 2026-11). */
const mostItems = 20

export function tooMany(items: readonly Json[]): Failure | undefined {
  if (items.length <= mostItems) return undefined
  const message = `Invalid 'items': array too long. Expected an array with maximum length ${mostItems}, but got an array with length ${items.length} instead.`
  return { kind: 'bad-input', code: 'array_above_max_length', param: 'items', message }
}

/** As they arrive in a body. */
export function ownItems(body: JsonObject): JsonObject[] {
  if (typeof body.input === 'string') return [{ type: 'message', role: 'user', content: body.input }]
  return objectsIn(body.input)
}

/** Items get an id when they are stored; a message is stored in its full form, which clients may send without. */
export function withItemId(item: JsonObject, seed: string): JsonObject {
  const type = textIn(item.type) || 'message'
  const prefix = valueFor(itemPrefixes, type) ?? 'item'
  const part = item.role === 'assistant' ? 'output_text' : 'input_text'
  const given = typeof item.content === 'string' ? [{ type: part, text: item.content }] : item.content
  const content = Array.isArray(given) ? given.map(withReplyFields) : given
  return {
    ...item,
    type,
    id: item.id ?? `${prefix}_${seed.replace(/^[a-z]+_/, '')}`,
    ...(content !== undefined && { content }),
    ...(statusTypes.has(type) && { status: item.status ?? 'completed' }),
  }
}

/** Fields that every text of a reply has, and that clients read without looking. */
function withReplyFields(part: Json): Json {
  return isObject(part) && part.type === 'output_text' ? { annotations: [], logprobs: [], ...part } : part
}

const statusTypes: ReadonlySet<string> = new Set([
  'message',
  'function_call',
  'function_call_output',
  'shell_call',
  'shell_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'computer_call',
  'computer_call_output',
])

const itemPrefixes: Record<string, string> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  shell_call: 'sh',
  shell_call_output: 'sho',
  local_shell_call: 'lsh',
  local_shell_call_output: 'lsho',
  apply_patch_call: 'apc',
  apply_patch_call_output: 'apco',
  computer_call: 'cu',
  computer_call_output: 'cuo',
  reasoning: 'rs',
  compaction: 'cmp',
}
