// What the checks of this wire share: the body, and how an issue is recorded.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Issue } from '../wire.ts'
import { invalid } from '../shared/openai-rules.ts'

export interface ChatBody {
  fields: JsonObject
  model: string
  messages: JsonObject[]
}

export type Check = (body: ChatBody) => Issue[]

/** Most messages have no issue, and a history has thousands. */
export function issuesOfEach(
  messages: readonly JsonObject[],
  issuesOf: (message: JsonObject, place: number) => readonly Issue[],
): Issue[] {
  const issues: Issue[] = []
  for (let place = 0; place < messages.length; place++) {
    const problems = issuesOf(messages[place] as JsonObject, place)
    if (problems.length > 0) issues.push(...problems)
  }
  return issues
}

export const noIssues: readonly Issue[] = []

const none: readonly JsonObject[] = []

export function callsIn(message: JsonObject): readonly JsonObject[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : none
}

export function toolsIn(body: ChatBody): JsonObject[] {
  return Array.isArray(body.fields.tools) ? body.fields.tools.filter(isObject) : []
}

export function partsIn(message: JsonObject): readonly JsonObject[] {
  return Array.isArray(message.content) ? message.content.filter(isObject) : none
}

/** `{…}` as a string: OpenAI accepts any text as arguments, many other hosts parse it. */
export function isObjectText(value: Json | undefined): boolean {
  if (typeof value !== 'string') return false
  try {
    return isObject(JSON.parse(value) as Json)
  } catch {
    return false
  }
}

export function emptyArray(rule: string, param: string): Issue {
  const message = `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`
  return invalid(rule, message, param, 'empty_array')
}
