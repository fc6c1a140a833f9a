// Schemas of arguments and answers: what OpenAI refuses, and where hosts differ, with their error messages (checked
// 2026-11).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Issue } from '../wire.ts'
import { answerSchemaFault, functionSchemaFault } from '../tool-schema/openai-rules.ts'
import { invalid, partsIn, toolsIn, type ChatBody, type Check } from './rules-context.ts'

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
    const where = `tool ${name}, ${place}`
    const text = `invalid JSON schema for ${where}: 'required' present but 'properties' is missing`
    return [{ rule: 'tool-schema', status: 400, message: text, type: 'invalid_request_error', param: where }]
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
  const names = Array.isArray(required) ? required : []
  const lacking = names.find((name) => !isObject(properties) || !Object.hasOwn(properties, String(name)))
  if (lacking !== undefined) {
    return `${at('required')}: required property '${String(lacking)}' is not defined in properties`
  }
  const inner: [string, Json | undefined][] = [
    ...Object.entries(isObject(properties) ? properties : {}).map(([name, value]): [string, Json | undefined] => [
      `properties.${name}`,
      value,
    ]),
    ...(Array.isArray(anyOf) ? anyOf : []).map((value, i): [string, Json] => [`anyOf.${i}`, value]),
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
  const named = Object.entries(isObject(schema.properties) ? schema.properties : {})
  for (const [name, value] of [...named, ['items', schema.items] as const]) {
    const found = boundIn(value, `${at}/${name}`)
    if (found !== undefined) return found
  }
  return undefined
}
