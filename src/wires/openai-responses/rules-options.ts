// The rules for the fields of a request around the items, and for what only some models accept.

import { isObject, type Json } from '../../core/json.ts'
import { invalid, isOSeries, isReasoning, openaiVersion, tooLong } from '../shared/openai-rules.ts'
import { answerSchemaFault, functionSchemaFault } from '../tool-schema/rules.ts'
import type { Issue } from '../wire.ts'
import {
  type Check,
  isGiven,
  listOf,
  maxNameLength,
  missing,
  namePattern,
  toolsIn,
  unknown,
  wrongType,
  wrongValue,
} from './rules-context.ts'
import { stringField } from './types.ts'

const knownFields: ReadonlySet<string> = new Set([
  'access_programs',
  'background',
  'client_metadata',
  'context_management',
  'conversation',
  'frequency_penalty',
  'image',
  'include',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'model',
  'moderation',
  'parallel_tool_calls',
  'presence_penalty',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
])

export const fieldNames: Check = ({ fields }) =>
  Object.keys(fields)
    .filter((key) => fields[key] !== undefined && !knownFields.has(key))
    .map((key) => unknown('shape', key))

const booleans = ['background', 'parallel_tool_calls', 'store', 'stream']
const strings = ['instructions', 'previous_response_id', 'prompt_cache_key', 'safety_identifier', 'user']
const integers = ['max_output_tokens', 'max_tool_calls', 'top_logprobs']
const decimals = ['temperature', 'top_p']

export const fieldTypes: Check = ({ fields }) => {
  const issues: Issue[] = []
  const demand = (names: readonly string[], expected: string, fits: (value: Json) => boolean) => {
    for (const name of names) {
      const value = fields[name]
      if (value !== undefined && value !== null && !fits(value)) issues.push(wrongType(name, expected, value))
    }
  }
  demand(booleans, 'a boolean', (value) => typeof value === 'boolean')
  demand(strings, 'a string', (value) => typeof value === 'string')
  demand(integers, 'an integer', (value) => Number.isInteger(value))
  demand(decimals, 'a decimal', (value) => typeof value === 'number')
  demand(['reasoning', 'text', 'stream_options', 'client_metadata'], 'an object', isObject)
  demand(['tools'], 'an array of tools', Array.isArray)
  return issues
}

/** R18: nothing to answer. */
export const somethingToAnswer: Check = ({ fields, items }) => {
  const { previous_response_id, prompt, conversation } = fields
  if (items.length > 0 || isGiven(previous_response_id) || isGiven(prompt) || isGiven(conversation)) return []
  const text = `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`
  return [invalid('R18', text, null, 'missing_required_parameter')]
}

/** R19. */
export const oneState: Check = ({ fields }) => {
  if (!isGiven(fields.previous_response_id) || !isGiven(fields.conversation)) return []
  const text = "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'pre..._id' or 'conversation'."
  return [invalid('R19', text, null, 'mutually_exclusive_parameters')]
}

