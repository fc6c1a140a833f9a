// What the checks of this wire share: the body, and how an issue is recorded.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Issue } from '../wire.ts'

export interface ChatBody {
  fields: JsonObject
  model: string
  messages: JsonObject[]
}

export type Check = (body: ChatBody) => Issue[]

export function invalid(rule: string, message: string, param: string | null = null, code: string | null = null): Issue {
  return { rule, status: 400, message, type: 'invalid_request_error', param, code }
}

export function callsIn(message: JsonObject): JsonObject[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
}

export function toolsIn(body: ChatBody): JsonObject[] {
  return Array.isArray(body.fields.tools) ? body.fields.tools.filter(isObject) : []
}

export function partsIn(message: JsonObject): JsonObject[] {
  return Array.isArray(message.content) ? message.content.filter(isObject) : []
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

export function tooLong(rule: string, param: string, limit: number, text: string): Issue {
  const message = `Invalid '${param}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${text.length} instead.`
  return invalid(rule, message, param, 'string_above_max_length')
}

export function emptyArray(rule: string, param: string): Issue {
  const message = `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`
  return invalid(rule, message, param, 'empty_array')
}
