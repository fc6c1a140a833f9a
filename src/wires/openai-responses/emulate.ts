// What the API would have sent: a reply, complete or as the events of a stream, and its errors.

import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, Reply, ServerToolPart, ToolCallPart } from '../../core/message.ts'
import { nameInside, textOfCall } from '../../core/tool-kinds.ts'
import type { Usage } from '../../core/usage.ts'
import { listIn, objectIn, valueAt } from '../shared/json-fields.ts'
import { splitText } from '../shared/text.ts'
import type { WholeProfile } from '../wire.ts'
import { clientCall, isClientTool, prefixOfClientCall } from './client-tools.ts'
import { asksClient, type Item, objectFields, protocolId, stringField, typeOf } from './types.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const native = reply.origin.protocol === protocolId && reply.native.length > 0
  const status = statusOf(reply, profile)
  return {
    id: profile.replyId,
    object: 'response',
    created_at: profile.createdAt,
    ...status,
    ...requestDefaults,
    model: profile.model,
    output: native ? reply.native : outputOf(reply.parts, profile, status.status === 'incomplete'),
    usage: writeUsage(profile.usage),
  }
}

/** The fields of a response that repeat the request, with their defaults. */
export const requestDefaults: JsonObject = {
  background: false,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
}

/** How the response ended. */
export function statusOf(reply: Reply, { createdAt }: Pick<WholeProfile, 'createdAt'>): JsonObject {
  const ended = endOf(reply)
  return { completed_at: ended.status === 'completed' ? createdAt : null, ...ended }
}

function endOf(reply: Reply): JsonObject {
  const { parts } = reply
  const { reason } = reply.stop
  // Clients of this wire do not know another wire's name for the same reason.
  const raw = reply.origin.protocol === protocolId ? reply.stop.raw : undefined
  switch (reason) {
    case 'length':
      return { status: 'incomplete', error: null, incomplete_details: { reason: raw ?? 'max_output_tokens' } }
    case 'paused':
    case 'interrupted':
      if (parts.length > 0 && parts.every((part) => part.type === 'compaction')) break
      return { status: 'incomplete', error: null, incomplete_details: { reason: raw ?? 'steered' } }
    case 'failed':
      return {
        status: 'failed',
        error: { code: 'server_error', message: 'The server had an error while processing your request.' },
        incomplete_details: null,
      }
    case 'cancelled':
      return { status: 'cancelled', error: null, incomplete_details: null }
    case 'refusal':
      if (parts.some((part) => part.type === 'refusal')) break
      return { status: 'incomplete', error: null, incomplete_details: { reason: 'content_filter' } }
  }
  return { status: 'completed', error: null, incomplete_details: null }
}

function outputOf(parts: readonly Part[], { replyId, token, fields }: WholeProfile, isCut: boolean): Item[] {
  const items = itemsOf(parts, replyId, { token, asSummary: asksForSummary(fields) })
  const last = items.at(-1)
  return last && isCut ? [...items.slice(0, -1), cutOff(last)] : items
}

/** The last item of an incomplete response, if that shows it: a message or a call is incomplete too. */
export function cutOff(item: Item): Item {
  const type = typeOf(item)
  // The type has no other status for it.
  if (type === 'apply_patch_call') return { ...item, status: 'in_progress' }
  return cutTypes.has(type) ? { ...item, status: 'incomplete' } : item
}

const cutTypes: ReadonlySet<string> = new Set([
  'message',
  'function_call',
  'custom_tool_call',
  'tool_search_call',
  'shell_call',
  'local_shell_call',
  'computer_call',
])

/**
 * Whether the client has asked for a summary of the reasoning, which is where it then looks for it. GitHub Copilot CLI
 * shows reasoning in `content` as an answer, and others do not show it (checked 2026-11).
 */
export function asksForSummary({ reasoning }: JsonObject = {}): boolean {
  return isObject(reasoning) && typeof reasoning.summary === 'string'
}

/**
 * The output items for parts of another wire. Adjacent texts are contents of one message. `before`: how many items
 * there already are. `asSummary`: reasoning is written as its summary.
 */
