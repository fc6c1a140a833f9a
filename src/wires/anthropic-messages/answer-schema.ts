// The schema of a structured answer. The wire takes a part of JSON Schema only (checked 2026-11): every object closed,
// no bounds on numbers, lengths or counts. What it does not take is left out rather than refused.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export function answerFormat(schema: JsonObject, notes: Note[]): JsonObject {
  const left = new Set<string>()
  const strict = walk(schema, left)
  if (left.size > 0) {
    const what = `${[...left].join(', ')} in the answer's schema`
    notes.push({ kind: 'dropped', what, why: 'a structured answer does not take them' })
  }
  return { type: 'json_schema', schema: isObject(strict) ? strict : schema }
}

const refused: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
])

function walk(schema: Json, left: Set<string>): Json {
  if (Array.isArray(schema)) return schema.map((item) => walk(item, left))
  if (!isObject(schema)) return schema
  const out: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined) continue
    const tooMany = key === 'minItems' && typeof value === 'number' && value > 1
    if (refused.has(key) || tooMany) left.add(key)
    else if (key === 'properties' || key === '$defs' || key === 'definitions') out[key] = walkNamed(value, left)
    else if (key === 'enum' || key === 'const' || key === 'default' || key === 'examples') out[key] = value
    else out[key] = walk(value, left)
  }
  if (out.type === 'object') out.additionalProperties = false
  return out
}

/** The keys here are names, not words of JSON Schema. */
function walkNamed(named: Json, left: Set<string>): Json {
  if (!isObject(named)) return named
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, walk(schema ?? null, left)]))
}
