// The rules for what only some models accept, for tools, and for schemas.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { invalid, isOSeries, isReasoning, openaiVersion, tooLong } from '../shared/openai-rules.ts'
import { answerSchemaFault, functionSchemaFault } from '../tool-schema/rules.ts'
import type { Issue } from '../wire.ts'
import { type ChatBody, type Check, emptyArray, partsIn, toolsIn } from './rules-context.ts'
import { nameIssues } from './rules-messages.ts'
import { objectIn, listIn } from '../shared/json-fields.ts'

/** C13, C14: functions and reasoning cannot be combined on this wire from GPT-5.4 on. */
export const effortWithTools: Check = (body) => {
  const v = openaiVersion(body.model)
  const effort = body.fields.reasoning_effort
  const functions = toolsIn(body).some((tool) => tool.type === 'function')
  if (v === undefined || v < 5.4 || v >= 6 || !functions || effort === 'none') return []
  const refused = `Function tools with reasoning_effort are not supported for ${body.model} in /v1/chat/completions.`
  if (v < 5.6) {
    if (effort === undefined || effort === null) return []
    return [invalid('C13', `${refused} Please use /v1/responses instead.`, 'reasoning_effort')]
  }
  const text = `${refused} To use function tools, use /v1/responses or set reasoning_effort to 'none'.`
  return [invalid('C14', text, 'reasoning_effort')]
}

export const outputField: Check = ({ model, fields }) => {
  if (!isReasoning(model) || fields.max_tokens === undefined || fields.max_tokens === null) return []
  const text =
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
  return [invalid('C15', text, 'max_tokens', 'unsupported_parameter')]
}

/** C16. From GPT-5.1 on a model that does not reason accepts them again; the default differs. */
export const sampling: Check = ({ model, fields }) => {
  if (!isReasoning(model) || !reasons(model, fields.reasoning_effort)) return []
  const issues: Issue[] = []
  for (const field of ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']) {
    const value = fields[field]
    const neutral = field.endsWith('penalty') ? 0 : 1
    if (typeof value !== 'number' || value === neutral) continue
    const text = `Unsupported value: '${field}' does not support ${value} with this model. Only the default (${neutral}) value is supported.`
    issues.push(invalid('C16', text, field, 'unsupported_value'))
  }
  return issues
}

function reasons(model: string, effort: Json | undefined): boolean {
  if (typeof effort === 'string') return effort !== 'none'
  const v = openaiVersion(model) ?? 0
  return isOSeries(model) || v < 5.1 || v === 5.6
}

export const effortValue: Check = ({ model, fields }) => {
  const effort = fields.reasoning_effort
  const efforts = knownEfforts(model)
  if (typeof effort !== 'string' || !efforts || efforts.includes(effort)) return []
  const list = efforts.map((level) => `'${level}'`).join(', ')
  const text = `Unsupported value: 'reasoning_effort' does not support '${effort}' with this model. Supported values are: ${list}.`
  return [invalid('C17', text, 'reasoning_effort', 'unsupported_value')]
}

function knownEfforts(model: string): string[] | undefined {
  if (isOSeries(model)) return ['low', 'medium', 'high']
  const v = openaiVersion(model)
  if (v === undefined || !isReasoning(model) || model.includes('-pro')) return undefined
  if (v < 5.1) return ['minimal', 'low', 'medium', 'high']
  if (v < 5.2) return ['none', 'low', 'medium', 'high']
  return v < 6 ? ['none', 'low', 'medium', 'high', 'xhigh'] : undefined
}

/** The first o-models do not support the system role at all. */
export const systemRole: Check = ({ model, messages }) => {
  if (!/^o1-(mini|preview)/.test(model)) return []
  return messages.flatMap((message, i): Issue[] => {
    if (message.role !== 'system' && message.role !== 'developer') return []
    const param = `messages[${i}].role`
    const text = `Unsupported value: '${param}' does not support '${message.role}' with this model.`
    return [invalid('role-by-model', text, param, 'unsupported_value')]
  })
}