export function itemsOf(
  parts: readonly Part[],
  replyId: string,
  {
    before = 0,
    token,
    asSummary = false,
  }: { before?: number; token?: WholeProfile['token']; asSummary?: boolean } = {},
): Item[] {
  const items: Item[] = []
  let message: { content: Json[] } | undefined
  const add = (prefix: string, item: Item) => {
    items.push({ id: itemId(prefix, replyId, before + items.length), ...item })
    message = undefined
  }
  const say = (content: JsonObject) => {
    if (!message) {
      message = { content: [] }
      const { content: list } = message
      items.push({
        id: itemId('msg_', replyId, before + items.length),
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: list,
      })
    }
    message.content.push(content)
  }

  for (const part of parts) {
    switch (part.type) {
      case 'text':
        say({ type: 'output_text', annotations: part.citations ?? [], logprobs: [], text: part.text })
        break
      case 'refusal':
        say({ type: 'refusal', refusal: part.text })
        break
      case 'reasoning':
        add('rs_', {
          type: 'reasoning',
          ...reasoningOf(part.text, asSummary || part.hidden === true),
          // OpenAI's API has no status here, but xAI's has, and the AI SDK's client of it requires one.
          ...(token && { status: 'completed', encrypted_content: token() ?? null }),
        })
        break
      case 'tool-call':
        add(...callOf(part))
        break
      case 'server-tool':
        add(...serverToolOf(part))
        break
      case 'media':
        if (part.data.kind === 'base64' && part.mediaType.startsWith('image/')) {
          add('ig_', { type: 'image_generation_call', status: 'completed', result: part.data.base64 })
        }
        break
      case 'compaction':
        add('cmp_', { type: 'compaction', encrypted_content: token?.() ?? part.text ?? '' })
        break
      case 'opaque':
        if (part.kind.startsWith(`${protocolId}/`) && typeof part.data === 'object' && part.data !== null) {
          items.push(part.data as Item)
          message = undefined
        }
    }
  }
  return items
}

function callOf(part: ToolCallPart): [string, Item] {
  const { kind, namespace, input, malformed } = part
  const call = { status: 'completed', call_id: part.alias ?? part.callId }
  const name = namespace === undefined ? { name: part.name } : { name: nameInside(namespace, part.name), namespace }
  if (kind === 'free-form') {
    return ['ctc_', { type: 'custom_tool_call', ...call, ...name, input: textOfCall(part) }]
  }
  if (isClientTool(kind)) {
    // What OpenAI sends: the commands are run by the client.
    const environment = kind === 'shell' && { environment: { type: 'local' } }
    return [prefixOfClientCall(kind), { ...clientCall(kind, part), ...environment, call_id: call.call_id }]
  }
  if (kind === 'search') return ['tsc_', { type: 'tool_search_call', ...call, execution: 'client', arguments: input }]
  return ['fc_', { type: 'function_call', ...call, ...name, arguments: malformed ?? JSON.stringify(input) }]
}

function reasoningOf(text: string, hidden: boolean): JsonObject {
  if (!hidden) return { summary: [], content: [{ type: 'reasoning_text', text }] }
  return { summary: text === '' ? [] : [{ type: 'summary_text', text }] }
}

/** A server tool of another provider is written as an MCP call, the one form with a free name and a free output. */
function serverToolOf(part: ServerToolPart): [string, Item] {
  const { name, input, output } = part
  if (name === 'web_search' && output === undefined) {
    return ['ws_', { type: 'web_search_call', status: 'completed', action: input ?? { type: 'search' } }]
  }
  return [
    'mcp_',
    {
      type: 'mcp_call',
      status: 'completed',
      approval_request_id: null,
      server_label: 'server',
      name,
      arguments: input === undefined ? '' : typeof input === 'string' ? input : JSON.stringify(input),
      output: output === undefined ? null : typeof output === 'string' ? output : JSON.stringify(output),
      error: null,
    },
  ]
}

function itemId(prefix: string, replyId: string, index: number): string {
  const digest = createHash('sha256').update(`${replyId}#${index}`).digest('hex')
  return prefix + digest.slice(0, 48)
}

// Splits a complete response into the events that would have streamed it, so that there is one way of decoding.

const defaultPiece = 40

export function split(body: Json, piece: number = defaultPiece): Json[] {
  if (!isObject(body) || !Array.isArray(body.output)) return [body]
  const events: JsonObject[] = []
  const emit = (type: string, fields: JsonObject) => {
    events.push({ type, ...fields, sequence_number: events.length })
  }
  const status = stringField(body, 'status')
  const unknownYet = { completed_at: null, error: null, incomplete_details: null, output: [], usage: null }
  const begun: JsonObject = { ...body, status: 'in_progress', ...unknownYet }
  emit('response.created', { response: begun })
  if (status === 'queued') {
    emit('response.queued', { response: body })
    return events
  }
  emit('response.in_progress', { response: begun })
  for (const [index, item] of objectFields(body, 'output').entries()) splitItem(item, index, Math.max(1, piece), emit)
  emit(terminalTypes.get(status ?? '') ?? 'response.completed', { response: body })
  return events
}

export const terminalTypes = new Map([
  ['incomplete', 'response.incomplete'],
  ['failed', 'response.failed'],
  ['cancelled', 'response.cancelled'],
])

type Emit = (type: string, fields: JsonObject) => void

function splitItem(item: Item, index: number, piece: number, emit: Emit): void {
  const place = { item_id: stringField(item, 'id') ?? '', output_index: index }
  emit('response.output_item.added', { output_index: index, item: emptied(item) })
  switch (typeOf(item)) {
    case 'message':
      for (const [contentIndex, content] of objectFields(item, 'content').entries()) {
        splitContent(content, { ...place, content_index: contentIndex }, piece, emit)
      }
      break
    case 'reasoning':
      splitReasoning(item, place, piece, emit)
      break
    case 'function_call': {
      const text = stringField(item, 'arguments') ?? ''
      for (const delta of splitText(text, piece)) emit('response.function_call_arguments.delta', { ...place, delta })
      emit('response.function_call_arguments.done', {
        ...place,
        name: stringField(item, 'name') ?? '',
        arguments: text,
      })
      break
    }
    case 'custom_tool_call':
      emitText(stringField(item, 'input') ?? '', 'response.custom_tool_call_input', 'input', place, piece, emit)
      break
    default:
      for (const { type, ...fields } of callEvents(item, place)) emit(String(type), fields)
  }
  emit('response.output_item.done', { output_index: index, item })
}

