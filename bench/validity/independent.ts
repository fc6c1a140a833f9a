// A second reading of what the wires refuse, written apart from the product's own: pairing, roles and ids, and nothing
// else. A body must pass both.

import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'

/** The first thing that would be refused, if any. */
export function objection(protocol: string, body: Json): string | undefined {
  if (!isObject(body)) return 'no body'
  return checks[protocol]?.(body)
}

const checks: Record<string, (body: JsonObject) => string | undefined> = {
  'anthropic-messages': anthropic,
  'openai-chat': chat,
  'openai-responses': responses,
  'gemini-generate': gemini,
  'mistral-chat': mistral,
  'gemini-interactions': interactions,
  'ollama-chat': ollama,
}

const plainName = /^[\w-]{1,64}$/

function anthropic(body: JsonObject): string | undefined {
  // The server merges adjacent messages of one role before it checks anything.
  const turns: { role: string; blocks: JsonObject[] }[] = []
  for (const message of list(body.messages)) {
    const content = message.content
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content)
    const last = turns.at(-1)
    if (blocks.length === 0) return 'an empty message'
    if (last && last.role === message.role) last.blocks.push(...blocks)
    else turns.push({ role: String(message.role), blocks: [...blocks] })
  }
  if (turns[0]?.role !== 'user') return 'the first message is not the user’s'
  const seen = new Set<Json | undefined>()
  for (const [i, { role, blocks }] of turns.entries()) {
    const next = turns[i + 1]
    const asked = blocks.filter((block) => block.type === 'tool_use')
    const results = role === 'user' ? blocks.filter((block) => block.type === 'tool_result') : []
    const before = (turns[i - 1]?.blocks ?? []).filter((block) => block.type === 'tool_use')
    const calls = new Set(before.map((block) => block.id ?? null))
    for (const { id, name, input } of asked) {
      if (seen.has(id)) return 'a call id twice'
      if (!/^[\w-]+$/.test(String(id))) return 'a call id with other characters'
      if (!/^[\w-]{1,128}$/.test(String(name))) return 'a tool name with other characters'
      if (!isObject(input)) return 'arguments that are no object'
      if (!next?.blocks.some((block) => block.type === 'tool_result' && block.tool_use_id === id)) {
        return 'a call without its result in the next message'
      }
      seen.add(id)
    }
    if (results.some((block) => !calls.has(block.tool_use_id ?? null))) return 'a result without its call'
    if (results.length > 0 && blocks.findLastIndex((block) => block.type === 'tool_result') >= results.length) {
      return 'a result after other content'
    }
    for (const block of blocks) {
      if (block.type === 'text' && String(block.text).trim() === '') return 'an empty text'
      if (block.type === 'thinking' && typeof block.signature !== 'string') return 'thinking without a signature'
    }
  }
  return undefined
}

function chat(body: JsonObject): string | undefined {
  const open = new Set<Json | undefined>()
  let answering = false
  for (const message of list(body.messages)) {
    const calls = list(message.tool_calls)
    if (message.role === 'tool') {
      if (!answering || !open.delete(message.tool_call_id)) return 'a result that no call before it asks for'
      continue
    }
    if (open.size > 0) return 'a call without a result'
    answering = calls.length > 0
    for (const { id, function: called } of calls) {
      if (String(id).length > 40) return 'a call id of more than 40 characters'
      if (open.has(id)) return 'a call id twice'
      if (!isObject(called) || !plainName.test(String(called.name))) return 'a tool name with other characters'
      open.add(id)
    }
    if (message.role === 'assistant' && calls.length === 0 && typeof message.content !== 'string' && !message.content) {
      return 'an assistant message with nothing in it'
    }
    if (Array.isArray(message.content) && message.content.length === 0) return 'an empty content list'
  }
  return open.size > 0 ? 'a call without a result' : undefined
}

function responses(body: JsonObject): string | undefined {
  const items = list(body.input)
  if (items.length === 0) return 'no input'
  const calls = new Set<Json | undefined>()
  const answered = new Set<Json | undefined>()
  for (const [i, item] of items.entries()) {
    const { type, call_id: callId, id } = item
    if (type === 'function_call') {
      if (!plainName.test(String(item.name))) return 'a tool name with other characters'
      if (String(callId).length > 64) return 'a call id of more than 64 characters'
      if (calls.has(callId) && !answered.has(callId)) return 'a call id twice'
      calls.add(callId)
      if (typeof id === 'string' && (!id.startsWith('fc') || id.length > 64)) return 'an item id of another kind'
    } else if (type === 'function_call_output') {
      if (!calls.has(callId)) return 'an output without its call'
      answered.add(callId)
    } else if (type === 'reasoning') {
      const follows = items[i + 1]
      if (
        !follows ||
        follows.type === 'function_call_output' ||
        (follows.role !== undefined && follows.role !== 'assistant')
      ) {
        return 'reasoning without what followed it'
      }
      if (typeof id !== 'string' || !id.startsWith('rs')) return 'reasoning without an id of its own'
    } else if (item.role === 'assistant') {
      if (list(item.content).some((part) => part.type === 'input_text')) return 'assistant content as input'
      if (typeof id === 'string' && !id.startsWith('msg')) return 'an item id of another kind'
    }
  }
  return [...calls].some((id) => !answered.has(id)) ? 'a call without its output' : undefined
}

