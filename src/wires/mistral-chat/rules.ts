// What Mistral's chat completions refuse, with its error messages. Two stages, as in the service: a body that does not
// match the closed schema is refused with 422 before the conversation is read; then come the order of the messages, the
// content of each, and the tools. Texts of the second stage are those of mistral-common 1.11 (checked 2026-11).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Issue, Profile } from '../wire.ts'
import { schemaComplaint } from '../tool-schema/meta-schema.ts'
import { misfits, shown } from './rules-schema.ts'
import { callIdGrammar, toolNamePattern } from './types.ts'

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
    const before = messages[index - 1]?.role
    if (typeof before !== 'string' || typeof message.role !== 'string') continue
    const text = `Unexpected role '${message.role}' after role '${before}'`
    if (mayFollow[before]?.includes(message.role) === false) issues.push(outOfOrder('T-1', text))
    // First-party since 2026-04; hosts with older validators still refuse it.
    else if (before === 'tool' && message.role === 'user' && profile.provider !== 'mistral') {
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
  let asked: Json[] = []
  let answered = new Set<Json>()
  const settle = () => {
    if (missing !== 0) counts.push(outOfOrder('T-4', 'Not the same number of function calls and responses'))
    missing = 0
  }
  for (const message of messages) {
    if (message.role === 'assistant') {
      settle()
      asked = callsOf(message).map((call) => call.id ?? null)
      answered = new Set()
      missing = asked.length
      const twice = asked.find((id, index) => id !== null && asked.indexOf(id) !== index)
      if (twice !== undefined) {
        ids.push(outOfOrder('T-7', `Duplicate tool call id ${shown(twice)} in assistant message`))
      }
    } else if (message.role === 'tool') {
      missing--
      const id = message.tool_call_id ?? null
      if (id === null) continue
      if (!asked.includes(id)) ids.push(outOfOrder('T-7', `Unexpected tool call id ${shown(id)} in tool results`))
      else if (answered.has(id)) ids.push(outOfOrder('T-7', `Duplicate tool call id ${shown(id)} in tool results`))
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
  return { rule: 'T-5', text: `Tool call id was ${shown(id)} but must be a-z, A-Z, 0-9, with a length of 9.` }
}

function nameFault(name: string): string {
  return `Function name was ${name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`
}

function toolIssues(body: JsonObject): Issue[] {
  const issues: Issue[] = []
  for (const tool of Array.isArray(body.tools) ? body.tools : []) {
    const fn = isObject(tool) && isObject(tool.function) ? tool.function : {}
    const complaint = fn.parameters === undefined ? undefined : schemaComplaint(fn.parameters, '7')
    if (complaint !== undefined) issues.push(issue('T-13', `Invalid tool schema: ${complaint}`))
    if (typeof fn.name === 'string' && !toolNamePattern.test(fn.name)) issues.push(issue('T-12', nameFault(fn.name)))
  }
  return issues
}
