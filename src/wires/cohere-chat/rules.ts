// What Cohere's chat refuses, with its error messages. Texts are from its published list of errors and from recorded
// refusals (checked 2026-11); for a documented limit without a text, the text follows the others.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { objectIn, objectsIn, textIn } from '../shared/json-fields.ts'
import type { Issue, Profile } from '../wire.ts'
import { mostStopSequences, toolNamePattern } from './types.ts'

type Report = (rule: string, message: string, status?: number) => void

export function refuse(body: Json, _profile?: Profile): Issue[] {
  const issues: Issue[] = []
  const report: Report = (rule, message, status = 400) => issues.push({ rule, status, message })
  if (!isObject(body)) {
    report('shape', 'invalid request: the body must be a JSON object.')
    return issues
  }
  for (const field of Object.keys(body)) {
    if (!fields.has(field)) report('CO-2', `unknown field: parameter '${field}' is not a valid field.`, 422)
  }
  if (typeof body.model !== 'string' || body.model === '') {
    report('shape', 'invalid request: a model parameter is required for this endpoint.')
  }
  const messages = objectsIn(body.messages)
  if (!Array.isArray(body.messages) || messages.length === 0) {
    report('CO-12', 'invalid request: message must be at least 1 token long or tool results must be specified.')
  }
  checkMessages(messages, report)
  checkPairs(messages, report)
  checkTools(body, report)
  checkOptions(body, report)
  return issues
}

const fields: ReadonlySet<string> = new Set(
  'model messages stream tools strict_tools tool_choice documents citation_options response_format safety_mode max_tokens stop_sequences temperature seed frequency_penalty presence_penalty k p logprobs thinking priority'.split(
    ' ',
  ),
)

const blockTypes: Record<string, readonly string[]> = {
  system: ['text'],
  user: ['text', 'image_url'],
  assistant: ['text', 'thinking'],
  tool: ['text', 'document'],
}

function checkMessages(messages: readonly JsonObject[], report: Report): void {
  for (const [index, { role, content, tool_calls: calls, tool_call_id: id }] of messages.entries()) {
    const types = typeof role === 'string' && Object.hasOwn(blockTypes, role) ? blockTypes[role] : undefined
    if (!types) {
      const roles = Object.keys(blockTypes).join(', ')
      report('shape', `invalid request: invalid role in messages at index ${index}. Role must be one of: ${roles}`)
      continue
    }
    const odd = objectsIn(content).find(({ type }) => typeof type !== 'string' || !types.includes(type))
    if (odd) {
      const type = JSON.stringify(odd.type ?? null)
      const rule = role === 'tool' ? 'CO-9' : 'shape'
      report(rule, `invalid request: content of type ${type} is not valid for role ${String(role)} at index ${index}.`)
    }
    const isEmpty = content === undefined || content === null || content === '' || isEmptyList(content)
    if (isEmpty && role !== 'tool' && objectsIn(calls).length === 0) {
      report('CO-12', 'message must not be empty in a turn')
    }
    if (role === 'tool' && typeof id !== 'string') report('CO-11', 'tool call id must be provided with tool message')
  }
}

function isEmptyList(content: Json): boolean {
  return Array.isArray(content) && content.length === 0
}

function checkPairs(messages: readonly JsonObject[], report: Report): void {
  const earlier = new Set<Json | undefined>()
  for (const [index, { role, tool_calls: calls, tool_call_id: id }] of messages.entries()) {
    if (role === 'assistant') checkCalls(objectsIn(calls), resultsAfter(messages, index), report)
    if (role === 'tool' && typeof id === 'string' && !earlier.has(id)) {
      report('CO-11', 'tool call id not found in previous tool calls')
    }
    for (const call of objectsIn(calls)) earlier.add(call.id)
  }
}

function resultsAfter(messages: readonly JsonObject[], index: number): Set<Json> {
  const ids = new Set<Json>()
  for (let i = index + 1; messages[i]?.role === 'tool'; i++) ids.add(messages[i]?.tool_call_id ?? null)
  return ids
}

function checkCalls(calls: readonly JsonObject[], answered: ReadonlySet<Json>, report: Report): void {
  const ids = calls.map((call) => call.id ?? null)
  const open = ids.filter((id) => !answered.has(id))
  if (open.length > 0) {
    const rule =
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    const missing = `The following tool_call_ids did not have response messages: ${open.join(', ')}`
    report('CO-1', `invalid request: ${rule} ${missing}`)
  }
  if (new Set(ids).size < ids.length) report('CO-11', 'cannot have duplicate tool ids')
  for (const call of calls) {
    if (call.type !== 'function') report('shape', 'tool call must be of type function')
    const fn = objectIn(call.function)
    checkName(fn.name, report)
    if (typeof fn.arguments !== 'string') report('shape', 'invalid request: arguments of a tool call must be a string.')
  }
}

function checkName(name: Json | undefined, report: Report): void {
  if (typeof name === 'string' && toolNamePattern.test(name)) return
  const text = textIn(name)
  const rule = "tool names can only contain certain characters (A-Za-z0-9_) and can't begin with a digit"
  report('CO-10', `invalid request: ${rule} (provided name: '${text}').`)
}

function checkTools(body: JsonObject, report: Report): void {
  if (body.tools !== undefined && (!Array.isArray(body.tools) || body.tools.length === 0)) {
    report('CO-4', 'invalid request: tools must be a list of at least one tool.')
  }
  for (const tool of objectsIn(body.tools)) {
    const fn = objectIn(tool.function)
    checkName(fn.name, report)
    if (!isObject(fn.parameters) || fn.parameters.type !== 'object') report('CO-14', 'schema must be an object')
  }
  const choice = body.tool_choice
  if (choice !== undefined && choice !== 'REQUIRED' && choice !== 'NONE') {
    report('CO-5', 'invalid request: tool_choice must be one of REQUIRED, NONE.')
  }
  if (choice === 'REQUIRED' && objectsIn(body.tools).length === 0) {
    report('CO-5', 'invalid request: tools must be specified when tool_choice is REQUIRED.')
  }
}

const ranges: readonly (readonly [field: string, least: number, most: number])[] = [
  ['temperature', 0, 1],
  ['frequency_penalty', 0, 1],
  ['presence_penalty', 0, 1],
  ['p', 0.01, 0.99],
  ['k', 0, 500],
]

function checkOptions(body: JsonObject, report: Report): void {
  for (const [field, least, most] of ranges) {
    const value = body[field]
    if (value === undefined || (typeof value === 'number' && value >= least && value <= most)) continue
    const top = field === 'temperature' ? '1.0' : String(most)
    report('CO-13', `invalid request: ${field} must be between ${least} and ${top} inclusive.`)
  }
  const stop = body.stop_sequences
  if (Array.isArray(stop) && stop.length > mostStopSequences) {
    report('CO-13', `invalid request: at most ${mostStopSequences} stop sequences can be specified.`)
  }
  const budget = isObject(body.thinking) ? body.thinking.token_budget : undefined
  if (budget !== undefined && !(typeof budget === 'number' && budget > 0)) {
    report('CO-13', 'invalid request: token_budget must be a positive integer.')
  }
  const asksFormat = isObject(body.response_format) && body.response_format.type === 'json_object'
  if (asksFormat && Array.isArray(body.documents) && body.documents.length > 0) {
    report('CO-15', 'invalid request: response_format is not supported with RAG.')
  }
}
