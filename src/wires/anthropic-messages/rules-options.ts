// Options: what differs by model (thinking, sampling, prefill, forced calls, system messages in the middle), tools, and
// answer schemas.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { schemaComplaint } from '../tool-schema/meta-schema.ts'
import {
  effortsOf,
  maxOutputOf,
  type Model,
  takesAdaptiveThinking,
  takesDisabledThinking,
  takesForcedTool,
  takesManualThinking,
  takesMidSystem,
  takesOneSampling,
  takesPrefill,
  takesSampling,
} from './models.ts'
import type { Report, WireMessage } from './rules.ts'
import { isServerCall, isServerResult, isThinking } from './types.ts'
import { valueFor } from '../shared/json-fields.ts'

export function checkModel(
  body: JsonObject,
  messages: readonly WireMessage[],
  model: Model | undefined,
  report: Report,
): void {
  checkThinking(body, model, report)
  checkEnd(body, messages, model, report)
  if (!model) return
  checkSampling(body, model, report)
  checkForced(body, model, report)
  checkEffort(body, model, report)
  if (!takesMidSystem(model) && messages.some(({ role }) => role === 'system')) {
    report('R-12', "role 'system' is not supported on this model")
  }
  const limit = maxOutputOf(model)
  if (limit !== undefined && typeof body.max_tokens === 'number' && body.max_tokens > limit) {
    const message = `max_tokens: ${body.max_tokens} > ${limit}, which is the maximum allowed number of output tokens for ${String(body.model)}`
    report('shape', message)
  }
}

const switches = ['adaptive', 'between_tools', 'disabled', 'enabled']

function checkThinking(body: JsonObject, model: Model | undefined, report: Report): void {
  const { thinking } = body
  if (thinking === undefined || thinking === null) return
  if (!isObject(thinking) || !switches.includes(String(thinking.type))) {
    const tag = isObject(thinking) ? String(thinking.type) : ''
    const expected = switches.map((type) => `'${type}'`).join(', ')
    const message = `Input tag '${tag}' found using 'type' does not match any of the expected tags: ${expected}`
    report('R-20', `thinking: ${message}`)
    return
  }
  const type = String(thinking.type)
  const allowed = ['type', ...(type === 'enabled' ? ['budget_tokens'] : [])]
  if (type === 'enabled' || type === 'adaptive') allowed.push('display', 'block_binding')
  for (const field of Object.keys(thinking)) {
    if (!allowed.includes(field)) report('R-29', `thinking.${type}.${field}: Extra inputs are not permitted`)
  }
  if (type === 'enabled') checkBudget(body, thinking, report)
  if (!model) return
  if (type === 'enabled' && !takesManualThinking(model)) {
    report(
      'R-20',
      notSupported('enabled', ' Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'),
    )
  }
  if (type === 'adaptive' && !takesAdaptiveThinking(model)) {
    report('R-20', 'adaptive thinking is not supported on this model')
  }
  if (type === 'disabled' && !takesDisabledThinking(model)) report('R-20', notSupported('disabled', ''))
}

function notSupported(type: string, instead: string): string {
  return `"thinking.type.${type}" is not supported for this model.${instead}`
}

