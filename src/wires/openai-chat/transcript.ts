// Chat messages of OpenAI's wire, alone or inside a request body, and four formats of agents that store their runs this
// way with additional fields: tau-bench, tau2-bench, SWE-agent and mini-SWE-agent. A tool's result is found by id, but
// ids are not unique in a conversation: some hosts begin at `call_0` in every reply.

import type { Note, ToolSpec } from '../../core/context.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../../core/json.ts'
import {
  callsOf,
  type Message,
  type Origin,
  type Reply,
  type TextPart,
  type ToolMessage,
  type ToolResultPart,
  type UserMessage,
} from '../../core/message.ts'
import { newIds } from '../shared/call-registry.ts'
import { flatCall, flatResult, flatResultLabel } from '../shared/injected-text.ts'
import {
  decodeReply,
  withSource,
  type Transcript,
  type TranscriptFormat,
  unreadable,
  writeBySource,
} from '../shared/transcript.ts'
import { openaiChat } from './index.ts'
import { outputOf, textsOf, userParts, writeMessages } from './transcript-messages.ts'
import { protocolId } from './types.ts'
import { objectIn, objectsIn, textIn, valueAt } from '../shared/json-fields.ts'
import { freeFormIn, functionIn } from '../shared/request-options.ts'

export const openaiChatFormat: TranscriptFormat = {
  id: protocolId,
  recognise: looksLikeChat,
  read,
  write: (messages) => writeBySource(messages, protocolId, (run) => writeMessages(run, messages)),
}

function read(json: Json): Transcript {
  const list = unwrap(json)
  const { message, notes } = messageReader(list)
  const messages = list.messages.flatMap((value, index) => {
    const path = `${list.path}[${index}]`
    if (!isObject(value)) throw unreadable(protocolId, path, 'an object')
    return withSource(protocolId, value, [message(value, path)])
  })
  return {
    messages,
    notes,
    ...(list.system && { system: list.system }),
    ...(list.tools && { tools: list.tools }),
  }
}

/** Reads the messages of a list one by one, from its beginning, and keeps track of calls. */
function messageReader(list: Wrapped): { message(value: JsonObject, at: string): Message; notes: Note[] } {
  const notes = [...list.notes]
  const calls = callTracker()
  const usersCalls = new Map<string, string>()
  return { message, notes }

  function message(value: JsonObject, at: string): Message {
    switch (value.role) {
      case 'system':
      case 'developer':
        return { role: 'system', parts: textsOf(value.content, `${at}.content`) }
      case 'user':
        return userMessage(value, at)
      case 'assistant':
        return reply(value, at)
      case 'tool':
      case 'function':
        return value.requestor === 'user' ? usersResult(value, at) : results(value, at)
      default:
        if (typeof value.role !== 'string') throw unreadable(protocolId, `${at}.role`, 'a role')
        return { role: 'user', parts: [{ type: 'opaque', kind: `${protocolId}/${value.role}`, data: value }] }
    }
  }

  /** In tau2-bench the simulated user calls tools as well; no wire supports that, so it becomes text. */
  function userMessage(value: JsonObject, at: string): UserMessage {
    const parts = userParts(value.content, `${at}.content`, list.provider)
    const userCalls = objectsIn(value.tool_calls)
    for (const call of userCalls) {
      const { id, name, args } = readCall(call)
      usersCalls.set(id, name)
      parts.push({ type: 'text', text: flatCall(name, args) })
    }
    if (userCalls.length > 0) note('calls of the user to labelled text', at)
    return { role: 'user', parts }
  }

  function usersResult(value: JsonObject, at: string): UserMessage {
    const name = usersCalls.get(idsOf(value)[0] ?? '') ?? 'tool'
    const output = outputOf(value.content, `${at}.content`)
    const text = output.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    const labelled = flatResult(flatResultLabel, name, text, value.error === true)
    note("result of the user's call to labelled text", at)
    return {
      role: 'user',
      parts: [{ type: 'text', text: labelled }, ...output.filter((part) => part.type === 'media')],
    }
  }

  function note(what: string, at: string): void {
    notes.push({ kind: 'changed', what, why: 'a user has no tools on any wire', at })
  }

  function reply(value: JsonObject, at: string): Reply {
    const { finish, model, replyId } = about(value)
    const origin: Origin = {
      protocol: protocolId,
      provider: list.provider,
      model: model ?? list.model,
      ...(replyId && { replyId }),
    }
    const choice = { index: 0, message: assistantMessage(value, at), finish_reason: finish }
    const read = decodeReply(openaiChat, openaiChat.split({ choices: [choice] }), origin, calls.newId)
    calls.add(read)
    return read
  }

  function results(value: JsonObject, at: string): ToolMessage {
    const output = outputOf(value.content, `${at}.content`)
    const ids = idsOf(value)
    const parts = (ids.length > 0 ? ids : ['']).map((id): ToolResultPart => {
      const call = calls.answer(id)
      const name = call?.name ?? (typeof value.name === 'string' ? value.name : 'tool')
      const failed = value.error === true && { failed: true }
      return { type: 'tool-result', callId: call?.callId ?? id, name, output, ...failed }
    })
    return { role: 'tool', parts }
  }
}

