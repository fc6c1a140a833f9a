// What an Ollama server refuses on `/api/chat`, with its error messages; `generate` adds what `/api/generate` refuses. The server is written in Go: a body is parsed
// into typed fields, and the first value of another type ends the request with 400. Null is accepted everywhere.
// Unknown fields are ignored, and so are unknown roles: it checks neither order nor pairing of messages. Types as of
// 2026-08, texts from reports up to 2026-09.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Issue, Profile } from '../wire.ts'
import { thinkLevels } from './types.ts'

export function refuse(body: Json, _profile?: Profile): Issue[] {
  if (!isObject(body)) {
    return [issue('O-1', `json: cannot unmarshal ${kindOf(body)} into Go value of type api.ChatRequest`)]
  }
  const issues: Issue[] = []
  checkType(body.model, 'string', 'model', 'string', issues)
  checkType(body.stream, 'bool', 'stream', 'bool', issues)
  checkType(body.truncate, 'bool', 'truncate', 'bool', issues)
  checkType(body.shift, 'bool', 'shift', 'bool', issues)
  checkType(body.options, 'object', 'options', 'map[string]interface {}', issues)
  if (checkType(body.messages, 'array', 'messages', '[]api.Message', issues)) {
    for (const message of body.messages as Json[]) messageIssues(message, issues)
  }
  if (checkType(body.tools, 'array', 'tools', 'api.Tools', issues)) {
    for (const tool of body.tools as Json[]) toolIssues(tool, issues)
  }
  thinkIssues(body.think, issues)
  if (body.model === undefined || body.model === null || body.model === '')
    issues.push(issue('O-2', 'model is required'))
  optionIssues(body.options, issues)
  formatIssues(body.format, issues)
  return issues
}

