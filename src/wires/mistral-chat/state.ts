// Mistral's conversations: the server stores a list of entries and answers from all of it. For the model it is the chat
// wire; only the API differs. On append, model, tools and instructions belong to the conversation.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { splitText } from '../shared/text.ts'
import { lettersFrom } from '../shared/letters.ts'
import { listIn, objectIn, textIn, valueAt } from '../shared/json-fields.ts'
import { Refusal } from '../shared/refusal.ts'
import { stateless, type Endpoint, type EndpointRequest, type Exchanged, type ServerState } from '../service.ts'
import { createExpiringMap, type ExpiringMap } from '../shared/expiring-map.ts'

interface StoredConversation {
  head: JsonObject
  entries: JsonObject[]
  createdAt: string
}

type MistralConversations = ExpiringMap<StoredConversation>

export function createMistralState(): ServerState {
  const stored = createExpiringMap<StoredConversation>(100 * 365 * 24 * 3_600_000)
  return {
    ...stateless,
    async visit(endpoint, request) {
      const answer = await handleMistral(stored, endpoint, request)
      if ('body' in answer) return answer
      return { ...answer, ...(request.body.stream === true && { framing: { kind: 'sse', named: true } }) }
    },
    expire: (id) => stored.expire(id),
    clear: () => stored.clear(),
  }
}

/** The answer to a read, or a reply that can also be streamed. */
type MistralAnswer = { body: Json } | { exchanged: Exchanged }

async function handleMistral(
  stored: MistralConversations,
  operation: Endpoint,
  visit: EndpointRequest,
): Promise<MistralAnswer> {
  const { method, body, owner, now, seed } = visit
  const { id, part } = operation
  const newId = `conv_${lettersFrom(seed, 32)}`
  if (id === undefined) {
    if (method !== 'POST') return { body: { data: [] } }
    const { inputs, stream: _stream, store: _store, ...head } = body
    return {
      exchanged: await continueConversation(stored, newId, { head, entries: [], createdAt: iso(now) }, inputs, visit),
    }
  }
  const conversation = stored.get(id, owner, now)
  if (!conversation) throw notFound(`Conversation ${id} not found.`)
  if (method === 'DELETE') {
    stored.delete(id, owner)
    return { body: {} }
  }
  if (method === 'GET') return { body: readBack(id, conversation, part) }
  if (part === 'restart') {
    const from = conversation.entries.findIndex((entry) => entry.id === body.from_entry_id)
    if (from < 0) throw notFound(`Entry ${textIn(body.from_entry_id)} not found.`)
    const fork = { ...conversation, entries: conversation.entries.slice(0, from + 1), createdAt: iso(now) }
    return { exchanged: await continueConversation(stored, newId, fork, body.inputs, visit) }
  }
  refuseHead(body)
  return { exchanged: await continueConversation(stored, id, conversation, body.inputs, visit) }
}

/** Documented as 404; the text is not recorded. */
function notFound(message: string): Refusal {
  return new Refusal(404, { object: 'error', message, type: 'not_found', param: null, code: null })
}

async function continueConversation(
  stored: MistralConversations,
  id: string,
  conversation: StoredConversation,
  inputs: Json | undefined,
  visit: EndpointRequest,
): Promise<Exchanged> {
  const { owner, now, body, seed } = visit
  const entries = [...conversation.entries, ...entriesOf(inputs, seed, now)]
  const { instructions, tools, model } = conversation.head
  const args = isObject(body.completion_args) ? body.completion_args : conversation.head.completion_args
  const { exchanged } = await visit.reply({
    ...objectIn(args),
    model,
    messages: [
      ...(typeof instructions === 'string' && instructions !== '' ? [{ role: 'system', content: instructions }] : []),
      ...messagesOf(entries),
    ],
    ...(Array.isArray(tools) && tools.length > 0 && { tools }),
  })
  const outputs = outputsOf(exchanged.whole, seed, now)
  const usage = usageOf(exchanged.whole)
  return {
    usage: exchanged.usage,
    whole: { object: 'conversation.response', conversation_id: id, outputs, usage },
    chunks: (piece) => [
      { type: 'conversation.response.started', created_at: iso(now), conversation_id: id },
      ...outputs.flatMap((output, index) => deltasOf(output, index, piece)),
      { type: 'conversation.response.done', created_at: iso(now), usage },
    ],
    commit() {
      exchanged.commit()
      if (body.store !== false) stored.put(id, owner, { ...conversation, entries: [...entries, ...outputs] }, now)
    },
  }
}

