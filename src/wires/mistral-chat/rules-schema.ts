// Whether a body matches the closed schema of the request. The service checks this first and answers 422 with
// pydantic's messages for all places at once; `param` has the place (`body.messages.0.assistant.reasoning_content`).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Issue } from '../wire.ts'

export function misfits(body: Json): Issue[] {
  if (!isObject(body)) return [misfit('body', 'dict_type', 'Input should be a valid dictionary')]
  const issues: Issue[] = []
  if (body.model === undefined) issues.push(misfit('body.model', 'missing', 'Field required'))
  else if (typeof body.model !== 'string') issues.push(notString('body.model'))
  if (body.messages === undefined) issues.push(misfit('body.messages', 'missing', 'Field required'))
  else if (Array.isArray(body.messages)) {
    for (const [index, message] of body.messages.entries())
      issues.push(...messageMisfits(message, `body.messages.${index}`))
  } else issues.push(notList('body.messages'))
  issues.push(...toolMisfits(body), ...unknownFields(body, bodyFields, 'body'))
  return issues
}

/** A value as quoted in an error message. */
export function shown(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function misfit(param: string, type: string, message: string): Issue {
  return { rule: 'T-schema', status: 422, message, type, param }
}

function notString(param: string): Issue {
  return misfit(param, 'string_type', 'Input should be a valid string')
}

function notList(param: string): Issue {
  return misfit(param, 'list_type', 'Input should be a valid list')
}

function unknownFields(value: JsonObject, known: ReadonlySet<string>, path: string): Issue[] {
  return Object.keys(value)
    .filter((field) => !known.has(field) && value[field] !== undefined)
    .map((field) => misfit(`${path}.${field}`, 'extra_forbidden', 'Extra inputs are not permitted'))
}

/** Checked 2026-11 against the types of the official client 2.7. `stream_options` is not among them. */
const bodyFields = new Set([
  'model',
  'messages',
  'temperature',
  'top_p',
  'max_tokens',
  'stream',
  'stop',
  'random_seed',
  'metadata',
  'response_format',
  'tools',
  'tool_choice',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'prediction',
  'parallel_tool_calls',
  'prompt_mode',
  'reasoning_effort',
  'guardrails',
  'prompt_cache_key',
  'safe_prompt',
])

const messageFields: Record<string, ReadonlySet<string>> = {
  system: new Set(['role', 'content']),
  user: new Set(['role', 'content']),
  assistant: new Set(['role', 'content', 'tool_calls', 'prefix']),
  tool: new Set(['role', 'content', 'tool_call_id', 'name']),
}

function messageMisfits(message: Json, path: string): Issue[] {
  if (!isObject(message)) return [misfit(path, 'dict_type', 'Input should be a valid dictionary')]
  const known = typeof message.role === 'string' ? messageFields[message.role] : undefined
  if (!known) {
    const text = `Input tag '${shown(message.role ?? null)}' found using 'role' does not match any of the expected tags: 'assistant', 'system', 'tool', 'user'`
    return [misfit(path, 'union_tag_invalid', text)]
  }
  const place = `${path}.${shown(message.role ?? null)}`
  const issues = unknownFields(message, known, place)
  issues.push(...contentMisfits(message, place))
  if (message.tool_calls !== undefined && message.tool_calls !== null) {
    issues.push(...callMisfits(message.tool_calls, `${place}.tool_calls`))
  }
  return issues
}

const chunkTypes = ['text', 'image_url', 'document_url', 'reference', 'file', 'thinking', 'input_audio']

function contentMisfits(message: JsonObject, path: string): Issue[] {
  const { content, role } = message
  if (typeof content === 'string') return []
  if (content === null || content === undefined) {
    if (role === 'assistant' || role === 'tool') return []
    return [content === null ? notString(`${path}.content`) : misfit(`${path}.content`, 'missing', 'Field required')]
  }
  if (!Array.isArray(content)) return [notString(`${path}.content`)]
  const issues: Issue[] = []
  for (const [index, chunk] of content.entries()) {
    const at = `${path}.content.${index}`
    if (!isObject(chunk)) issues.push(misfit(at, 'dict_type', 'Input should be a valid dictionary'))
    else if (typeof chunk.type !== 'string' || !chunkTypes.includes(chunk.type)) {
      const expected = chunkTypes.map((type) => `'${type}'`).join(', ')
      const text = `Input tag '${shown(chunk.type ?? null)}' found using 'type' does not match any of the expected tags: ${expected}`
      issues.push(misfit(at, 'union_tag_invalid', text))
    } else if (chunk.type === 'text' && typeof chunk.text !== 'string') issues.push(notString(`${at}.text`))
  }
  return issues
}

const callFields = new Set(['id', 'type', 'function', 'index'])

function callMisfits(calls: Json, path: string): Issue[] {
  if (!Array.isArray(calls)) return [notList(path)]
  const issues: Issue[] = []
  for (const [index, call] of calls.entries()) {
    const at = `${path}.${index}`
    if (!isObject(call) || !isObject(call.function)) {
      issues.push(misfit(`${at}.function`, 'missing', 'Field required'))
      continue
    }
    issues.push(...unknownFields(call, callFields, at))
    if (typeof call.function.name !== 'string') issues.push(notString(`${at}.function.name`))
    const args = call.function.arguments
    if (typeof args !== 'string' && !isObject(args)) issues.push(notString(`${at}.function.arguments`))
  }
  return issues
}

function toolMisfits(body: JsonObject): Issue[] {
  const { tools, tool_choice: choice } = body
  const issues: Issue[] = []
  if (tools !== undefined && tools !== null) {
    if (!Array.isArray(tools)) return [notList('body.tools')]
    if (tools.length > 128) {
      const text = `List should have at most 128 items after validation, not ${tools.length}`
      issues.push({ ...misfit('body.tools', 'too_long', text), rule: 'T-13' })
    }
    for (const [index, tool] of tools.entries()) {
      const fn = isObject(tool) ? tool.function : undefined
      const at = `body.tools.${index}.function`
      if (!isObject(fn)) issues.push(misfit(at, 'missing', 'Field required'))
      else if (typeof fn.name !== 'string') issues.push(notString(`${at}.name`))
      else if (!isObject(fn.parameters)) {
        issues.push(misfit(`${at}.parameters`, 'dict_type', 'Input should be a valid dictionary'))
      }
    }
  }
  if (typeof choice === 'string' && !['auto', 'none', 'any', 'required'].includes(choice)) {
    issues.push(misfit('body.tool_choice', 'enum', "Input should be 'auto', 'none', 'any' or 'required'"))
  }
  return issues
}
