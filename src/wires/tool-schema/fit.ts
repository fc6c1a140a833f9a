// A schema in the dialect of a provider. Nothing in a schema is lost: what a dialect does not support is flattened, or
// described in sentences, and noted. The same schema always gives the same bytes, and a valid schema is not changed.

import type { Note, ToolSpec } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { supportsKeyword, type SchemaDialect } from './dialect.ts'
import { expand, mergeAllOf, objectsOf } from './expand.ts'
import { fitNode, type Work } from './fit-node.ts'
import { flattenChoice, mergeSchemas, sentence } from './merge.ts'
import { definitionOf, noArguments, wantsWrapping, wrapSchema, wrapper } from './root.ts'
import { objectIn, listIn } from '../shared/json-fields.ts'

export interface FittedTool {
  description?: string
  schema: JsonObject
}

/** The schema of a tool's arguments, and the tool's description with what the schema cannot express. */
export function fitTool(tool: ToolSpec, dialect: SchemaDialect, at: string, notes: Note[]): FittedTool {
  const { schema, changes, sentences } = fitSchema(tool.input ?? noArguments, dialect)
  noteChanges(changes, `schema of tool ${JSON.stringify(tool.name)}`, dialect, at, notes)
  const description = sentences.length > 0 ? sentence(tool.description, sentences.join(' ')) : tool.description
  return { schema, ...(description !== undefined && { description }) }
}

/** The schema of an answer. */
export function fitAnswer(schema: JsonObject, dialect: SchemaDialect, notes: Note[]): JsonObject {
  const fitted = fitSchema(schema, dialect)
  noteChanges(fitted.changes, 'schema of the answer', dialect, 'options.answerSchema', notes)
  return fitted.schema
}

function noteChanges(
  changes: readonly string[],
  subject: string,
  dialect: SchemaDialect,
  at: string,
  notes: Note[],
): void {
  if (changes.length === 0) return
  const what = `${subject}: ${changes.join(', ')}`
  notes.push({
    kind: 'changed',
    what,
    why: `${dialect.reader} supports only a part of JSON Schema`,
    at,
    rule: dialect.rule,
  })
}

export interface Fitted {
  schema: JsonObject
  /**
   * What was changed, in alphabetical order; empty: the schema is unchanged, except for an empty list of properties.
   */
  changes: readonly string[]
  /** Sentences for what the schema cannot express. */
  sentences: readonly string[]
}

const cache = new WeakMap<JsonObject, Map<SchemaDialect, Fitted>>()

export function fitSchema(schema: JsonObject, dialect: SchemaDialect): Fitted {
  const byDialect = cache.get(schema) ?? new Map<SchemaDialect, Fitted>()
  cache.set(schema, byDialect)
  const cached = byDialect.get(dialect)
  if (cached) return cached
  const fitted = fitAnew(schema, dialect)
  byDialect.set(dialect, fitted)
  return fitted
}

function fitAnew(original: JsonObject, dialect: SchemaDialect): Fitted {
  const work: Work = { root: original, dialect, changes: new Set(), expanded: new Map(), nodes: 0, members: 0 }
  const root = rootOf(original, work)
  const fitted = fitNode(root, work, { path: '', open: new Map(), depth: 0 })
  const schema: JsonObject = objectIn(fitted)
  if (dialect.rootProperties && !isObject(schema.properties)) schema.properties = {}
  const sentences: string[] = []
  if (!dialect.rootDescription && typeof schema.description === 'string') {
    sentences.push(schema.description)
    delete schema.description
    work.changes.add('description of the arguments')
  }
  return { schema: withDefinitions(schema, root, work), changes: [...work.changes].toSorted(), sentences }
}