/** Audio is only for the audio models. */
export const soundByModel: Check = ({ model, messages }) => {
  if (model.includes('audio') || !(isReasoning(model) || /^gpt-(3|4)/.test(model))) return []
  return messages.flatMap((message, i): Issue[] => {
    if (!partsIn(message).some((part) => part.type === 'input_audio')) return []
    const text = `Invalid 'messages[${i}]'. Content blocks are expected to be either text or image_url type.`
    return [invalid('media-by-model', text, `messages[${i}]`, 'invalid_value')]
  })
}

export const searchByModel: Check = ({ model, fields }: ChatBody) =>
  fields.web_search_options === undefined || fields.web_search_options === null || model.includes('-search')
    ? []
    : [invalid('search-by-model', 'Web search options not supported with this model.', 'web_search_options')]

// The rules for tools and for the few fields of a request that every model refuses.

export const toolsNotEmpty: Check = ({ fields }) =>
  Array.isArray(fields.tools) && fields.tools.length === 0 ? [emptyArray('shape', 'tools')] : []

export const toolNames: Check = (body) =>
  toolsIn(body).flatMap((tool, i): Issue[] => {
    if (tool.type !== 'function') return []
    if (!isObject(tool.function)) {
      const param = `tools[${i}].function`
      return [invalid('C9', `Missing required parameter: '${param}'.`, param, 'missing_required_parameter')]
    }
    return nameIssues(tool.function.name, `tools[${i}].function.name`, 'C9')
  })

export const toolCount: Check = (body) => {
  const count = toolsIn(body).length
  if (count <= 128) return []
  const text = `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${count} instead.`
  return [invalid('C10', text, 'tools', 'array_above_max_length')]
}

/** Without tools there is nothing to choose from, and nothing to call in parallel. */
export const choiceNeedsTools: Check = ({ fields }) => {
  if (Array.isArray(fields.tools) && fields.tools.length > 0) return []
  const issues: Issue[] = []
  for (const field of ['tool_choice', 'parallel_tool_calls']) {
    const value = fields[field]
    if (value === undefined || value === null || value === 'none') continue
    const text = `Invalid value for '${field}': '${field}' is only allowed when 'tools' are specified.`
    issues.push(invalid('shape', text, field))
  }
  return issues
}

