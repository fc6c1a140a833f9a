// What the checks of this wire share: the body, and how an issue is recorded.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Issue } from '../wire.ts'
import { invalid } from '../shared/openai-rules.ts'

export interface ResponsesBody {
  fields: JsonObject
  model: string
  /** The host; OpenAI by default. */
  provider: string
  /** The input items; a string is one user message. */
  items: JsonObject[]
}

export type Check = (body: ResponsesBody) => Issue[]

/** Valid tool names. */
export const namePattern = /^[a-zA-Z0-9_-]+$/
export const maxNameLength = 128

export function missing(rule: string, param: string): Issue {
  return invalid(rule, `Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
}

export function unknown(rule: string, param: string): Issue {
  return invalid(rule, `Unknown parameter: '${param}'.`, param, 'unknown_parameter')
}

export function wrongType(param: string, expected: string, value: Json): Issue {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${nameOf(value)} instead.`
  return invalid('shape', message, param, 'invalid_type')
}

export function wrongValue(rule: string, param: string, value: string, supported: readonly string[]): Issue {
  return invalid(rule, `Invalid value: '${value}'. Supported values are: ${listOf(supported)}.`, param, 'invalid_value')
}

/** `'a', 'b', and 'c'`, as the API lists them. */
export function listOf(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`)
  if (quoted.length <= 2) return quoted.join(' and ')
  return `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`
}

export function toolsIn({ fields }: ResponsesBody): JsonObject[] {
  return Array.isArray(fields.tools) ? fields.tools.filter(isObject) : []
}

export function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

/** A request that continues server-side state: calls may be there instead of in the body. */
export function hasState({ fields }: ResponsesBody): boolean {
  return isGiven(fields.previous_response_id) || isGiven(fields.conversation)
}

function nameOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number' && Number.isInteger(value)) return 'an integer'
  return typeof value === 'number' ? 'a decimal' : `a ${typeof value}`
}
