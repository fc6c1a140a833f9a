// Whether something is a valid JSON Schema, for the keywords that people often get wrong: a draft-4 `exclusiveMinimum:
// true` and a draft-3 `required: true` are the classics. Messages as from Python's jsonschema, which several providers
// pass on.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

/** Draft 2020-12 has no list of schemas as `items`; draft 7 has. */
export type Draft = '7' | '2020-12'

/** What is wrong with it, or undefined. */
export function schemaComplaint(schema: Json, draft: Draft): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return `${pythonText(schema)} is not of type 'object', 'boolean'`
  for (const [keyword, value] of Object.entries(schema)) {
    const complaint = value === undefined ? undefined : keywordComplaint(keyword, value, draft)
    if (complaint !== undefined) return complaint
  }
  return undefined
}

const numbers = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'])
const counts = new Set([
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
])
const strings = new Set(['$id', '$ref', '$anchor', '$comment', 'title', 'description', 'pattern', 'format'])
/** Keywords whose value is one schema. */
export const schemaKeywords: ReadonlySet<string> = new Set([
  'additionalItems',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
])
/** Keywords whose value names schemas. */
export const schemaMaps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependentSchemas',
])
/** Keywords whose value is a list of schemas. */
export const schemaLists: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
export const types: ReadonlySet<Json> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

function keywordComplaint(keyword: string, value: Json, draft: Draft): string | undefined {
  if (schemaKeywords.has(keyword)) return schemaComplaint(value, draft)
  if (keyword === 'items') {
    return Array.isArray(value) && draft === '7' ? firstComplaint(value, draft) : schemaComplaint(value, draft)
  }
  if (schemaMaps.has(keyword)) {
    return isObject(value) ? firstComplaint(presentValues(value), draft) : notOfType(value, 'object')
  }
  if (schemaLists.has(keyword)) {
    if (!Array.isArray(value)) return notOfType(value, 'array')
    return value.length === 0 ? `[] should be non-empty` : firstComplaint(value, draft)
  }
  return valueComplaint(keyword, value)
}

/** What is wrong with the value of a keyword without a schema. */
export function valueComplaint(keyword: string, value: Json): string | undefined {
  if (numbers.has(keyword)) return typeof value === 'number' ? undefined : notOfType(value, 'number')
  if (counts.has(keyword)) {
    if (!Number.isInteger(value)) return notOfType(value, 'integer')
    return Number(value) < 0 ? `${pythonText(value)} is less than the minimum of 0` : undefined
  }
  if (strings.has(keyword)) return typeof value === 'string' ? undefined : notOfType(value, 'string')
  if (keyword === 'uniqueItems') return typeof value === 'boolean' ? undefined : notOfType(value, 'boolean')
  if (keyword === 'enum') return Array.isArray(value) ? undefined : notOfType(value, 'array')
  if (keyword === 'required') return stringListComplaint(value)
  return keyword === 'type' ? typeComplaint(value) : undefined
}

function firstComplaint(list: readonly Json[], draft: Draft): string | undefined {
  for (const schema of list) {
    const complaint = schemaComplaint(schema, draft)
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
  return new Set(value).size === value.length ? undefined : `${pythonText(value)} has non-unique elements`
}

function typeComplaint(value: Json): string | undefined {
  const list = Array.isArray(value) ? value : [value]
  const areKnown = list.every((item) => typeof item === 'string' && types.has(item))
  return areKnown && list.length > 0 ? undefined : `${pythonText(value)} is not valid under any of the given schemas`
}

function notOfType(value: Json, type: string): string {
  return `${pythonText(value)} is not of type '${type}'`
}

/** A value as Python prints it. */
function pythonText(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`
  if (isObject(value)) {
    return `{${Object.entries(value)
      .map(([key, item]) => `'${key}': ${pythonText(item ?? null)}`)
      .join(', ')}}`
  }
  return String(value)
}