function gemini(body: JsonObject): string | undefined {
  const contents = list(body.contents)
  if (contents.length === 0) return 'no contents'
  // Neighbours of one role are read as one turn.
  const turns: { role: string; parts: JsonObject[] }[] = []
  for (const { role, parts } of contents) {
    if (role !== 'user' && role !== 'model') return 'another role'
    const own = list(parts)
    if (own.length === 0) return 'a turn without parts'
    const last = turns.at(-1)
    if (last?.role === role) last.parts.push(...own)
    else turns.push({ role, parts: [...own] })
  }
  for (const [i, { role, parts }] of turns.entries()) {
    const calls = parts.filter((part) => isObject(part.functionCall))
    const results = parts.filter((part) => isObject(part.functionResponse))
    const before = (turns[i - 1]?.parts ?? []).filter((part) => isObject(part.functionCall))
    const after = (turns[i + 1]?.parts ?? []).filter((part) => isObject(part.functionResponse))
    if (parts.some((part) => part.text === '' && Object.keys(part).length === 1)) return 'a part without data'
    if (role === 'model' && i === 0 && calls.length > 0) return 'a call before anything was said'
    if (role === 'user' && results.length !== before.length) return 'not as many results as calls'
    if (role === 'model' && calls.length !== after.length) return 'not as many results as calls'
    const names = calls.map((part) => (isObject(part.functionCall) ? String(part.functionCall.name) : ''))
    if (names.some((name) => !/^[A-Za-z_][\w.:-]{0,127}$/.test(name))) return 'a tool name with other characters'
  }
  return undefined
}

function mistral(body: JsonObject): string | undefined {
  const messages = list(body.messages)
  let open: (Json | undefined)[] = []
  let before = ''
  for (const message of messages) {
    const role = String(message.role)
    if (before === '' && role !== 'system' && role !== 'user') return 'it begins with neither system nor user'
    if (role === 'tool') {
      if (before !== 'assistant' && before !== 'tool') return `a result after ${before}`
      if (!open.includes(message.tool_call_id)) return 'a result that no call before it asks for'
      open = open.filter((id) => id !== message.tool_call_id)
    } else if (open.length > 0) return 'a call without a result'
    if (role === 'assistant') {
      const calls = list(message.tool_calls)
      const empty = message.content === '' || (Array.isArray(message.content) && message.content.length === 0)
      if (calls.length === 0 && (!message.content || empty)) return 'an assistant message with nothing in it'
      for (const { id, function: called } of calls) {
        if (!/^[a-zA-Z0-9]{9}$/.test(String(id))) return 'a call id that is not 9 letters and digits'
        if (open.includes(id)) return 'a call id twice'
        if (!isObject(called) || !plainName.test(String(called.name))) return 'a tool name with other characters'
        open.push(id)
      }
    }
    before = role
  }
  if (open.length > 0) return 'a call without a result'
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.prefix !== true ? 'it ends with the assistant' : undefined
}

function interactions(body: JsonObject): string | undefined {
  const steps = typeof body.input === 'string' ? [] : list(body.input)
  if (steps.length === 0 && typeof body.input !== 'string') return 'no input'
  const calls = new Set<Json | undefined>()
  for (const { type, id, call_id: callId } of steps) {
    if (type === 'function_call') calls.add(id)
    if (type === 'function_result' && !calls.has(callId)) return 'a result without its call'
  }
  return undefined
}

function ollama(body: JsonObject): string | undefined {
  for (const message of list(body.messages)) {
    if (!['system', 'user', 'assistant', 'tool'].includes(String(message.role))) return 'another role'
    if (typeof message.content !== 'string') return 'content that is no text'
    for (const { function: called } of list(message.tool_calls)) {
      if (!isObject(called) || !isObject(called.arguments)) return 'arguments that are no object'
    }
  }
  return undefined
}

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isObject(one)) : []
}