function checkBudget(body: JsonObject, thinking: JsonObject, report: Report): void {
  const budget = thinking.budget_tokens
  if (typeof budget !== 'number') report('R-20', 'thinking.enabled.budget_tokens: Field required')
  else if (budget < 1024) {
    report('R-20', 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
  } else if (typeof body.max_tokens === 'number' && body.max_tokens <= budget) {
    const where =
      'https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size'
    const message = `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. Please consult our documentation at ${where}`
    report('R-20', message)
  }
}

/** The last turn, and how the tool loop at the end began. */
function checkEnd(body: JsonObject, messages: readonly WireMessage[], model: Model | undefined, report: Report): void {
  const last = messages.at(-1)
  const type = isObject(body.thinking) ? body.thinking.type : undefined
  if (type === 'enabled') checkLoop(messages, report)
  // A request for a summary ends at the current position: nothing is prefilled.
  if (last?.role !== 'assistant' || last.content.length === 0 || isObject(body.compaction)) return
  const path = `messages.${last.index}`
  const final = last.content.at(-1)
  if (final?.type === 'text' && typeof final.text === 'string' && /\s$/.test(final.text)) {
    report('R-13', 'messages: final assistant content cannot end with trailing whitespace')
  }
  if (final && isThinking(final)) {
    report('final-thinking', `${path}: The final block in an assistant message cannot be \`${final.type}\`.`)
  }
  // A paused reply is sent back unchanged; it always contains server tool blocks.
  const paused = last.content.some(
    (block) => isServerCall(block) || isServerResult(block) || block.type === 'compaction',
  )
  const thought = last.content.findIndex(isThinking)
  if (!paused && thought >= 0 && (type === undefined || type === 'disabled') && (!model || takesPrefill(model))) {
    const message =
      'When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.'
    report('R-17', `${path}.content.${thought}: ${message}`)
  }
  if (!paused && model && !takesPrefill(model)) {
    const message =
      'This model does not support assistant message prefill. The conversation must end with a user message.'
    report('R-14', message)
  }
}

function checkLoop(messages: readonly WireMessage[], report: Report): void {
  const turns = messages.filter(({ role }) => role !== 'system')
  const onlyResults = (message: WireMessage | undefined) =>
    message?.role === 'user' && message.content.some((block) => block.type === 'tool_result')
  let first: WireMessage | undefined
  let thinks = false
  let inLoop = onlyResults(turns.at(-1)) || turns.at(-1)?.role === 'assistant'
  for (const message of turns.toReversed()) {
    if (!inLoop) break
    if (message.role === 'assistant') {
      first = message
      thinks ||= message.content.some(isThinking)
    } else inLoop = onlyResults(message)
  }
  const opening = first?.content[0]
  if (!first || !opening || thinks) return
  const message =
    'When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking'
  const expected = `Expected \`thinking\` or \`redacted_thinking\`, but found \`${opening.type}\`. ${message}`
  report('R-16', `messages.${first.index}.content.0.type: ${expected}`)
}

function checkSampling(body: JsonObject, model: Model, report: Report): void {
  const thinks = isObject(body.thinking) && (body.thinking.type === 'enabled' || body.thinking.type === 'adaptive')
  for (const field of ['temperature', 'top_p', 'top_k']) {
    const value = body[field]
    const byDefault = value === undefined || value === null || (field === 'temperature' && value === 1)
    if (byDefault) continue
    if (!takesSampling(model)) report('sampling', `\`${field}\` is deprecated for this model.`)
    else if (thinks && field === 'temperature') {
      report('sampling', '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.')
    }
  }
  const both = typeof body.temperature === 'number' && typeof body.top_p === 'number'
  if (both && takesSampling(model) && takesOneSampling(model)) {
    const message = '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
    report('sampling', message)
  }
}

/** The texts for both cases are recorded (checked 2026-11). */
function checkEffort(body: JsonObject, model: Model, report: Report): void {
  const effort = isObject(body.output_config) ? body.output_config.effort : undefined
  if (typeof effort !== 'string') return
  const efforts = effortsOf(model)
  if (efforts.length === 0) report('R-20', 'This model does not support the effort parameter.')
  else if (!efforts.includes(effort)) {
    const levels = efforts.toSorted().join(', ')
    report('R-20', `This model does not support effort level '${effort}'. Supported levels: ${levels}.`)
  }
}

function checkForced(body: JsonObject, model: Model, report: Report): void {
  const type = isObject(body.tool_choice) ? body.tool_choice.type : undefined
  if (type !== 'any' && type !== 'tool') return
  if (!takesForcedTool(model)) {
    report('R-21', 'tool_choice: type "tool" and "any" are not supported for this model.')
  } else if (isObject(body.thinking) && body.thinking.type === 'enabled') {
    report('R-21', 'Thinking may not be enabled when tool_choice forces tool use.')
  }
}

/** Tools and tool choice. */
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
  const path = `tools.${index}.custom`
  for (const field of Object.keys(tool)) {
    if (!toolFields.has(field)) report('R-29', `${path}.${field}: Extra inputs are not permitted`)
  }
  if (typeof tool.name !== 'string') report('shape', `${path}.name: Field required`)
  else if (tool.name.length > 128) report('R-23', `${path}.name: String should have at most 128 characters`)
  else if (!namePattern.test(tool.name)) {
    report('R-23', `${path}.name: String should match pattern '${namePattern.source}'`)
  }
  checkSchema(tool.input_schema, `${path}.input_schema`, report)
}

function checkSchema(schema: Json | undefined, path: string, report: Report): void {
  if (schema === undefined) report('R-24', `${path}: Field required`)
  else if (!isObject(schema)) report('R-24', `${path}: Input should be a valid dictionary`)
  else if (schema.type === undefined) report('R-24', `${path}.type: Field required`)
  else if (schema.type !== 'object') report('R-24', `${path}.type: Input should be 'object'`)
  else if (['oneOf', 'allOf', 'anyOf'].some((key) => schema[key] !== undefined)) {
    report('R-24', `${path}: input_schema does not support oneOf, allOf, or anyOf at the top level`)
  } else if (schemaComplaint(schema, '2020-12') !== undefined) {
    const message =
      'JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.'
    report('R-24', `${path}: ${message}`)
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
  const bound = typeof type === 'string' ? valueFor(bounds, type)?.find((key) => schema[key] !== undefined) : undefined
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
