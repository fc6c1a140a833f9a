// Valibot keeps its schemas as plain data and leaves JSON Schema to another package. This is enough of it for the
// arguments of tools; a schema beyond it is refused by name rather than described wrongly.

import { badInput } from '../core/error.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'

export function jsonSchemaOfValibot(schema: unknown): JsonObject {
  const { type, pipe } = view(schema)
  const made = byType(String(type), view(schema))
  for (const action of listOf(pipe).slice(1)) Object.assign(made, ofAction(view(action), made['type'] === 'array'))
  return made
}

/** The fields of a schema or an action; what they are is looked at one by one. */
type Fields = { [key: string]: unknown }

function view(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function byType(type: string, schema: Fields): JsonObject {
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return { type }
    case 'any':
    case 'unknown':
      return {}
    case 'literal':
      return { const: jsonIn(schema['literal']) }
    case 'picklist':
    case 'enum':
      return { enum: listOf(schema['options']).map(jsonIn) }
    case 'array':
      return { type: 'array', items: jsonSchemaOfValibot(schema['item']) }
    case 'tuple':
    case 'strict_tuple':
    case 'loose_tuple':
      return { type: 'array', prefixItems: listOf(schema['items']).map(jsonSchemaOfValibot) }
    case 'record':
      return { type: 'object', additionalProperties: jsonSchemaOfValibot(schema['value']) }
    case 'object':
    case 'loose_object':
    case 'strict_object':
    case 'object_with_rest':
      return ofObject(type, schema)
    case 'union':
    case 'variant':
      return { anyOf: listOf(schema['options']).map(jsonSchemaOfValibot) }
    case 'intersect':
      return { allOf: listOf(schema['options']).map(jsonSchemaOfValibot) }
    case 'nullable':
    case 'nullish':
      return { anyOf: [wrapped(schema), { type: 'null' }] }
    case 'optional':
    case 'exact_optional':
    case 'undefinedable':
    case 'non_optional':
    case 'non_nullable':
    case 'non_nullish':
    case 'readonly':
      return wrapped(schema)
    default:
      throw badInput(
        `A valibot schema of type "${type}" has no JSON Schema here. Wrap the input with toStandardJsonSchema of ` +
          '@valibot/to-json-schema.',
      )
  }
}

function wrapped(schema: Fields): JsonObject {
  const given = schema['default']
  const inner = jsonSchemaOfValibot(schema['wrapped'])
  return given === undefined || typeof given === 'function' ? inner : { ...inner, default: jsonIn(given) }
}

const mayBeLeftOut = new Set(['optional', 'exact_optional', 'undefinedable', 'nullish'])

function ofObject(type: string, schema: Fields): JsonObject {
  const entries = Object.entries(view(schema['entries']))
  const required = entries.filter(([, entry]) => !mayBeLeftOut.has(String(view(entry)['type']))).map(([key]) => key)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([key, entry]) => [key, jsonSchemaOfValibot(entry)])),
    ...(required.length > 0 && { required }),
    ...(type === 'strict_object' && { additionalProperties: false }),
    ...(type === 'object_with_rest' && { additionalProperties: jsonSchemaOfValibot(schema['rest']) }),
  }
}

/** Actions without a word in JSON Schema are checked all the same, when the arguments are there. */
function ofAction(action: Fields, isList: boolean): JsonObject {
  const { requirement } = action
  const number = typeof requirement === 'number' ? requirement : undefined
  switch (action['type']) {
    case 'description':
      return { description: String(action['description']) }
    case 'title':
      return { title: String(action['title']) }
    case 'min_length':
      return number === undefined ? {} : { [isList ? 'minItems' : 'minLength']: number }
    case 'max_length':
      return number === undefined ? {} : { [isList ? 'maxItems' : 'maxLength']: number }
    case 'min_value':
      return number === undefined ? {} : { minimum: number }
    case 'max_value':
      return number === undefined ? {} : { maximum: number }
    case 'multiple_of':
      return number === undefined ? {} : { multipleOf: number }
    case 'integer':
    case 'safe_integer':
      return { type: 'integer' }
    case 'regex':
      return requirement instanceof RegExp && requirement.flags === '' ? { pattern: requirement.source } : {}
    case 'email':
    case 'url':
    case 'uuid':
      return { format: action['type'] === 'url' ? 'uri' : action['type'] }
    case 'iso_date':
      return { format: 'date' }
    case 'iso_timestamp':
      return { format: 'date-time' }
    default:
      return {}
  }
}

function jsonIn(value: unknown): Json {
  const ok = value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  if (ok) return value
  if (Array.isArray(value)) return value.map(jsonIn)
  return isObject(value) ? value : null
}
