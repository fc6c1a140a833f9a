// What Mistral's chat completions refuse, with its error messages. Two stages, as in the service: a body that does not
// match the closed schema is refused with 422 before the conversation is read; then come the order of the messages, the
// content of each, and the tools. Texts of the second stage are those of mistral-common 1.11 (checked 2026-11).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { schemaComplaint } from '../tool-schema/meta-schema.ts'
import type { Issue, Profile } from '../wire.ts'
import { callIdGrammar, toolNamePattern } from './types.ts'
import { listIn, objectIn, valueAt, valueFor } from '../shared/json-fields.ts'

export function refuse(body: Json, profile: Profile = {}): Issue[] {
  const shape = misfits(body)
  if (!isObject(body) || !Array.isArray(body.messages)) return shape
  const messages = body.messages.filter(isObject)
  const issues = [...shape]
  if (body.model === '') issues.push(issue('T-model', 'Invalid model: ', 'invalid_model', '1500'))
  issues.push(...orderIssues(messages, profile), ...pairIssues(messages))
  for (const [index, message] of messages.entries()) {
    issues.push(...messageIssues(message, index === messages.length - 1))
  }
  issues.push(...toolIssues(body))
  return issues
}

function issue(rule: string, message: string, type = 'invalid_request_error', code: string | null = null): Issue {
  return { rule, status: 400, message, type, code, param: null }
}

function outOfOrder(rule: string, message: string): Issue {
  return issue(rule, message, 'invalid_request_message_order', '3230')
}

