// The smallest value that a JSON Schema accepts: the emulator's arguments for a forced tool or schema if the
// conversation suggests none.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { textIn } from '../wires/shared/json-fields.ts'

export function sampleOf(schema: Json | undefined, given: Record<string, Json> = {}): Json {
  return sample(schema, isObject(schema) ? schema : {}, given, 0)
}

function sample(schema: Json | undefined, root: JsonObject, given: Record<string, Json>, depth: number): Json {
  if (!isObject(schema) || depth > 12) return ''
  if (typeof schema.$ref === 'string') return sample(referred(schema.$ref, root), root, given, depth + 1)
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (Array.isArray(choices)) return sample(choices[0], root, given, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (textIn(type ?? (schema.properties ? 'object' : 'string')).toLowerCase()) {
    case 'object':
      return sampleObject(schema, root, given, depth)
    case 'array':
      return Array.from({ length: numberOf(schema.minItems, 0) }, () => sample(schema.items, root, {}, depth + 1))
    case 'number':
    case 'integer':
      return numberOf(schema.minimum, 0)
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return 'x'.repeat(numberOf(schema.minLength, 0))
  }
}

function sampleObject(schema: JsonObject, root: JsonObject, given: Record<string, Json>, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  const out: JsonObject = {}
  for (const [name, property] of Object.entries(properties)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value !== undefined) out[name] = value
    else if (required.includes(name)) out[name] = sample(property, root, {}, depth + 1)
  }
  return out
}

function referred(reference: string, root: JsonObject): Json | undefined {
  let value: Json | undefined = root
  for (const key of reference.replace(/^#\/?/, '').split('/')) {
    if (key !== '') value = isObject(value) ? value[key] : undefined
  }
  return value
}

function numberOf(value: Json | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
