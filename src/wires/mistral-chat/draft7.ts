// Whether a tool's parameters are a JSON Schema of Draft 7, as far as the keywords that people get wrong: a draft-4
// `exclusiveMinimum: true` is the classic. Words as Python's jsonschema would put them.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

/** What is wrong with it, or undefined. */
export function schemaComplaint(schema: Json): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return `${written(schema)} is not of type 'object', 'boolean'`
  for (const [keyword, value] of Object.entries(schema)) {
    const complaint = value === undefined ? undefined : keywordComplaint(keyword, value)
    if (complaint !== undefined) return complaint
  }
  return undefined
}

const numbers = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'])
const counts = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'])
const strings = new Set(['$id', '$ref', '$comment', 'title', 'description', 'pattern', 'format'])
const schemas = new Set([
  'additionalItems',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
])
const schemaMaps = new Set(['properties', 'patternProperties', 'definitions'])
const schemaLists = new Set(['allOf', 'anyOf', 'oneOf'])
const types = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

function keywordComplaint(keyword: string, value: Json): string | undefined {
  if (numbers.has(keyword)) return typeof value === 'number' ? undefined : notOfType(value, 'number')
  if (counts.has(keyword)) return Number.isInteger(value) ? undefined : notOfType(value, 'integer')
  if (strings.has(keyword)) return typeof value === 'string' ? undefined : notOfType(value, 'string')
  if (keyword === 'uniqueItems') return typeof value === 'boolean' ? undefined : notOfType(value, 'boolean')
  if (keyword === 'enum') return Array.isArray(value) ? undefined : notOfType(value, 'array')
  if (keyword === 'required') return stringListComplaint(value)
  if (keyword === 'type') return typeComplaint(value)
  if (schemas.has(keyword)) return schemaComplaint(value)
  if (keyword === 'items') return Array.isArray(value) ? firstComplaint(value) : schemaComplaint(value)
  if (schemaMaps.has(keyword)) {
    return isObject(value) ? firstComplaint(presentValues(value)) : notOfType(value, 'object')
  }
  if (schemaLists.has(keyword)) {
    if (!Array.isArray(value)) return notOfType(value, 'array')
    return value.length === 0 ? `[] should be non-empty` : firstComplaint(value)
  }
  return undefined
}

function firstComplaint(list: readonly Json[]): string | undefined {
  for (const schema of list) {
    const complaint = schemaComplaint(schema)
    if (complaint !== undefined) return complaint
  }
  return undefined
}

function presentValues(map: JsonObject): Json[] {
  return Object.values(map).filter((value) => value !== undefined)
}

function stringListComplaint(value: Json): string | undefined {
  if (!Array.isArray(value)) return notOfType(value, 'array')
  const odd = value.find((item) => typeof item !== 'string')
  if (odd !== undefined) return notOfType(odd, 'string')
  return new Set(value).size === value.length ? undefined : `${written(value)} has non-unique elements`
}

function typeComplaint(value: Json): string | undefined {
  const list = Array.isArray(value) ? value : [value]
  const known = list.every((item) => typeof item === 'string' && types.has(item))
  return known && list.length > 0 ? undefined : `${written(value)} is not valid under any of the given schemas`
}

function notOfType(value: Json, type: string): string {
  return `${written(value)} is not of type '${type}'`
}

/** A value as Python prints it. */
function written(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`
  if (isObject(value)) {
    return `{${Object.entries(value)
      .map(([key, item]) => `'${key}': ${written(item ?? null)}`)
      .join(', ')}}`
  }
  return String(value)
}
