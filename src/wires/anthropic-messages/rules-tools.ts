// Tools and tool choice.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { schemaComplaint } from '../tool-schema/meta-schema.ts'
import type { Report } from './rules.ts'

export function checkTools(body: JsonObject, report: Report): void {
  const { tools } = body
  if (tools !== undefined && !Array.isArray(tools)) {
    report('shape', 'tools: Input should be a valid list')
    return
  }
  const list = tools ?? []
  for (const [index, tool] of list.entries()) {
    if (!isObject(tool)) report('shape', `tools.${index}: Input should be a valid dictionary`)
    else if (tool.type === undefined || tool.type === null || tool.type === 'custom') checkTool(tool, index, report)
  }
  const names = list.flatMap((tool) => (isObject(tool) && typeof tool.name === 'string' ? [tool.name] : []))
  if (new Set(names).size < names.length) report('R-23', 'tools: Tool names must be unique.')
  checkChoice(body, list.length, new Set(names), report)
}

const toolFields: ReadonlySet<string> = new Set(
  (
    'type name description input_schema cache_control strict defer_loading allowed_callers eager_input_streaming ' +
    'input_examples'
  ).split(' '),
)

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/

function checkTool(tool: JsonObject, index: number, report: Report): void {
  const at = `tools.${index}.custom`
  for (const field of Object.keys(tool)) {
    if (!toolFields.has(field)) report('R-29', `${at}.${field}: Extra inputs are not permitted`)
  }
  if (typeof tool.name !== 'string') report('shape', `${at}.name: Field required`)
  else if (tool.name.length > 128) report('R-23', `${at}.name: String should have at most 128 characters`)
  else if (!namePattern.test(tool.name)) {
    report('R-23', `${at}.name: String should match pattern '${namePattern.source}'`)
  }
  checkSchema(tool.input_schema, `${at}.input_schema`, report)
}

function checkSchema(schema: Json | undefined, at: string, report: Report): void {
  if (schema === undefined) report('R-24', `${at}: Field required`)
  else if (!isObject(schema)) report('R-24', `${at}: Input should be a valid dictionary`)
  else if (schema.type === undefined) report('R-24', `${at}.type: Field required`)
  else if (schema.type !== 'object') report('R-24', `${at}.type: Input should be 'object'`)
  else if (['oneOf', 'allOf', 'anyOf'].some((key) => schema[key] !== undefined)) {
    report('R-24', `${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`)
  } else if (schemaComplaint(schema, '2020-12') !== undefined) {
    const message =
      'JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.'
    report('R-24', `${at}: ${message}`)
  }
}

const bounds: Record<string, readonly string[]> = {
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  string: ['minLength', 'maxLength'],
  array: ['maxItems', 'uniqueItems'],
  object: ['minProperties', 'maxProperties'],
}

/** Answer schemas, which models support from 4.5 on; the error of older ones is not recorded. */
export function checkAnswer(body: JsonObject, model: string, report: Report): void {
  const format = isObject(body.output_config) ? body.output_config.format : undefined
  if (!isObject(format)) return
  if (/claude-([123]|(opus|sonnet)-4(-0)?(-\d{8})?$)/.test(model)) {
    report('answer-format', `'${model}' does not support output format.`)
    return
  }
  const fault = answerFault(format.schema)
  if (fault !== undefined) report('answer-format', `output_config.format.schema: ${fault}`)
}

function answerFault(schema: Json | undefined): string | undefined {
  if (Array.isArray(schema)) return firstFault(schema)
  if (!isObject(schema)) return undefined
  const { type, additionalProperties: open } = schema
  if (type === 'object' && open === undefined) {
    return "For 'object' type, 'additionalProperties' must be explicitly set to false"
  }
  if (type === 'object' && open !== false) {
    return `For 'object' type, 'additionalProperties: ${JSON.stringify(open)}' is not supported. Please set 'additionalProperties' to false`
  }
  const bound = typeof type === 'string' ? bounds[type]?.find((key) => schema[key] !== undefined) : undefined
  if (bound !== undefined) return `For '${String(type)}' type, property '${bound}' is not supported`
  const named = ['properties', '$defs'].flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]) : []))
  return firstFault([...named, schema.items, schema.anyOf, schema.allOf, schema.oneOf])
}

function firstFault(schemas: readonly (Json | undefined)[]): string | undefined {
  for (const schema of schemas) {
    const fault = answerFault(schema)
    if (fault !== undefined) return fault
  }
  return undefined
}

function checkChoice(body: JsonObject, count: number, names: ReadonlySet<string>, report: Report): void {
  const choice = body.tool_choice
  if (choice === undefined || choice === null) return
  if (!isObject(choice) || !['auto', 'any', 'tool', 'none'].includes(String(choice.type))) {
    const tag = isObject(choice) ? String(choice.type) : ''
    const message = `Input tag '${tag}' found using 'type' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'`
    report('shape', `tool_choice: ${message}`)
    return
  }
  const continues = isObject(body.thread) && body.thread.type === 'continue'
  if (continues) return
  if (count === 0 && body.mcp_servers === undefined && choice.type !== 'none') {
    report('shape', 'tool_choice may only be specified while providing tools.')
  } else if (choice.type === 'tool' && typeof choice.name === 'string' && !names.has(choice.name)) {
    report('shape', `Tool '${choice.name}' not found in provided tools`)
  } else if (choice.type === 'tool' && typeof choice.name !== 'string') {
    report('shape', 'tool_choice.tool.name: Field required')
  }
}