export const outputLimit: Check = ({ fields }) => {
  const limit = fields.max_output_tokens
  if (typeof limit !== 'number' || limit >= 16) return []
  const text = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`
  return [invalid('output-limit', text, 'max_output_tokens', 'integer_below_min_value')]
}

export const cacheKeyLength: Check = ({ fields }) => {
  const key = fields.prompt_cache_key
  return typeof key === 'string' && key.length > 64 ? [tooLong('C18', 'prompt_cache_key', 64, key)] : []
}

const includable = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
]

export const includes: Check = ({ fields }) => {
  if (!Array.isArray(fields.include)) return []
  return fields.include.flatMap((name, i) =>
    includable.includes(String(name)) ? [] : [wrongValue('shape', `include[${i}]`, String(name), includable)],
  )
}

/** C9, C10 in this wire's form: tools are flat, and their names may be twice as long as on the chat wire. */
export const tools: Check = (body) => {
  const list = toolsIn(body)
  const issues = list.flatMap((tool, i): Issue[] => {
    const place = `tools[${i}]`
    if (typeof tool.type !== 'string') return [missing('shape', `${place}.type`)]
    if (tool.type !== 'function') return []
    const name = stringField(tool, 'name')
    if (name === undefined) return [missing('C9', `${place}.name`)]
    if (!namePattern.test(name)) {
      const text = `Invalid '${place}.name': string does not match pattern. Expected a string that matches the pattern '${namePattern.source}'.`
      return [invalid('C9', text, `${place}.name`, 'invalid_value')]
    }
    return name.length > maxNameLength ? [tooLong('C9', `${place}.name`, maxNameLength, name)] : []
  })
  if (list.length > 128) {
    const text = `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${list.length} instead.`
    issues.push(invalid('C10', text, 'tools', 'array_above_max_length'))
  }
  return issues
}

export const toolChoice: Check = (body) => {
  const choice = body.fields.tool_choice
  const offered = toolsIn(body)
  if (choice === 'required' && offered.length === 0) {
    return [invalid('tool-choice', "Tool choice 'required' must be specified with 'tools' parameter.", 'tool_choice')]
  }
  if (typeof choice === 'string' && !['none', 'auto', 'required'].includes(choice)) {
    return [wrongValue('shape', 'tool_choice', choice, ['none', 'auto', 'required'])]
  }
  if (!isObject(choice) || choice.type !== 'function') return []
  const name = stringField(choice, 'name')
  if (name === undefined) return [missing('shape', 'tool_choice.name')]
  // Tools can also be added by an item, or found by a search.
  const isClosed = offered.every((tool) => tool.type === 'function')
  if (!isClosed || offered.some((tool) => tool.name === name)) return []
  if (body.items.some((item) => item.type === 'additional_tools')) return []
  return [invalid('tool-choice', `Tool choice '${name}' not found in 'tools' parameter.`, 'tool_choice')]
}

export const answerFormat: Check = ({ fields }) => {
  const format = isObject(fields.text) ? fields.text.format : undefined
  if (!isObject(format)) return []
  const types = ['json_object', 'text', 'json_schema']
  const type = stringField(format, 'type') ?? ''
  if (!types.includes(type)) return [wrongValue('shape', 'text.format.type', type, types)]
  if (type !== 'json_schema') return []
  return ['name', 'schema'].filter((key) => !isGiven(format[key])).map((key) => missing('shape', `text.format.${key}`))
}

/** OpenAI's own rules in addition. Schemas came with gpt-4o-2024-08-06. */
export const answerSchema: Check = ({ fields, items, model }) => {
  const format = isObject(fields.text) ? fields.text.format : undefined
  if (!isObject(format)) return []
  if (format.type === 'json_object') {
    if (/json/i.test(JSON.stringify([fields.instructions, items]))) return []
    const text =
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'."
    return [invalid('answer-format', text, 'input')]
  }
  if (format.type !== 'json_schema') return []
  if (/^(gpt-3|gpt-4(-|$)|gpt-4o-2024-05|chatgpt-4o|o1-(mini|preview))/.test(model)) {
    const text =
      "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs"
    return [invalid('answer-format', text)]
  }
  const fault = isObject(format.schema) ? answerSchemaFault(format.schema, format.strict === true) : undefined
  if (fault === undefined) return []
  const text = `Invalid schema for response_format '${String(format.name)}': ${fault}`
  return [invalid('answer-format', text, 'text.format.schema', 'invalid_json_schema')]
}

/** The rules of OpenAI's own service for the schemas of functions. */
export const functionSchemas: Check = (body) =>
  toolsIn(body).flatMap((tool, i): Issue[] => {
    if (tool.type !== 'function' || !isObject(tool.parameters)) return []
    const fault = functionSchemaFault(tool.parameters)
    if (fault === undefined) return []
    const text = `Invalid schema for function '${String(tool.name)}': ${fault}`
    return [invalid('tool-schema', text, `tools[${i}].parameters`, 'invalid_function_parameters')]
  })

// What one OpenAI model refuses and the next one accepts, by the name of the model: the API reveals nothing else.

/** Models that are known not to reason; an unknown name is neither. */
function answersAtOnce(model: string): boolean {
  return /^(gpt-3\.5|gpt-4|chatgpt-)/.test(model) || /^gpt-5[^-]*-chat/.test(model)
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** C17, in this wire's form. */
export const effort: Check = ({ model, fields }) => {
  const effort = isObject(fields.reasoning) ? fields.reasoning.effort : undefined
  if (typeof effort !== 'string') return []
  if (!efforts.includes(effort)) return [wrongValue('C17', 'reasoning.effort', effort, efforts)]
  if (answersAtOnce(model)) {
    const text = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    return [invalid('C17', text, 'reasoning.effort', 'unsupported_parameter')]
  }
  const supported = knownEfforts(model)
  if (!supported || supported.includes(effort)) return []
  const text = `Unsupported value: '${effort}' is not supported with the '${model}' model. Supported values are: ${listOf(supported)}.`
  return [invalid('C17', text, 'reasoning.effort', 'unsupported_value')]
}

/** Read from refusals (checked 2026-11); a pro, codex or open model has its own list. */
function knownEfforts(model: string): string[] | undefined {
  if (isOSeries(model)) return ['low', 'medium', 'high']
  const v = openaiVersion(model)
  if (v === undefined || !isReasoning(model) || /-(pro|codex)/.test(model)) return undefined
  if (v < 5.1) return ['minimal', 'low', 'medium', 'high']
  if (v < 5.2) return ['none', 'low', 'medium', 'high']
  if (v < 5.6) return ['none', 'low', 'medium', 'high', 'xhigh']
  return v < 6 ? ['none', 'low', 'medium', 'high', 'xhigh', 'max'] : undefined
}

/** C16: a model that reasons accepts no sampling options. From 5.1 to 5.5 it reasons only on request. */
export const sampling: Check = ({ model, fields }) => {
  const effort = isObject(fields.reasoning) ? fields.reasoning.effort : undefined
  if (!isReasoning(model) || !reasons(model, effort)) return []
  return ['temperature', 'top_p']
    .filter((name) => typeof fields[name] === 'number' && fields[name] !== 1)
    .map((name) => invalid('C16', `Unsupported parameter: '${name}' is not supported with this model.`, name))
}

function reasons(model: string, effort: Json | undefined): boolean {
  if (typeof effort === 'string') return effort !== 'none'
  const v = openaiVersion(model) ?? 0
  return isOSeries(model) || v < 5.1 || v >= 5.6
}

/** Without reasoning there is nothing to encrypt. */
export const encryptedReasoning: Check = ({ model, fields }) => {
  const { include } = fields
  if (!Array.isArray(include) || !include.includes('reasoning.encrypted_content') || !answersAtOnce(model)) return []
  return [invalid('encrypted-include', 'Encrypted content is not supported with this model.', 'include')]
}