function issue(rule: string, message: string, status = 400): Issue {
  return { rule, status, message }
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** Whether the value exists and has the type; if it exists with another type, that is an issue. */
function checkType(
  value: Json | undefined,
  kind: string,
  path: string,
  goType: string,
  issues: Issue[],
  rule = 'O-1',
): boolean {
  if (value === undefined || value === null) return false
  const wrong = typeIssues(value, kind, `ChatRequest.${path}`, goType, rule)
  issues.push(...wrong)
  return wrong.length === 0
}

/** A value of another type than that of the Go field. */
export function typeIssues(
  value: Json | undefined,
  kind: string,
  field: string,
  goType: string,
  rule = 'O-1',
): Issue[] {
  if (value === undefined || value === null) return []
  const actual = kindOf(value)
  if (actual === kind) return []
  return [issue(rule, `json: cannot unmarshal ${actual} into Go struct field ${field} of type ${goType}`)]
}

function messageIssues(message: Json, issues: Issue[]): void {
  if (!checkType(message, 'object', 'messages', 'api.Message', issues)) return
  const fields = message as JsonObject
  checkType(fields.role, 'string', 'messages.role', 'string', issues)
  checkType(fields.content, 'string', 'messages.content', 'string', issues, 'O-3')
  checkType(fields.thinking, 'string', 'messages.thinking', 'string', issues)
  checkType(fields.tool_name, 'string', 'messages.tool_name', 'string', issues)
  checkType(fields.tool_call_id, 'string', 'messages.tool_call_id', 'string', issues)
  if (checkType(fields.images, 'array', 'messages.images', '[]api.ImageData', issues)) {
    for (const image of fields.images as Json[]) {
      if (!checkType(image, 'string', 'messages.images', 'api.ImageData', issues)) continue
      const offset = base64Fault(image as string)
      if (offset !== undefined) issues.push(issue('O-5', `illegal base64 data at input byte ${offset}`))
    }
  }
  if (checkType(fields.tool_calls, 'array', 'messages.tool_calls', '[]api.ToolCall', issues)) {
    for (const call of fields.tool_calls as Json[]) callIssues(call, issues)
  }
}

function callIssues(call: Json, issues: Issue[]): void {
  if (!checkType(call, 'object', 'messages.tool_calls', 'api.ToolCall', issues)) return
  const { id, function: fn } = call as JsonObject
  checkType(id, 'string', 'messages.tool_calls.id', 'string', issues)
  if (!checkType(fn, 'object', 'messages.tool_calls.function', 'api.ToolCallFunction', issues)) return
  const { name, arguments: args } = fn as JsonObject
  checkType(name, 'string', 'messages.tool_calls.function.name', 'string', issues)
  if (args !== undefined && args !== null && !isObject(args)) {
    issues.push(issue('O-4', "Value looks like object, but can't find closing '}' symbol"))
  }
}

function toolIssues(tool: Json, issues: Issue[]): void {
  if (!checkType(tool, 'object', 'tools', 'api.Tool', issues)) return
  const { type, function: fn } = tool as JsonObject
  checkType(type, 'string', 'tools.type', 'string', issues)
  if (!checkType(fn, 'object', 'tools.function', 'api.ToolFunction', issues)) return
  const { name, description, parameters } = fn as JsonObject
  checkType(name, 'string', 'tools.function.name', 'string', issues)
  checkType(description, 'string', 'tools.function.description', 'string', issues)
  const path = 'tools.function.parameters'
  if (!checkType(parameters, 'object', path, 'api.ToolFunctionParameters', issues)) return
  const { type: kind, required, properties } = parameters as JsonObject
  checkType(kind, 'string', `${path}.type`, 'string', issues)
  if (checkType(required, 'array', `${path}.required`, '[]string', issues)) {
    for (const name of required as Json[]) checkType(name, 'string', `${path}.required`, 'string', issues)
  }
  if (isObject(properties)) for (const property of Object.values(properties)) propertyIssues(property, issues)
}

function propertyIssues(property: Json | undefined, issues: Issue[]): void {
  if (property === undefined || property === null) return
  if (!isObject(property)) {
    issues.push(issue('O-8', `json: cannot unmarshal ${kindOf(property)} into Go value of type api.ToolProperty`))
    return
  }
  const { type, description, enum: values } = property
  const isType = type === undefined || type === null || typeof type === 'string' || isStrings(type)
  if (!isType) issues.push(issue('O-8', `json: cannot unmarshal ${kindOf(type)} into Go value of type string`))
  if (description !== undefined && description !== null && typeof description !== 'string') {
    const text = `json: cannot unmarshal ${kindOf(description)} into Go struct field .description of type string`
    issues.push(issue('O-8', text))
  }
  if (values !== undefined && values !== null && !Array.isArray(values)) {
    const text = `json: cannot unmarshal ${kindOf(values)} into Go struct field .enum of type []interface {}`
    issues.push(issue('O-8', text))
  }
  if (isObject(property.properties))
    for (const inner of Object.values(property.properties)) propertyIssues(inner, issues)
  if (Array.isArray(property.anyOf)) for (const inner of property.anyOf) propertyIssues(inner, issues)
}

function isStrings(value: Json): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function thinkIssues(think: Json | undefined, issues: Issue[]): void {
  if (think === undefined || think === null || typeof think === 'boolean') return
  const list = '"high", "medium", "low", "max", true, or false'
  if (typeof think !== 'string') issues.push(issue('O-6', `think must be a boolean or string (${list})`))
  else if (!thinkLevels.some((level) => level === think)) {
    issues.push(issue('O-6', `invalid think value: ${JSON.stringify(think)} (must be ${list})`))
  }
}

const integerOptions = new Set([
  'num_keep',
  'seed',
  'num_predict',
  'top_k',
  'repeat_last_n',
  'num_ctx',
  'num_batch',
  'num_gpu',
  'num_thread',
])
const floatOptions = new Set([
  'top_p',
  'min_p',
  'typical_p',
  'temperature',
  'repeat_penalty',
  'presence_penalty',
  'frequency_penalty',
])

/** Options are read when the model is loaded, after the request was accepted: hence 500. */
function optionIssues(options: Json | undefined, issues: Issue[]): void {
  if (!isObject(options)) return
  const wrong = (name: string, type: string) =>
    issues.push(issue('O-7', `option "${name}" must be of type ${type}`, 500))
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue
    if (integerOptions.has(name) && typeof value !== 'number') wrong(name, 'integer')
    if (floatOptions.has(name) && typeof value !== 'number') wrong(name, 'float32')
    if (name === 'stop') {
      if (!Array.isArray(value)) wrong(name, 'array')
      else if (value.some((item) => typeof item !== 'string')) {
        issues.push(issue('O-7', 'option "stop" must be of an array of strings', 500))
      }
    }
  }
}

function formatIssues(format: Json | undefined, issues: Issue[]): void {
  if (format === undefined || format === null || format === '' || format === 'json' || isObject(format)) return
  const text = JSON.stringify(JSON.stringify(format))
  issues.push(issue('O-9', `invalid format: ${text}; expected "json" or a valid JSON Schema object`, 500))
}

// Where Go's base64 decoder stops: an image given as a URL is not refused as such, it is decoded as base64 and fails at
// the first colon. Line breaks inside are skipped; padding is required.

/** The offset in the error, or undefined if the text is valid. */
function base64Fault(text: string): number | undefined {
  const stop = text.search(/[^A-Za-z0-9+/\r\n]/)
  const head = stop < 0 ? text : text.slice(0, stop)
  const inGroup = (/[\r\n]/.test(head) ? head.replaceAll(/[\r\n]/g, '') : head).length % 4
  if (stop < 0) return inGroup === 0 ? undefined : text.length - inGroup
  return text.charAt(stop) === '=' ? paddingFault(text, stop, inGroup) : stop
}

/** `offset` is the position of the first `=`. */
function paddingFault(text: string, offset: number, inGroup: number): number | undefined {
  if (inGroup < 2) return offset
  let next = afterBreaks(text, offset + 1)
  if (inGroup === 2) {
    if (next >= text.length) return text.length
    if (text.charAt(next) !== '=') return next
    next = afterBreaks(text, next + 1)
  }
  return next < text.length ? next : undefined
}

function afterBreaks(text: string, from: number): number {
  let offset = from
  while (text.charAt(offset) === '\n' || text.charAt(offset) === '\r') offset++
  return offset
}
