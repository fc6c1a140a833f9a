// Two schemas as one, and the members of a choice as one object: for providers without `allOf`, or without a choice at
// the top. Merging keeps every property; what cannot be merged goes into the description.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { objectIn } from '../shared/json-fields.ts'

/** A schema for values that match both. */
export function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject {
  const merged: JsonObject = { ...a }
  for (const [key, value] of Object.entries(b)) {
    if (value === undefined) continue
    const old = merged[key]
    if (old === undefined) merged[key] = value
    else if (!isEqual(old, value)) mergeKeyword(merged, key, old, value)
  }
  return merged
}

const largest = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'])
const smallest = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'])
const ofTheFirst = new Set(['title', 'default', '$id', '$schema', '$anchor', '$comment'])

function mergeKeyword(merged: JsonObject, key: string, old: Json, value: Json): void {
  if (ofTheFirst.has(key)) return
  if (key === 'description') merged.description = `${String(old)} ${String(value)}`
  else if (key === 'required') merged.required = [...new Set([...listOf(old), ...listOf(value)])]
  else if (key === 'type') merged.type = commonTypes(listOf(old), listOf(value))
  else if (key === 'enum' && listOf(old).some((item) => hasKeyword(listOf(value), item))) {
    merged.enum = listOf(old).filter((item) => hasKeyword(listOf(value), item))
  } else if (largest.has(key) && typeof old === 'number' && typeof value === 'number')
    merged[key] = Math.max(old, value)
  else if (smallest.has(key) && typeof old === 'number' && typeof value === 'number') {
    merged[key] = Math.min(old, value)
  } else if ((key === 'properties' || key === '$defs' || key === 'definitions') && isObject(old) && isObject(value)) {
    merged[key] = mergeNamed(old, value)
  } else if (key === 'items' && isObject(old) && isObject(value)) merged.items = mergeSchemas(old, value)
  else if (key === 'additionalProperties') {
    merged.additionalProperties =
      isObject(old) && isObject(value) ? mergeSchemas(old, value) : old === false ? old : value
  } else if (key === 'examples') merged.examples = [...listOf(old), ...listOf(value)]
  else if (key === 'allOf') merged.allOf = [...listOf(old), ...listOf(value)]
  else merged.description = sentence(merged.description, `Also: ${JSON.stringify({ [key]: value })}`)
}

function mergeNamed(old: JsonObject, value: JsonObject): JsonObject {
  const named: JsonObject = { ...old }
  for (const [name, schema] of Object.entries(value)) {
    const existing = named[name]
    named[name] =
      isObject(existing) && isObject(schema)
        ? mergeSchemas(existing, schema)
        : existing === undefined || existing === true
          ? schema
          : existing
  }
  return named
}

function commonTypes(a: readonly Json[], b: readonly Json[]): Json {
  const common = a.flatMap((type) => {
    if (b.includes(type)) return [type]
    if (type === 'number' && b.includes('integer')) return ['integer']
    return type === 'integer' && b.includes('number') ? ['integer'] : []
  })
  const types = common.length > 0 ? common : [...a]
  return types.length === 1 ? (types[0] ?? null) : types
}

/** An object schema that allows what any of its choices allows, and describes in words how they relate. */
export function flattenChoice(schema: JsonObject, key: 'anyOf' | 'oneOf', choices: readonly JsonObject[]): JsonObject {
  const { [key]: _, properties, required, ...rest } = schema
  const common = objectIn(properties)
  const variants = new Map<string, Json[]>()
  for (const choice of choices) {
    for (const [name, value] of Object.entries(objectIn(choice.properties))) {
      if (value !== undefined && !Object.hasOwn(common, name))
        variants.set(name, [...(variants.get(name) ?? []), value])
    }
  }
  const merged = [...variants].map(([name, list]) => [name, eitherOf(list)] as const)
  const everywhere = choices.map((choice) => listOf(choice.required ?? []))
  const shared = (everywhere[0] ?? []).filter((name) => everywhere.every((list) => list.includes(name)))
  const needed = [...new Set([...listOf(required ?? []), ...shared])]
  const closed = choices.every((choice) => choice.additionalProperties === false)
  return {
    ...rest,
    type: 'object',
    description: sentence(rest.description, choiceInWords(key, common, choices)),
    properties: { ...common, ...Object.fromEntries(merged) },
    ...(needed.length > 0 && { required: needed }),
    ...(closed && rest.additionalProperties === undefined && { additionalProperties: false }),
  }
}

