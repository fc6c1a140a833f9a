// Finds the list of chat messages in the input, and its metadata.

import type { Note, ToolSpec } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { TextPart } from '../../core/message.ts'
import { protocolId } from './types.ts'
import { unreadable } from '../shared/transcript.ts'

export interface Wrapped {
  messages: Json[]
  path: string
  provider: string
  model: string
  system?: TextPart[]
  tools?: ToolSpec[]
  notes: Note[]
}

export function unwrap(json: Json): Wrapped {
  const found = listIn(json)
  if (!found) {
    const wanted = 'a list of messages, or an object with one in messages, traj, history or simulation.messages'
    throw unreadable(protocolId, '$', wanted)
  }
  const wrapper = isObject(json) ? json : {}
  const named = modelOf(wrapper)
  const policy = at(wrapper, 'info', 'environment_info', 'policy')
  const notes: Note[] = []
  const tools = Array.isArray(wrapper.tools) ? readTools(wrapper.tools, notes) : undefined
  return {
    ...found,
    ...named,
    ...(typeof policy === 'string' && { system: [{ type: 'text', text: policy }] }),
    ...(tools && { tools }),
    notes,
  }
}

export function looksLikeChat(json: Json): boolean {
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
    const list = at(json, ...path)
    if (Array.isArray(list)) return { messages: list, path: `$.${path.join('.')}` }
  }
  return undefined
}

function at(value: Json | undefined, ...path: string[]): Json | undefined {
  let inner = value
  for (const field of path) inner = isObject(inner) ? inner[field] : undefined
  return inner
}

/** `deepseek/deepseek-chat` is how recorders for many hosts name a model. */
function modelOf(wrapper: JsonObject): { provider: string; model: string } {
  const named = [
    wrapper.model,
    at(wrapper, 'info', 'config', 'model', 'model_name'),
    at(wrapper, 'info', 'agent_info', 'llm'),
  ].find((name) => typeof name === 'string')
  const name = typeof named === 'string' ? named : ''
  const [prefix = '', rest] = name.split('/', 2)
  const known = Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined
  if (typeof wrapper.provider === 'string') return { provider: wrapper.provider, model: name }
  return known && rest !== undefined
    ? { provider: known, model: name.slice(prefix.length + 1) }
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
    const fn = isObject(tool) ? tool.function : undefined
    if (!isObject(fn) || typeof fn.name !== 'string') {
      notes.push({ kind: 'dropped', what: 'a tool', why: 'it is no function', at: `$.tools[${i}]` })
      return []
    }
    const input = isObject(fn.parameters) ? fn.parameters : { type: 'object', properties: {} }
    return [{ name: fn.name, ...(typeof fn.description === 'string' && { description: fn.description }), input }]
  })
}
