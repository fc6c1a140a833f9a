// What both Gemini wires have in common: the JSON Schema they know, and what a model's name tells. A keyword that is not
// on the list is refused or ignored, so it is left out and named in a note.

import type { Note, ToolSpec } from '../../core/context.ts'
import type { Effort } from '../../settings/options.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'

/** The schema of a tool's arguments, in the keywords that Gemini knows. */
export function toolSchema(tool: ToolSpec, at: string, notes: Note[]): JsonObject {
  return narrowed(tool.input, `the schema of tool ${JSON.stringify(tool.name)}`, at, notes)
}

export function answerSchema(schema: JsonObject, notes: Note[]): JsonObject {
  return narrowed(schema, 'the schema of the answer', 'options.answerSchema', notes)
}

function narrowed(schema: JsonObject, of: string, at: string, notes: Note[]): JsonObject {
  const dropped = new Set<string>()
  const narrow = narrowSchema(schema, dropped)
  if (dropped.size > 0) {
    const what = `${[...dropped].toSorted().join(', ')} in ${of}`
    notes.push({ kind: 'dropped', what, why: 'Gemini does not know the keyword', at, rule: 'G-12' })
  }
  return narrow
}

/** Checked 2026-11 against the SDK's description of `parametersJsonSchema`. */
const known: ReadonlySet<string> = new Set(
  '$id $anchor $ref $defs type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering'.split(
    ' ',
  ),
)

function narrowSchema(schema: JsonObject, dropped: Set<string>): JsonObject {
  const narrow: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined) continue
    if (key === 'definitions' && schema.$defs === undefined) {
      narrow.$defs = each(value, dropped)
    } else if (key === 'const' && schema.enum === undefined) {
      narrow.enum = [value]
    } else if (!known.has(key)) {
      dropped.add(key)
    } else if (key === 'required' && Array.isArray(value) && value.length === 0) {
      // An empty list asks for nothing, and Interactions has answered it with 400.
    } else if (key === '$ref' && typeof value === 'string') {
      narrow.$ref = value.replace(/^#\/definitions\//, '#/$defs/')
    } else if (key === 'properties' || key === '$defs') {
      narrow[key] = each(value, dropped)
    } else {
      narrow[key] = inner(key, value, dropped)
    }
  }
  return narrow
}

function each(schemas: Json, dropped: Set<string>): Json {
  if (!isObject(schemas)) return schemas
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, isObject(schema) ? narrowSchema(schema, dropped) : schema]),
  )
}

const holdsSchemas: ReadonlySet<string> = new Set(['items', 'prefixItems', 'anyOf', 'oneOf', 'additionalProperties'])

function inner(key: string, value: Json, dropped: Set<string>): Json {
  if (!holdsSchemas.has(key)) return value
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? narrowSchema(item, dropped) : item))
  return isObject(value) ? narrowSchema(value, dropped) : value
}

/** 2.5 as 205, 3.8 as 308; undefined where the name does not say. Names without a number follow the newest models. */
export function geminiVersion(model: string | undefined): number | undefined {
  if (model === undefined) return undefined
  const match = /gemini-(\d+)(?:\.(\d+))?(?=-|$)/.exec(model)
  if (match) return Number(match[1]) * 100 + Number(match[2] ?? 0)
  return /gemini-[a-z-]*latest$/.test(model) ? 300 : undefined
}

/** Lets a call pass that no Gemini signed (checked 2026-11: Gemini API and Vertex). */
export const skipSignature = 'skip_thought_signature_validator'

const ladder: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The effort that a model knows, nearest to what was asked; the higher one of two as near. */
export function nearestEffort(asked: Effort, knows: readonly Effort[]): Effort | undefined {
  const distance = (effort: Effort) => Math.abs(ladder.indexOf(effort) - ladder.indexOf(asked))
  return knows.toSorted((a, b) => distance(a) - distance(b) || ladder.indexOf(b) - ladder.indexOf(a))[0]
}

/** `extra` over the body: objects are merged, everything else is replaced. */
export function mergeExtra(body: JsonObject, extra: JsonObject): JsonObject {
  const merged: JsonObject = { ...body }
  for (const [key, value] of Object.entries(extra)) {
    const old = merged[key]
    merged[key] = isObject(old) && isObject(value) ? mergeExtra(old, value) : value
  }
  return merged
}