/** One schema for a property that each choice describes differently; constants become one list. */
function eitherOf(variants: readonly Json[]): Json {
  const different = variants.filter((variant, i) => variants.findIndex((other) => isEqual(variant, other)) === i)
  const [only] = different
  if (different.length === 1 && only !== undefined) return only
  const lists = different.map((variant) => (isObject(variant) ? constants(variant) : undefined))
  if (!lists.every((list) => list !== undefined)) return { anyOf: different }
  const { const: _const, enum: _enum, description: _description, ...rest } = different[0] as JsonObject
  return {
    ...rest,
    enum: lists.flat().filter((value, i, all) => all.findIndex((other) => isEqual(value, other)) === i),
  }
}

function constants({ const: value, enum: values }: JsonObject): Json[] | undefined {
  if (value !== undefined) return [value]
  return Array.isArray(values) ? values : undefined
}

function choiceInWords(key: 'anyOf' | 'oneOf', common: JsonObject, choices: readonly JsonObject[]): string {
  const list = choices.map((choice, i) => `(${i + 1}) ${memberInWords(choice, common)}`)
  return `${key === 'oneOf' ? 'Exactly one' : 'At least one'} of these fits: ${list.join('; ')}.`
}

const described = new Set(['type', 'properties', 'required', 'title', 'description', 'additionalProperties', '$defs'])

function memberInWords(choice: JsonObject, common: JsonObject): string {
  const properties = objectIn(choice.properties)
  const required = listOf(choice.required ?? []).map(String)
  const clauses: string[] = []
  if (typeof choice.title === 'string') clauses.push(choice.title)
  if (typeof choice.description === 'string') clauses.push(choice.description)
  for (const [name, value] of Object.entries(properties)) {
    const list = isObject(value) ? constants(value) : undefined
    if (list) clauses.push(`${name} is ${list.map((item) => JSON.stringify(item)).join(' or ')}`)
  }
  const needed = required.filter((name) => !(isObject(properties[name]) && constants(properties[name])))
  if (needed.length > 0) clauses.push(`with ${needed.join(', ')}`)
  const optional = Object.keys(properties).filter((name) => !required.includes(name))
  if (optional.length > 0) clauses.push(`optional: ${optional.join(', ')}`)
  const narrowed = Object.entries(properties).filter(
    ([name, value]) =>
      Object.hasOwn(common, name) && isObject(value) && !constants(value) && Object.keys(value).length > 0,
  )
  const rest = Object.entries(choice).filter(([key, value]) => value !== undefined && !described.has(key))
  const more = Object.fromEntries(narrowed.length > 0 ? [...rest, ['properties', Object.fromEntries(narrowed)]] : rest)
  if (Object.keys(more).length > 0) clauses.push(JSON.stringify(more))
  return clauses.length > 0 ? clauses.join(', ') : 'anything else'
}

/** A description with an additional sentence. */
export function sentence(description: Json | undefined, more: string): string {
  return typeof description === 'string' && description !== '' ? `${description} ${more}` : more
}

function listOf(value: Json): Json[] {
  return Array.isArray(value) ? value : [value]
}

function hasKeyword(list: readonly Json[], value: Json): boolean {
  return list.some((item) => isEqual(item, value))
}

function isEqual(a: Json, b: Json): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