/** The top of a schema as an object schema: references inlined, alternatives flattened, other values wrapped. */
function rootOf(original: JsonObject, work: Work): JsonObject {
  if (wantsWrapping(original)) {
    work.changes.add(`a value that is not an object as the property "${wrapper}"`)
    return wrapSchema(original)
  }
  const place = { path: '', open: new Map<string, string>(), depth: 0 }
  let { schema } = expand(original, work, place)
  const { dialect } = work
  if (schema.type !== 'object') {
    schema = { ...schema, type: 'object' }
    work.changes.add('type: object')
  }
  if (dialect.rootUnions) return schema
  if (Array.isArray(schema.allOf)) schema = mergeAllOf(schema, work, place).schema
  for (const key of ['oneOf', 'anyOf'] as const) {
    const members = schema[key]
    if (!Array.isArray(members)) continue
    work.changes.add(`${key} at the top flattened`)
    schema = flattenChoice(schema, key, objectsOf(members, work, place))
  }
  return withoutRest(schema, work)
}

/** `enum`, `const` and `not` at the top, in words. */
function withoutRest(schema: JsonObject, work: Work): JsonObject {
  const { enum: values, const: value, not, ...rest } = schema
  const sentences: string[] = []
  if (values !== undefined) sentences.push(`The arguments are one of ${JSON.stringify(values)}.`)
  if (value !== undefined) sentences.push(`The arguments are ${JSON.stringify(value)}.`)
  if (not !== undefined) sentences.push(`The arguments must not fit ${JSON.stringify(not)}.`)
  if (sentences.length === 0) return schema
  work.changes.add('enum, const or not at the top in words')
  const listed = [...listIn(values), ...(value === undefined ? [] : [value])].filter(isObject)
  const names = new Set(listed.flatMap((item) => Object.keys(item)))
  const properties: JsonObject = Object.fromEntries([...names].map((name) => [name, {}]))
  const open = names.size > 0 ? mergeSchemas(rest, { properties }) : rest
  return { ...open, description: sentence(rest.description, sentences.join(' ')) }
}

/** The definitions that are still referenced, each in the same dialect. */
function withDefinitions(schema: JsonObject, root: JsonObject, work: Work): JsonObject {
  const { dialect } = work
  const fittedFields: JsonObject = {}
  for (const container of ['$defs', 'definitions']) {
    const definitions = work.root[container] ?? root[container]
    if (!isObject(definitions)) continue
    const name = supportsKeyword(dialect, container) ? container : '$defs'
    if (dialect.refs === 'inline' || !supportsKeyword(dialect, name)) {
      work.changes.add(`${container} inlined`)
      continue
    }
    if (name !== container) work.changes.add(`${container} to ${name}`)
    const fitted = Object.entries(definitions).map(([key, value]) => {
      const place = { path: key, open: new Map<string, string>(), depth: 1 }
      return [key, fitNode(value ?? {}, work, place)] as const
    })
    fittedFields[name] = { ...(isObject(fittedFields[name]) && fittedFields[name]), ...Object.fromEntries(fitted) }
  }
  const all = { ...schema, ...fittedFields }
  return work.changes.has('$ref inlined') ? withoutUnused(all, fittedFields) : all
}

function withoutUnused(schema: JsonObject, definitions: JsonObject): JsonObject {
  const { $defs: _defs, definitions: _definitions, ...body } = schema
  const used = new Set<string>()
  const find = (value: Json | undefined): void => {
    if (Array.isArray(value)) return value.forEach(find)
    if (!isObject(value)) return
    const name = typeof value.$ref === 'string' ? definitionOf(value.$ref) : undefined
    if (name !== undefined && !used.has(name)) {
      used.add(name)
      for (const container of Object.values(definitions)) if (isObject(container)) find(container[name])
    }
    Object.values(value).forEach(find)
  }
  find(body)
  for (const [container, named] of Object.entries(definitions)) {
    const remaining = Object.entries(objectIn(named)).filter(([name]) => used.has(name))
    if (remaining.length > 0) body[container] = Object.fromEntries(remaining)
  }
  return body
}