interface ReadCall {
  callId: string
  name: string
  answered: boolean
  /** Of two open calls, a result answers the one with the higher number. */
  order: number
}

interface CallTracker {
  /** Our id for a call: its own if no earlier call has it. */
  newId(position: number, alias: string | undefined): string
  add(reply: Reply): void
  /** The latest open call with that id; if the result or the calls have none, the next in order. */
  answer(id: string): ReadCall | undefined
}

function callTracker(): CallTracker {
  const newId = newIds()
  /** In ascending order; without those at the end that are answered. */
  const open: ReadCall[] = []
  const openByAlias = new Map<string, ReadCall[]>()
  const latest = new Map<string, ReadCall>()
  let order = 0
  return {
    newId: (position, alias) => newId(alias ?? `call-${position}`),
    add(reply) {
      // The first call of the latest reply is answered first.
      for (const { alias = '', callId, name } of callsOf(reply).toReversed()) {
        const call = { callId, name, answered: false, order: order++ }
        const same = openByAlias.get(alias) ?? []
        same.push(call)
        open.push(call)
        openByAlias.set(alias, same)
        latest.set(alias, call)
      }
    },
    answer(id) {
      const lists = id === '' ? [open] : [openByAlias.get(id), openByAlias.get('')]
      const [own, other] = lists.map(lastOpen)
      const call = (own && other && other.order > own.order ? other : (own ?? other)) ?? latest.get(id)
      if (call) call.answered = true
      return call
    },
  }
}

function lastOpen(calls: ReadCall[] = []): ReadCall | undefined {
  while (calls.at(-1)?.answered) calls.pop()
  return calls.at(-1)
}

/**
 * The part of an assistant message that belongs to the wire. The rest is the recorder's own, and stays only in
 * `source`.
 */
const wireFields = [
  'content',
  'refusal',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'function_call',
  'annotations',
  'audio',
  'images',
  'name',
] as const

function assistantMessage(value: JsonObject, at: string): JsonObject {
  const { content } = value
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
    throw unreadable(protocolId, `${at}.content`, 'a string, a list or null')
  }
  const message: JsonObject = { role: 'assistant' }
  for (const field of wireFields) if (value[field] !== undefined && value[field] !== null) message[field] = value[field]
  if (message.content === undefined) message.content = null
  if (value.tool_calls !== undefined && value.tool_calls !== null) {
    if (!Array.isArray(value.tool_calls)) throw unreadable(protocolId, `${at}.tool_calls`, 'a list')
    message.tool_calls = value.tool_calls.map((call, i) => wireCall(call, `${at}.tool_calls[${i}]`))
  }
  return message
}

/** tau2-bench writes `{ id, name, arguments }`, with the arguments as an object. */
function wireCall(call: Json, at: string): JsonObject {
  if (!isObject(call)) throw unreadable(protocolId, at, 'an object')
  if (call.function !== undefined || call.custom !== undefined) {
    const { index: _index, ...fields } = call
    return fields
  }
  if (typeof call.name !== 'string') throw unreadable(protocolId, at, 'a call with a function or a name')
  const { id, name, args } = readCall(call)
  return { ...(id !== '' && { id }), type: 'function', function: { name, arguments: JSON.stringify(args) } }
}

function readCall(call: JsonObject): { id: string; name: string; args: Json } {
  const inner = isObject(call.function) ? call.function : call
  const args = inner.arguments ?? {}
  return {
    id: textIn(call.id),
    name: typeof inner.name === 'string' ? inner.name : 'tool',
    args: typeof args === 'string' ? jsonOrText(args) : args,
  }
}

function jsonOrText(text: string): Json {
  const value = parseJson(text)
  return value === undefined ? text : value
}

/** SWE-agent lists the ids that a result answers; tau2-bench names the field `id`. */
function idsOf(value: JsonObject): string[] {
  if (Array.isArray(value.tool_call_ids)) return value.tool_call_ids.filter((id) => typeof id === 'string')
  const id = value.tool_call_id ?? (value.requestor === undefined ? undefined : value.id)
  return typeof id === 'string' ? [id] : []
}