export const streamOptionsNeedStream: Check = ({ fields }) =>
  isObject(fields.stream_options) && fields.stream !== true
    ? [invalid('shape', "The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options')]
    : []

export const cacheKeyLength: Check = ({ fields }) => {
  const key = fields.prompt_cache_key
  return typeof key === 'string' && key.length > 64 ? [tooLong('C18', 'prompt_cache_key', 64, key)] : []
}

// Schemas of arguments and answers: what OpenAI refuses, and where hosts differ, with their error messages (checked
// 2026-11).

interface Parameters {
  name: string
  place: string
  schema: JsonObject
}

function parametersIn(body: ChatBody): Parameters[] {
  return toolsIn(body).flatMap((tool, i) => {
    const fn = tool.function
    if (!isObject(fn) || !isObject(fn.parameters)) return []
    return [{ name: String(fn.name), place: `tools[${i}].function.parameters`, schema: fn.parameters }]
  })
}

export const openaiSchemas: Check = (body) =>
  parametersIn(body).flatMap(({ name, place, schema }): Issue[] => {
    const fault = functionSchemaFault(schema)
    if (fault === undefined) return []
    return [
      invalid('tool-schema', `Invalid schema for function '${name}': ${fault}`, place, 'invalid_function_parameters'),
    ]
  })

/** DeepSeek names no parameter, and writes `null` if there is no type. */
export const deepseekSchemas: Check = (body) =>
  parametersIn(body).flatMap(({ name, schema }): Issue[] => {
    if (schema.type === 'object') return []
    const type = schema.type === undefined ? 'null' : JSON.stringify(schema.type)
    const text = `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: ${type}'.`
    return [invalid('tool-schema', text, null, 'invalid_request_error')]
  })

export const groqSchemas: Check = (body) =>
  parametersIn(body).flatMap(({ name, place, schema }): Issue[] => {
    if (schema.required === undefined || schema.properties !== undefined) return []
    const location = `tool ${name}, ${place}`
    const text = `invalid JSON schema for ${location}: 'required' present but 'properties' is missing`
    return [{ rule: 'tool-schema', status: 400, message: text, type: 'invalid_request_error', param: location }]
  })

/** Moonshot has its own dialect. */
export const moonshotSchemas: Check = (body) =>
  parametersIn(body).flatMap(({ schema }): Issue[] => {
    const lead = 'Invalid request: tools.function.parameters'
    if (schema.type !== 'object') return [invalid('tool-schema', `${lead}.type is required and must be "object"`)]
    const fault = moonshotFault(schema, '', schema)
    if (fault === undefined) return []
    return [invalid('tool-schema', `${lead} is not a valid moonshot flavored json schema, details: <At path ${fault}>`)]
  })

function moonshotFault(schema: Json | undefined, path: string, root: JsonObject): string | undefined {
  if (!isObject(schema)) return undefined
  const at = (step = '') => `'${[path, step].filter((part) => part !== '').join('.') || 'root'}'`
  const { $ref, anyOf, type, items, required, properties } = schema
  if (typeof $ref === 'string') {
    if (!$ref.startsWith('#/$defs/')) return `${at('$ref')}: references must start with #/$defs/`
    const target = isObject(root.$defs) ? root.$defs[$ref.slice('#/$defs/'.length)] : undefined
    if (!isObject(target)) return `${at('$ref')}: $defs not found for reference: ${$ref}`
    const clash = Object.keys(schema).find((key) => key !== '$ref' && target[key] !== undefined)
    return clash === undefined ? undefined : `${at()}: conflicting keywords found after $ref expansion: ${clash}`
  }
  if (anyOf !== undefined && type !== undefined) {
    return `${at()}: when using anyOf, type should be defined in anyOf items instead of the parent schema`
  }
  if (anyOf === undefined && type === undefined) return `${at()}: type is not defined`
  if (items !== undefined && !isObject(items)) return `${at('items')}: items must be an object`
  const names = listIn(required)
  const lacking = names.find((name) => !isObject(properties) || !Object.hasOwn(properties, String(name)))
  if (lacking !== undefined) {
    return `${at('required')}: required property '${String(lacking)}' is not defined in properties`
  }
  const inner: [string, Json | undefined][] = [
    ...Object.entries(objectIn(properties)).map(([name, value]): [string, Json | undefined] => [
      `properties.${name}`,
      value,
    ]),
    ...listIn(anyOf).map((value, i): [string, Json] => [`anyOf.${i}`, value]),
    ['items', items],
  ]
  for (const [step, value] of inner) {
    const fault = moonshotFault(value, path === '' ? step : `${path}.${step}`, root)
    if (fault !== undefined) return fault
  }
  return undefined
}

export const fireworksSchemas: Check = (body) =>
  parametersIn(body).some(({ schema }) => holdsRef(schema))
    ? [invalid('tool-schema', 'Invalid tool schema, $ref is not supported')]
    : []

function holdsRef(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(holdsRef)
  return isObject(value) && (typeof value.$ref === 'string' || Object.values(value).some(holdsRef))
}

/** LM Studio passes on the error of its own parser. */
export const lmstudioSchemas: Check = (body) => {
  const issues = parametersIn(body).flatMap(({ schema }, i) =>
    schema.type === 'object'
      ? []
      : [
          {
            code: 'invalid_union_discriminator',
            options: ['object'],
            path: [i, 'function', 'parameters', 'type'],
            message: "Invalid discriminator value. Expected 'object'",
          },
        ],
  )
  return issues.length > 0 ? [{ rule: 'tool-schema', status: 400, message: JSON.stringify(issues, null, 2) }] : []
}

function formatOf({ fields }: ChatBody): JsonObject | undefined {
  return isObject(fields.response_format) ? fields.response_format : undefined
}

/** Schemas came with gpt-4o-2024-08-06, JSON as such with the models of 1106. */
export const answerByModel: Check = (body) => {
  const type = formatOf(body)?.type
  const { model } = body
  if (type === 'json_schema' && noSchema.test(model)) {
    const text =
      "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs"
    return [invalid('answer-format', text)]
  }
  if (type !== 'json_object' || !noJson.test(model)) return []
  const text = "Invalid parameter: 'response_format' of type 'json_object' is not supported with this model."
  return [invalid('answer-format', text, 'response_format')]
}

const noSchema = /^(gpt-3|gpt-4(-|$)|gpt-4o-2024-05|chatgpt-4o|o1-(mini|preview))/
const noJson = /^(gpt-3\.5-turbo-(0301|0613|16k|instruct)|gpt-4($|-(0314|0613|32k))|o1-(mini|preview))/

export const answerSchema: Check = (body) => {
  const format = formatOf(body)
  if (format?.type !== 'json_schema' || !isObject(format.json_schema)) return []
  const { name, schema, strict } = format.json_schema
  const fault = isObject(schema) ? answerSchemaFault(schema, strict === true) : undefined
  if (fault === undefined) return []
  return [invalid('answer-format', `Invalid schema for response_format '${String(name)}': ${fault}`, 'response_format')]
}

/** Requesting JSON without mentioning it is refused: the model would write endless blanks. */
function saysJson(body: ChatBody): boolean {
  return body.messages.some((message) => {
    const texts = [message.content, ...partsIn(message).map((part) => part.text)]
    return texts.some((text) => typeof text === 'string' && /json/i.test(text))
  })
}

export const jsonNamed: Check = (body) => {
  if (formatOf(body)?.type !== 'json_object' || saysJson(body)) return []
  const text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
  return [invalid('answer-format', text, 'messages')]
}

/** DeepSeek supports JSON mode, but no schema. */
export const deepseekAnswer: Check = (body) => {
  const type = formatOf(body)?.type
  if (type !== undefined && type !== 'json_object' && type !== 'text') {
    return [invalid('answer-format', 'This response_format type is unavailable now', null, 'invalid_request_error')]
  }
  if (type !== 'json_object' || saysJson(body)) return []
  const text = "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."
  return [invalid('answer-format', text, null, 'invalid_request_error')]
}

const groqTakesSchemas = /gpt-oss|llama-4|kimi-k2/

export const groqAnswer: Check = (body) => {
  const format = formatOf(body)
  if (!format || format.type === 'text') return []
  if (toolsIn(body).length > 0) {
    return [groqFault('json mode cannot be combined with tool/function calling')]
  }
  if (format.type !== 'json_schema') return []
  if (!groqTakesSchemas.test(body.model)) {
    const text =
      'This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models'
    return [groqFault(text)]
  }
  const schema = isObject(format.json_schema) ? format.json_schema.schema : undefined
  const bound = boundIn(schema, 'response_format/json_schema')
  return bound === undefined ? [] : [groqFault(`invalid schema for response format: ${bound} is not supported`)]
}

function groqFault(message: string): Issue {
  return { rule: 'answer-format', status: 400, message, type: 'invalid_request_error' }
}

function boundIn(schema: Json | undefined, at: string): string | undefined {
  if (!isObject(schema)) return undefined
  const bound = ['minItems', 'maxItems'].find((key) => schema[key] !== undefined)
  if (bound) return `${at}: ${bound}`
  const named = Object.entries(objectIn(schema.properties))
  for (const [name, value] of [...named, ['items', schema.items] as const]) {
    const inner = boundIn(value, `${at}/${name}`)
    if (inner !== undefined) return inner
  }
  return undefined
}