function refuseHead(body: JsonObject): void {
  const extra = (['tools', 'model', 'instructions'] as const).filter((field) => body[field] !== undefined)
  if (extra.length === 0) return
  const detail = extra.map((field) => ({
    type: 'extra_forbidden',
    loc: ['body', field],
    msg: 'Extra inputs are not permitted',
    input: body[field] ?? null,
  }))
  throw new Refusal(422, { detail })
}

function readBack(id: string, conversation: StoredConversation, part: string | undefined): Json {
  if (part === 'history') return { object: 'conversation.history', conversation_id: id, entries: conversation.entries }
  if (part === 'messages') {
    const messages = conversation.entries.filter((entry) => textIn(entry.type).startsWith('message.'))
    return { object: 'conversation.messages', conversation_id: id, messages }
  }
  return {
    object: 'conversation',
    id,
    created_at: conversation.createdAt,
    updated_at: conversation.createdAt,
    ...conversation.head,
  }
}

function entriesOf(inputs: Json | undefined, seed: string, now: number): JsonObject[] {
  const list: Json[] = typeof inputs === 'string' ? [{ role: 'user', content: inputs }] : listIn(inputs)
  return list.filter(isObject).map((entry, i) => ({
    object: 'entry',
    type: 'message.input',
    created_at: iso(now),
    id: `msg_${lettersFrom(`${seed} in ${i}`, 24)}`,
    ...entry,
  }))
}

/** Consecutive calls, and the text with them, are one assistant message. */
function messagesOf(entries: readonly JsonObject[]): JsonObject[] {
  const messages: JsonObject[] = []
  for (const entry of entries) {
    const last = messages.at(-1)
    if (entry.type === 'function.call') {
      const args = typeof entry.arguments === 'string' ? entry.arguments : JSON.stringify(entry.arguments ?? {})
      const call = { id: entry.tool_call_id, type: 'function', function: { name: entry.name, arguments: args } }
      if (last?.role === 'assistant') last.tool_calls = [...listIn(last.tool_calls), call]
      else messages.push({ role: 'assistant', content: '', tool_calls: [call] })
    } else if (entry.type === 'function.result') {
      messages.push({ role: 'tool', tool_call_id: entry.tool_call_id, content: entry.result })
    } else if (entry.type === 'message.input' || entry.type === 'message.output') {
      messages.push({ role: entry.role ?? 'assistant', content: entry.content })
    }
  }
  return messages
}

function outputsOf(reply: JsonObject, seed: string, now: number): JsonObject[] {
  const [choice] = listIn(reply.choices)
  const message = objectIn(valueAt(choice, 'message'))
  const entry = { object: 'entry', created_at: iso(now), completed_at: iso(now), model: reply.model ?? null }
  const outputs: JsonObject[] = []
  const { content } = message
  if (content !== undefined && content !== null && content !== '') {
    outputs.push({
      ...entry,
      type: 'message.output',
      id: `msg_${lettersFrom(`${seed} out`, 24)}`,
      role: 'assistant',
      content,
    })
  }
  for (const [i, call] of listIn(message.tool_calls).entries()) {
    if (!isObject(call) || !isObject(call.function)) continue
    const { name, arguments: args } = call.function
    outputs.push({
      ...entry,
      type: 'function.call',
      id: `fc_${lettersFrom(`${seed} ${i}`, 24)}`,
      tool_call_id: call.id,
      name,
      arguments: args,
    })
  }
  return outputs
}

function deltasOf(output: JsonObject, index: number, piece: number): JsonObject[] {
  const { id, model, created_at } = output
  const head = { created_at, output_index: index, id, model }
  if (output.type === 'function.call') {
    const { name, tool_call_id, arguments: args } = output
    return [{ type: 'function.call.delta', ...head, name, tool_call_id, arguments: args }]
  }
  const contents = typeof output.content === 'string' ? [...splitText(output.content, piece)] : (output.content ?? [])
  return listIn(contents).map((content, i) => ({
    type: 'message.output.delta',
    ...head,
    role: 'assistant',
    content_index: typeof output.content === 'string' ? 0 : i,
    content,
  }))
}

function usageOf(reply: JsonObject): JsonObject {
  const usage = objectIn(reply.usage)
  const { prompt_tokens, completion_tokens, total_tokens } = usage
  return { prompt_tokens, completion_tokens, total_tokens, connector_tokens: null, connectors: null }
}

function iso(now: number): string {
  return new Date(now).toISOString()
}