const mayFollow: Record<string, readonly string[]> = {
  system: ['user', 'assistant', 'system'],
  user: ['assistant', 'system', 'user'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool', 'user'],
}

function orderIssues(messages: readonly JsonObject[], profile: Profile): Issue[] {
  const issues: Issue[] = []
  const first = messages[0]
  const last = messages.at(-1)
  if (!first) return [outOfOrder('T-10', 'Conversation must have at least one message')]
  if (first.role !== 'user' && first.role !== 'system') {
    issues.push(outOfOrder('T-10', 'Conversation must start with a user message or system message'))
  }
  if (last?.role === 'assistant' && last.prefix !== true && messages.length > 1) {
    const text = 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant'
    issues.push(outOfOrder('T-3', text))
  }
  for (const [index, message] of messages.entries()) {
    const previous = messages[index - 1]?.role
    if (typeof previous !== 'string' || typeof message.role !== 'string') continue
    const text = `Unexpected role '${message.role}' after role '${previous}'`
    if (mayFollow[previous]?.includes(message.role) === false) issues.push(outOfOrder('T-1', text))
    // First-party since 2026-04; hosts with older validators still refuse it.
    else if (previous === 'tool' && message.role === 'user' && profile.provider !== 'mistral') {
      issues.push(outOfOrder('T-2', text))
    }
  }
  return issues
}

/** As many results as calls after each assistant message, and each for one of its calls. */
function pairIssues(messages: readonly JsonObject[]): Issue[] {
  const counts: Issue[] = []
  const ids: Issue[] = []
  let missing = 0
  let called = new Set<Json>()
  let answered = new Set<Json>()
  const settle = () => {
    if (missing !== 0) counts.push(outOfOrder('T-4', 'Not the same number of function calls and responses'))
    missing = 0
  }
  for (const message of messages) {
    if (message.role === 'assistant') {
      settle()
      const calls = callsOf(message).map((call) => call.id ?? null)
      called = new Set()
      answered = new Set()
      missing = calls.length
      let twice: Json = null
      for (const id of calls) {
        if (called.has(id)) twice ??= id
        called.add(id)
      }
      if (twice !== null) {
        ids.push(outOfOrder('T-7', `Duplicate tool call id ${quote(twice)} in assistant message`))
      }
    } else if (message.role === 'tool') {
      missing--
      const id = message.tool_call_id ?? null
      if (id === null) continue
      if (!called.has(id)) ids.push(outOfOrder('T-7', `Unexpected tool call id ${quote(id)} in tool results`))
      else if (answered.has(id)) ids.push(outOfOrder('T-7', `Duplicate tool call id ${quote(id)} in tool results`))
      answered.add(id)
    }
  }
  settle()
  return [...counts, ...ids]
}

function callsOf(message: JsonObject): JsonObject[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
}

function messageIssues(message: JsonObject, isLast: boolean): Issue[] {
  switch (message.role) {
    case 'system':
      return isEmpty(message.content) ? [issue('T-10', 'System prompt must have content')] : []
    case 'assistant':
      return assistantIssues(message, isLast)
    case 'tool':
      return toolMessageIssues(message)
    default:
      return []
  }
}

function isEmpty(content: Json | undefined): boolean {
  return content === undefined || content === null || content === '' || (Array.isArray(content) && content.length === 0)
}

function assistantIssues(message: JsonObject, isLast: boolean): Issue[] {
  const issues: Issue[] = []
  const calls = callsOf(message)
  if (isEmpty(message.content) && calls.length === 0) {
    issues.push(issue('T-8', 'Assistant message must have either content or tool_calls, but not none.'))
  }
  for (const call of calls) {
    const fault = idFault(call.id)
    if (fault) issues.push(issue(fault.rule, fault.text, 'invalid_function_call', '3280'))
    const name = isObject(call.function) ? call.function.name : undefined
    if (typeof name === 'string' && !toolNamePattern.test(name)) {
      issues.push(issue('T-12', nameFault(name), 'invalid_function_call', '3280'))
    }
  }
  if (message.prefix === true && !isLast) {
    issues.push(issue('T-11', 'Assistant message with prefix True must be last message'))
  }
  return issues
}

function toolMessageIssues(message: JsonObject): Issue[] {
  const issues: Issue[] = []
  if (typeof message.name === 'string' && !toolNamePattern.test(message.name)) {
    issues.push(issue('T-12', nameFault(message.name)))
  }
  const fault = idFault(message.tool_call_id)
  if (fault) issues.push(issue(fault.rule, fault.text))
  if (Array.isArray(message.content) && message.content.some((chunk) => isObject(chunk) && chunk.type !== 'text')) {
    issues.push(issue('T-9', 'Unexpected content chunk types in tool message'))
  }
  return issues
}

function idFault(id: Json | undefined): { rule: string; text: string } | undefined {
  if (id === undefined || id === null) return { rule: 'T-6', text: 'Tool call id has to be defined.' }
  if (typeof id === 'string' && callIdGrammar.fits.test(id)) return undefined
  return { rule: 'T-5', text: `Tool call id was ${quote(id)} but must be a-z, A-Z, 0-9, with a length of 9.` }
}

function nameFault(name: string): string {
  return `Function name was ${name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`
}

function toolIssues(body: JsonObject): Issue[] {
  const issues: Issue[] = []
  for (const tool of listIn(body.tools)) {
    const fn = objectIn(valueAt(tool, 'function'))
    const complaint = fn.parameters === undefined ? undefined : schemaComplaint(fn.parameters, '7')
    if (complaint !== undefined) issues.push(issue('T-13', `Invalid tool schema: ${complaint}`))
    if (typeof fn.name === 'string' && !toolNamePattern.test(fn.name)) issues.push(issue('T-12', nameFault(fn.name)))
  }
  return issues
}

// Whether a body matches the closed schema of the request. The service checks this first and answers 422 with
// pydantic's messages for all places at once; `param` has the place (`body.messages.0.assistant.reasoning_content`).

function misfits(body: Json): Issue[] {
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
function quote(value: Json): string {
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

function unknownFields(value: JsonObject, allowed: ReadonlySet<string>, path: string): Issue[] {
  return Object.keys(value)
    .filter((field) => !allowed.has(field) && value[field] !== undefined)
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
  const fields = typeof message.role === 'string' ? valueFor(messageFields, message.role) : undefined
  if (!fields) {
    const text = `Input tag '${quote(message.role ?? null)}' found using 'role' does not match any of the expected tags: 'assistant', 'system', 'tool', 'user'`
    return [misfit(path, 'union_tag_invalid', text)]
  }
  const location = `${path}.${quote(message.role ?? null)}`
  const issues = unknownFields(message, fields, location)
  issues.push(...contentMisfits(message, location))
  if (message.tool_calls !== undefined && message.tool_calls !== null) {
    issues.push(...callMisfits(message.tool_calls, `${location}.tool_calls`))
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
    const chunkPath = `${path}.content.${index}`
    if (!isObject(chunk)) issues.push(misfit(chunkPath, 'dict_type', 'Input should be a valid dictionary'))
    else if (typeof chunk.type !== 'string' || !chunkTypes.includes(chunk.type)) {
      const expected = chunkTypes.map((type) => `'${type}'`).join(', ')
      const text = `Input tag '${quote(chunk.type ?? null)}' found using 'type' does not match any of the expected tags: ${expected}`
      issues.push(misfit(chunkPath, 'union_tag_invalid', text))
    } else if (chunk.type === 'text' && typeof chunk.text !== 'string') issues.push(notString(`${chunkPath}.text`))
  }
  return issues
}

const callFields = new Set(['id', 'type', 'function', 'index'])

function callMisfits(calls: Json, path: string): Issue[] {
  if (!Array.isArray(calls)) return [notList(path)]
  const issues: Issue[] = []
  for (const [index, call] of calls.entries()) {
    const callPath = `${path}.${index}`
    if (!isObject(call) || !isObject(call.function)) {
      issues.push(misfit(`${callPath}.function`, 'missing', 'Field required'))
      continue
    }
    issues.push(...unknownFields(call, callFields, callPath))
    if (typeof call.function.name !== 'string') issues.push(notString(`${callPath}.function.name`))
    const args = call.function.arguments
    if (typeof args !== 'string' && !isObject(args)) issues.push(notString(`${callPath}.function.arguments`))
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
      const path = `body.tools.${index}.function`
      if (!isObject(fn)) issues.push(misfit(path, 'missing', 'Field required'))
      else if (typeof fn.name !== 'string') issues.push(notString(`${path}.name`))
      else if (!isObject(fn.parameters)) {
        issues.push(misfit(`${path}.parameters`, 'dict_type', 'Input should be a valid dictionary'))
      }
    }
  }
  if (typeof choice === 'string' && !['auto', 'none', 'any', 'required'].includes(choice)) {
    issues.push(misfit('body.tool_choice', 'enum', "Input should be 'auto', 'none', 'any' or 'required'"))
  }
  return issues
}