/** What recorders store about the original reply. */
function about(value: JsonObject): { finish: string; model?: string; replyId?: string } {
  const response = isObject(value.extra) && isObject(value.extra.response) ? value.extra.response : {}
  const [choice] = Array.isArray(response.choices) ? response.choices : []
  const source = [choice, value.raw_data].find((from) => isObject(from) && typeof from.finish_reason === 'string')
  return {
    finish: isObject(source) && typeof source.finish_reason === 'string' ? source.finish_reason : 'stop',
    ...(typeof response.model === 'string' && { model: response.model }),
    ...(typeof response.id === 'string' && { replyId: response.id }),
  }
}

// Finds the list of chat messages in the input, and its metadata.

interface Wrapped {
  messages: Json[]
  path: string
  provider: string
  model: string
  system?: TextPart[]
  tools?: ToolSpec[]
  notes: Note[]
}

function unwrap(json: Json): Wrapped {
  const list = listIn(json)
  if (!list) {
    const expected = 'a list of messages, or an object with one in messages, traj, history or simulation.messages'
    throw unreadable(protocolId, '$', expected)
  }
  const wrapper = objectIn(json)
  const named = modelOf(wrapper)
  const policy = valueAt(wrapper, 'info', 'environment_info', 'policy')
  const notes: Note[] = []
  const tools = Array.isArray(wrapper.tools) ? readTools(wrapper.tools, notes) : undefined
  return {
    ...list,
    ...named,
    ...(typeof policy === 'string' && { system: [{ type: 'text', text: policy }] }),
    ...(tools && { tools }),
    notes,
  }
}

function looksLikeChat(json: Json): boolean {
  if (isObject(json) && (json.system !== undefined || json.anthropic_version !== undefined)) return false
  if (isObject(json) && Array.isArray(json.tools) && json.tools.some((tool) => isObject(tool) && tool.input_schema)) {
    return false
  }
  const messages = listIn(json)?.messages ?? []
  const looked = [...messages.slice(0, 4), ...messages.slice(-2)]
  return looked.length > 0 && looked.every(isChatMessage) && messages.some(hasKnownRole)
}

const roles: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

/** Parts of other wires in messages of the same shape. */
const foreignParts =
  /^(tool_use|tool_result|thinking|redacted_thinking|image|document|input_text|output_text|input_image)$/

function hasKnownRole(message: Json): boolean {
  return isObject(message) && roles.has(message.role)
}

function isChatMessage(message: Json): boolean {
  if (!isObject(message) || typeof message.role !== 'string' || message.parts !== undefined) return false
  const { content } = message
  if (Array.isArray(content)) {
    return content.every((part) => isObject(part) && typeof part.type === 'string' && !foreignParts.test(part.type))
  }
  return content === undefined || content === null || typeof content === 'string'
}

function listIn(json: Json): { messages: Json[]; path: string } | undefined {
  if (Array.isArray(json)) return { messages: json, path: '$' }
  if (!isObject(json)) return undefined
  for (const path of [['messages'], ['traj'], ['history'], ['simulation', 'messages']]) {
    const list = valueAt(json, ...path)
    if (Array.isArray(list)) return { messages: list, path: `$.${path.join('.')}` }
  }
  return undefined
}

/** `deepseek/deepseek-chat` is how recorders for many hosts name a model. */
function modelOf(wrapper: JsonObject): { provider: string; model: string } {
  const named = [
    wrapper.model,
    valueAt(wrapper, 'info', 'config', 'model', 'model_name'),
    valueAt(wrapper, 'info', 'agent_info', 'llm'),
  ].find((name) => typeof name === 'string')
  const name = textIn(named)
  const [prefix = '', rest] = name.split('/', 2)
  const provider = Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined
  if (typeof wrapper.provider === 'string') return { provider: wrapper.provider, model: name }
  return provider && rest !== undefined
    ? { provider, model: name.slice(prefix.length + 1) }
    : { provider: 'openai', model: name }
}

const prefixes: Record<string, string> = {
  azure: 'azure-openai',
  cerebras: 'cerebras',
  deepseek: 'deepseek',
  fireworks_ai: 'fireworks',
  groq: 'groq',
  moonshot: 'moonshot',
  openrouter: 'openrouter',
  together_ai: 'together',
  xai: 'xai',
}

function readTools(tools: readonly Json[], notes: Note[]): ToolSpec[] {
  return tools.flatMap((tool, i): ToolSpec[] => {
    const fn = functionIn(tool)
    const freeForm = freeFormIn(tool)
    if (freeForm) return [freeForm]
    if (!fn) {
      notes.push({ kind: 'dropped', what: 'a tool', why: 'it is not a function', at: `$.tools[${i}]` })
      return []
    }
    const input = isObject(fn.parameters) ? fn.parameters : { type: 'object', properties: {} }
    return [{ name: fn.name, ...(typeof fn.description === 'string' && { description: fn.description }), input }]
  })
}