/** The events with the commands or the diff of a call, which are known when it is whole. */
export function callEvents(item: Item, { item_id, output_index }: JsonObject): JsonObject[] {
  if (!asksClient(item)) return []
  const place = { item_id: item_id ?? '', output_index: output_index ?? 0 }
  if (typeOf(item) === 'shell_call') {
    return listIn(valueAt(item, 'action', 'commands')).flatMap((command, command_index) => {
      const spot = { output_index: place.output_index, command_index }
      return [
        { type: 'response.shell_call_command.added', ...spot, command: '' },
        { type: 'response.shell_call_command.delta', ...spot, delta: command },
        { type: 'response.shell_call_command.done', ...spot, command },
      ]
    })
  }
  const diff = typeOf(item) === 'apply_patch_call' ? valueAt(item, 'operation', 'diff') : undefined
  if (typeof diff !== 'string') return []
  return [
    { type: 'response.apply_patch_call_operation_diff.delta', ...place, delta: diff },
    { type: 'response.apply_patch_call_operation_diff.done', ...place, diff },
  ]
}

/** The announced item: nothing that is still to be streamed, and no ciphertext. */
export function emptied(item: Item): Item {
  const { encrypted_content: _, ...rest } = item
  switch (typeOf(item)) {
    case 'message':
      return { ...rest, status: 'in_progress', content: [] }
    case 'reasoning':
      return {
        ...rest,
        summary: [],
        ...('status' in rest && { status: 'in_progress' }),
        ...('content' in rest && { content: [] }),
      }
    case 'function_call':
      return { ...rest, status: 'in_progress', arguments: '' }
    case 'custom_tool_call':
      return { ...rest, status: 'in_progress', input: '' }
    case 'shell_call':
      return { ...rest, status: 'in_progress', action: { ...objectIn(item.action), commands: [] } }
    case 'apply_patch_call': {
      const operation = objectIn(item.operation)
      const blank = typeof operation.diff === 'string' && { diff: '' }
      return { ...rest, status: 'in_progress', operation: { ...operation, ...blank } }
    }
    case 'local_shell_call':
      return { ...rest, status: 'in_progress', action: { ...objectIn(item.action), command: [] } }
    case 'computer_call':
      return { ...rest, status: 'in_progress' }
    default:
      return item
  }
}

function splitContent(content: JsonObject, place: JsonObject, piece: number, emit: Emit): void {
  if (content.type === 'refusal') {
    emit('response.content_part.added', { ...place, part: { ...content, refusal: '' } })
    emitText(stringField(content, 'refusal') ?? '', 'response.refusal', 'refusal', place, piece, emit)
  } else if (content.type === 'output_text') {
    const annotations = Array.isArray(content.annotations) ? content.annotations : []
    emit('response.content_part.added', { ...place, part: { ...content, text: '', annotations: [] } })
    emitText(stringField(content, 'text') ?? '', 'response.output_text', 'text', place, piece, emit, { logprobs: [] })
    for (const [index, annotation] of annotations.entries()) {
      emit('response.output_text.annotation.added', { ...place, annotation_index: index, annotation })
    }
  }
  emit('response.content_part.done', { ...place, part: content })
}

function splitReasoning(item: Item, place: JsonObject, piece: number, emit: Emit): void {
  for (const [index, part] of objectFields(item, 'summary').entries()) {
    const spot = { ...place, summary_index: index }
    emit('response.reasoning_summary_part.added', { ...spot, part: { ...part, text: '' } })
    emitText(stringField(part, 'text') ?? '', 'response.reasoning_summary_text', 'text', spot, piece, emit)
    emit('response.reasoning_summary_part.done', { ...spot, part })
  }
  for (const [index, part] of objectFields(item, 'content').entries()) {
    const spot = { ...place, content_index: index }
    emit('response.content_part.added', { ...spot, part: { ...part, text: '' } })
    emitText(stringField(part, 'text') ?? '', 'response.reasoning_text', 'text', spot, piece, emit)
    emit('response.content_part.done', { ...spot, part })
  }
}

function emitText(
  text: string,
  type: string,
  field: string,
  place: JsonObject,
  piece: number,
  emit: Emit,
  extra: JsonObject = {},
): void {
  for (const delta of splitText(text, piece)) emit(`${type}.delta`, { ...place, delta, ...extra })
  emit(`${type}.done`, { ...place, [field]: text, ...extra })
}

export function writeUsage(usage: Usage): Json {
  return {
    input_tokens: usage.input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
    },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
}
