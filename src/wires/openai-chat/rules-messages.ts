// OpenAI's rules for messages, which hosts share unless they are known not to: each field first (C4–C8, C12), then
// calls and results (C1–C3), because that is the order in which a request is read.

import type { Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { objectsIn } from '../shared/json-fields.ts'
import type { Issue } from '../wire.ts'
import { invalid, tooLong } from '../shared/openai-rules.ts'
import { callsIn, emptyArray, issuesOfEach, noIssues, partsIn, type Check } from './rules-context.ts'

export const notEmpty: Check = ({ messages }) => (messages.length === 0 ? [emptyArray('C7', 'messages')] : [])

const roles: ReadonlySet<unknown> = new Set(['system', 'assistant', 'user', 'function', 'tool', 'developer'])

export const knownRoles: Check = ({ messages }) =>
  issuesOfEach(messages, ({ role }, i) => {
    if (roles.has(role)) return noIssues
    const param = `messages[${i}].role`
    if (role === undefined) {
      return [invalid('shape', `Missing required parameter: '${param}'.`, param, 'missing_required_parameter')]
    }
    return [invalid('shape', unknownRole(role), param, 'invalid_value')]
  })

function unknownRole(role: Json): string {
  return `Invalid value: '${String(role)}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`
}

/** A role that only some host knows: no other wire has a place for such a message. */
export function roleOfHost({ messages }: JsonObject): Failure | undefined {
  const list = objectsIn(messages)
  const index = list.findIndex(({ role }) => role !== undefined && !roles.has(role))
  const role = list[index]?.role
  if (role === undefined) return undefined
  const param = `messages[${index}].role`
  return { kind: 'bad-input', code: 'invalid_value', param, message: unknownRole(role) }
}

/** Content is a string or a non-empty list; null only with calls (C6, C7). */
export const contentShape: Check = ({ messages }) =>
  issuesOfEach(messages, (message, i) => {
    const { content } = message
    if (typeof content === 'string') return noIssues
    if (Array.isArray(content)) return content.length === 0 ? [emptyArray('C7', `messages[${i}].content`)] : noIssues
    if (mayLackContent(message)) return noIssues
    const param = `messages.[${i}].content`
    if (content === null || content === undefined) {
      return [invalid('C6', "Invalid value for 'content': expected a string, got null.", param)]
    }
    const got = isObject(content) ? 'an object' : `a ${typeof content}`
    const place = `messages[${i}].content`
    const text = `Invalid type for '${place}': expected one of a string or array of objects, but got ${got} instead.`
    return [invalid('shape', text, place, 'invalid_type')]
  })

/** OpenRouter changes the effort with a system message that contains nothing else. */
function mayLackContent(message: JsonObject): boolean {
  if (message.configuration_update !== undefined) return true
  if (message.role !== 'assistant' || (message.content !== null && message.content !== undefined)) return false
  return (
    callsIn(message).length > 0 ||
    isObject(message.function_call) ||
    isObject(message.audio) ||
    Boolean(message.refusal)
  )
}

/** OpenAI's own content types; other hosts have further ones. */
const partTypes: ReadonlySet<unknown> = new Set(['text', 'image_url', 'input_audio', 'refusal', 'audio', 'file'])

export const knownParts: Check = ({ messages }) =>
  issuesOfEach(messages, (message, i) =>
    partsIn(message).flatMap((part, k): Issue[] => {
      if (partTypes.has(part.type)) return []
      const text = `Invalid value: '${String(part.type)}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'.`
      return [invalid('shape', text, `messages[${i}].content[${k}].type`, 'invalid_value')]
    }),
  )

/** GPT-5.2 and later no longer refuse it, but ignore the image (checked 2026-11). */
export const imagesOnlyFromUsers: Check = ({ messages, model }) => {
  if (/^gpt-(5\.[2-9]|[6-9])/.test(model)) return []
  return issuesOfEach(messages, (message, i) => {
    if (message.role === 'user' || !partsIn(message).some((part) => part.type === 'image_url')) return noIssues
    const role = String(message.role)
    const text = `Invalid 'messages[${i}]'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`
    return [invalid('C12', text, `messages[${i}]`, 'invalid_value')]
  })
}

export function callShape(limits: { idLength?: number; names: boolean }): Check {
  return ({ messages }) =>
    issuesOfEach(messages, (message, i) =>
      Array.isArray(message.tool_calls) ? callIssues(message, `messages[${i}]`, limits) : noIssues,
    )
}

function callIssues(message: JsonObject, at: string, limits: { idLength?: number; names: boolean }): Issue[] {
  const { tool_calls } = message
  if (Array.isArray(tool_calls) && tool_calls.length === 0) return [emptyArray('C5', `${at}.tool_calls`)]
  return callsIn(message).flatMap((call, k): Issue[] => {
    const param = `${at}.tool_calls[${k}]`
    const missing = (field: string) =>
      invalid(
        'shape',
        `Missing required parameter: '${param}.${field}'.`,
        `${param}.${field}`,
        'missing_required_parameter',
      )
    if (typeof call.id !== 'string') return [missing('id')]
    if (limits.idLength !== undefined && call.id.length > limits.idLength) {
      return [tooLong('C4', `${param}.id`, limits.idLength, call.id)]
    }
    if (typeof call.type !== 'string') return [missing('type')]
    if (call.type !== 'function') return []
    const fn = call.function
    if (!isObject(fn)) return [missing('function')]
    if (typeof fn.arguments !== 'string') return [argumentsType(`${param}.function.arguments`, fn)]
    return limits.names ? nameIssues(fn.name, `${param}.function.name`) : []
  })
}

function argumentsType(param: string, fn: JsonObject): Issue {
  if (fn.arguments === undefined) {
    return invalid('shape', `Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
  }
  const got = isObject(fn.arguments) ? 'an object' : `a ${typeof fn.arguments}`
  return invalid(
    'shape',
    `Invalid type for '${param}': expected a string, but got ${got} instead.`,
    param,
    'invalid_type',
  )
}

/** C8 in the history, C9 in `tools`. */
export function nameIssues(name: unknown, param: string, rule = 'C8'): Issue[] {
  if (typeof name !== 'string') {
    return [invalid(rule, `Missing required parameter: '${param}'.`, param, 'missing_required_parameter')]
  }
  if (name === '') {
    const text = `Invalid '${param}': empty string. Expected a string with minimum length 1, but got an empty string instead.`
    return [invalid(rule, text, param, 'empty_string')]
  }
  if (name.length > 64) return [tooLong(rule, param, 64, name)]
  if (/^[a-zA-Z0-9_-]+$/.test(name)) return []
  const text = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`
  return [invalid(rule, text, param, 'invalid_value')]
}

/** A host's error for calls and results that do not match. */
export interface PairingWords {
  unanswered(ids: readonly string[], place: number): Issue
  orphan(place: number): Issue
  unknownId(id: string, place: number): Issue
  twice?(id: string, first: number, place: number): Issue
}

export const openaiPairing: PairingWords = {
  unanswered: (ids, place) =>
    invalid(
      'C1',
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
      `messages.[${place}].role`,
    ),
  orphan: (place) =>
    invalid(
      'C2',
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      `messages.[${place}].role`,
    ),
  unknownId: (id, place) =>
    invalid(
      'C2',
      `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
      `messages.[${place}].tool_call_id`,
    ),
  twice: (id, first, place) =>
    invalid(
      'C3',
      `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}', in messages[${first}] and messages[${place}].`,
      `messages.[${place}].tool_call_id`,
    ),
}

export function checkPairs(words: PairingWords): Check {
  return ({ messages }) => {
    const issues: Issue[] = []
    let open: Map<string, number | undefined> | undefined
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i] as JsonObject
      if (message.role === 'tool') {
        issues.push(...resultIssues(message, i, open, words))
        continue
      }
      close(i)
      const calls = callsIn(message)
      open = calls.length > 0 ? new Map(calls.map(({ id }) => [String(id), undefined])) : undefined
    }
    close(messages.length)
    return issues

    function close(place: number): void {
      if (!open) return
      const missing = [...open].filter(([, answer]) => answer === undefined).map(([id]) => id)
      if (missing.length > 0) issues.push(words.unanswered(missing, place))
    }
  }
}

function resultIssues(
  message: JsonObject,
  place: number,
  open: Map<string, number | undefined> | undefined,
  words: PairingWords,
): Issue[] {
  const id = message.tool_call_id
  if (typeof id !== 'string') {
    const text = "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'."
    return [invalid('C2', text, `messages.[${place}].tool_call_id`)]
  }
  if (!open) return [words.orphan(place)]
  if (!open.has(id)) return [words.unknownId(id, place)]
  const first = open.get(id)
  if (first !== undefined) return words.twice ? [words.twice(id, first, place)] : []
  open.set(id, place)
  return []
}
