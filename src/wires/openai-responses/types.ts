// The types of the Responses wire: items, and the facts about each type of item.
//
// A conversation here is one flat list of items. One model reply is several of them (reasoning, calls, messages), and
// only `call_id` ties a call to its output; the `id` of an item is separate, with its own rules.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { hashedId } from '../shared/ids.ts'

export const protocolId = 'openai-responses'

/** One element of `input` or `output`. */
export type Item = JsonObject

/** The servers with OpenAI's own implementation: items that only it supports are sent to no other. */
export function isOpenAI(provider: string | undefined): boolean {
  return provider === undefined || provider === 'openai' || provider.startsWith('azure')
}

interface ItemFacts {
  /** The required prefix of the `id` (checked 2026-11). */
  prefix?: string
  /** Is accepted back without its `id` (checked 2026-11: recorded requests, and what Codex sends). */
  idOptional?: true
  /** Must be answered by the client, with an item that names its `call_id`, or its `id` for an approval. */
  asksClient?: true
  /** Sent by the server but not accepted back. */
  outputOnly?: true
}

export const facts = {
  message: { prefix: 'msg', idOptional: true },
  reasoning: { prefix: 'rs', idOptional: true },
  compaction: { prefix: 'cmp', idOptional: true },
  function_call: { prefix: 'fc', idOptional: true, asksClient: true },
  custom_tool_call: { prefix: 'ct', idOptional: true, asksClient: true },
  web_search_call: { prefix: 'ws', idOptional: true },
  file_search_call: { prefix: 'fs' },
  code_interpreter_call: { prefix: 'ci' },
  image_generation_call: { prefix: 'ig' },
  mcp_list_tools: { prefix: 'mcpl' },
  mcp_call: { prefix: 'mcp' },
  mcp_approval_request: { prefix: 'mcpr', asksClient: true },
  computer_call: { prefix: 'cu', asksClient: true },
  local_shell_call: { prefix: 'lsh', asksClient: true },
  shell_call: { prefix: 'sh', idOptional: true, asksClient: true },
  shell_call_output: { prefix: 'sho', idOptional: true },
  apply_patch_call: { prefix: 'apc', idOptional: true, asksClient: true },
  tool_search_call: { prefix: 'tsc', idOptional: true },
  tool_search_output: { prefix: 'tso', idOptional: true },
  program: { prefix: 'cm' },
  program_output: { prefix: 'cmo' },
  // xAI runs these itself and has no input form for them.
  x_search_call: { outputOnly: true },
  code_execution_call: { outputOnly: true },
  view_image_call: { outputOnly: true },
  view_x_video_call: { outputOnly: true },
} as const satisfies Record<string, ItemFacts>

export function factsOf(type: string): ItemFacts {
  return Object.hasOwn(facts, type) ? facts[type as keyof typeof facts] : {}
}

/** The official type requires a `type` only of the other items, but llama.cpp needs it (checked 2026-11). */
export function messageItem(role: string, content: string | JsonObject[]): Item {
  return { type: 'message', role, content }
}

/** Assistant content as a list: the official type requires an id and a status with it. */
export function assistantItem(message: JsonObject, seed: string): Item {
  const status = message.status === 'incomplete' ? 'incomplete' : 'completed'
  return { ...message, type: 'message', id: itemId('message', seed), status }
}

/**
 * An id for an item that is sent back without its own, but whose official type requires one. The same seed gives the
 * same id.
 */
export function itemId(type: string, seed: string): string {
  return hashedId(seed, { prefix: `${factsOf(type).prefix ?? 'item'}_`, length: 24 })
}

/** Types that only a client sends; together with the types of `factsOf` these are all that `input` supports. */
export const clientItemTypes: ReadonlySet<string> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'computer_call_output',
  'local_shell_call_output',
  'apply_patch_call_output',
  'mcp_approval_response',
  'item_reference',
  'additional_tools',
  'configuration_update',
  'compaction_trigger',
])

export const inputItemTypes: readonly string[] = [
  ...Object.keys(facts).filter((type) => !factsOf(type).outputOnly),
  ...clientItemTypes,
  'agent_message',
  'multi_agent_call',
  'multi_agent_call_output',
].toSorted()

/** Custom calls under these names are run by xAI itself. */
const xaiServerTools: ReadonlySet<string> = new Set([
  'x_user_search',
  'x_keyword_search',
  'x_semantic_search',
  'x_thread_fetch',
])

export const maxIdLength = 64

/** What Codex adds to its items for OpenAI, and only OpenAI accepts. */
export const codexMetadataKey = 'internal_chat_message_metadata_passthrough'
/** Fields that clients add to their items, and the providers that are known to accept them (checked 2026-11). */
const clientFields = new Map([[codexMetadataKey, ['openai']]])

/** The item without client additions, if the provider is not known to accept them. */
export function withoutClientFields(item: Item, provider: string): Item {
  const unknown = Object.keys(item).filter((key) => clientFields.get(key)?.includes(provider) === false)
  if (unknown.length === 0) return item
  return Object.fromEntries(Object.entries(item).filter(([key]) => !unknown.includes(key)))
}

/** The item's type; a message may omit it. */
export function typeOf(item: Item): string {
  return stringField(item, 'type') ?? (typeof item.role === 'string' ? 'message' : '')
}

/** Whether the item waits for an answer of the client; some types only if they run at the client. */
export function asksClient(item: Item): boolean {
  const type = typeOf(item)
  if (type === 'tool_search_call') return item.execution === 'client'
  if (type === 'shell_call') {
    const environment = item.environment
    return !(isObject(environment) && String(environment.type).startsWith('container'))
  }
  if (type === 'custom_tool_call') return !xaiServerTools.has(stringField(item, 'name') ?? '')
  return factsOf(type).asksClient === true
}

/** The id that an answer to the item names. */
export function answerKey(item: Item): string | undefined {
  return typeOf(item) === 'mcp_approval_request' ? stringField(item, 'id') : stringField(item, 'call_id')
}

/** The call that a client item answers. */
export function answeredKey(item: Item): string | undefined {
  const type = typeOf(item)
  if (type === 'mcp_approval_response') return stringField(item, 'approval_request_id')
  return type.endsWith('_output') ? stringField(item, 'call_id') : undefined
}

/** `gpt-5` and `gpt-5-2025-08-07` are the same model: a reply names the dated one. */
export function sameModel(a: string, b: string): boolean {
  return a !== '' && withoutDate(a) === withoutDate(b)
}

function withoutDate(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}

export function stringField(object: JsonObject, key: string): string | undefined {
  const value = object[key]
  return typeof value === 'string' ? value : undefined
}

export function numberField(object: JsonObject, key: string): number | undefined {
  const value = object[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export function objectField(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key]
  return isObject(value) ? value : undefined
}

export function objectFields(object: JsonObject, key: string): JsonObject[] {
  const value = object[key]
  return Array.isArray(value) ? value.filter((element: Json) => isObject(element)) : []
}
