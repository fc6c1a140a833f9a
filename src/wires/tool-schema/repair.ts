// Schemas from servers and libraries: forms of older drafts and of OpenAPI, and invalid values. Every provider refuses
// some of them, so they are converted to draft 2020-12; what has no meaning there goes into the description.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { types, valueComplaint } from './meta-schema.ts'
import { listIn } from '../shared/json-fields.ts'

export interface Repaired {
  schema: JsonObject
  /** What was changed, for the note. */
  changes: string[]
  /** What could not be kept as a keyword. */
  sentences: string[]
}

export function repair(original: JsonObject): Repaired {
  const repaired: Repaired = { schema: { ...original }, changes: [], sentences: [] }
  repairType(repaired)
  repairBounds(repaired.schema, 'minimum', 'exclusiveMinimum', repaired.changes)
  repairBounds(repaired.schema, 'maximum', 'exclusiveMaximum', repaired.changes)
  repairRequired(repaired)
  repairHolders(repaired)
  for (const [keyword, value] of Object.entries(repaired.schema)) {
    if (value === undefined || valueComplaint(keyword, value) === undefined) continue
    delete repaired.schema[keyword]
    repaired.changes.push(`a value of ${keyword} that is not valid`)
    if (keyword !== 'enum' || Array.isArray(value)) repaired.sentences.push(`${keyword}: ${JSON.stringify(value)}`)
    else repaired.sentences.push(`one of: ${JSON.stringify(value)}`)
  }
  return repaired
}

const otherNames: Record<string, string> = {
  int: 'integer',
  int32: 'integer',
  int64: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bool: 'boolean',
  str: 'string',
  text: 'string',
  list: 'array',
  tuple: 'array',
  dict: 'object',
  map: 'object',
}

function repairType({ schema, changes, sentences }: Repaired): void {
  const { type, nullable } = schema
  if (type !== undefined) {
    const listed = Array.isArray(type) ? type : [type]
    const names = listed.map(typeNamed)
    const types = [...new Set(names.filter((name) => name !== undefined))]
    if (types.length !== listed.length || listed.some((name, i) => name !== types[i])) {
      const odd = listed.filter((name, i) => names[i] === undefined && name !== null && name !== '' && name !== 'any')
      if (odd.length > 0) sentences.push(`type: ${JSON.stringify(type)}`)
      changes.push(`type ${JSON.stringify(type)}`)
      if (types.length === 0) delete schema.type
      else schema.type = types.length === 1 ? (types[0] ?? null) : types
    }
  }
  if (nullable === undefined) return
  delete schema.nullable
  changes.push('nullable')
  if (nullable !== true) return
  if (typeof schema.type === 'string' && schema.type !== 'null') schema.type = [schema.type, 'null']
  else if (schema.type === undefined) sentences.push('may be null')
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...schema.enum, null]
}

function typeNamed(name: Json): string | undefined {
  if (typeof name !== 'string') return undefined
  const small = name.toLowerCase()
  return types.has(small) ? small : otherNames[small]
}

/** Draft 4: a flag next to the bound. */
function repairBounds(schema: JsonObject, bound: string, exclusive: string, changes: string[]): void {
  const flag = schema[exclusive]
  if (typeof flag !== 'boolean') return
  changes.push(`${exclusive}: ${flag}`)
  delete schema[exclusive]
  if (!flag || schema[bound] === undefined) return
  schema[exclusive] = schema[bound]
  delete schema[bound]
}

/** Draft 3: a flag on the property itself. */
function repairRequired({ schema, changes }: Repaired): void {
  if (typeof schema.required === 'boolean' || schema.required === null) {
    delete schema.required
    changes.push('required as a flag')
  }
  if (Array.isArray(schema.required)) {
    const names = [...new Set(schema.required.filter((name) => typeof name === 'string'))]
    if (names.length < schema.required.length) {
      schema.required = names
      changes.push('required')
    }
  }
  if (!isObject(schema.properties)) return
  const flagged = Object.entries(schema.properties).flatMap(([name, property]) =>
    isObject(property) && property.required === true ? [name] : [],
  )
  if (flagged.length === 0) return
  const listed = listIn(schema.required)
  schema.required = [...new Set([...listed, ...flagged])]
}

/** Keywords with schemas in the wrong form. */
function repairHolders({ schema, changes, sentences }: Repaired): void {
  const drop = (keyword: string, value: Json) => {
    delete schema[keyword]
    changes.push(`a value of ${keyword} that is not valid`)
    if (value !== null) sentences.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  for (const keyword of ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']) {
    const value = schema[keyword]
    if (value !== undefined && !isObject(value)) drop(keyword, value)
  }
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    const value = schema[keyword]
    if (value !== undefined && !(Array.isArray(value) && value.length > 0)) drop(keyword, value)
  }
  if (Array.isArray(schema.enum) && schema.enum.length === 0) drop('enum', schema.enum)
  const { items } = schema
  if (items !== undefined && typeof items !== 'boolean' && !isObject(items) && !Array.isArray(items))
    drop('items', items)
}
