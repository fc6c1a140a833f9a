// One schema inside a schema, in the dialect of the provider: keyword by keyword, in their original order.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { supportsKeyword, type SchemaDialect } from './dialect.ts'
import { expand, mergeAllOf, objectsOf } from './expand.ts'
import { flattenChoice, sentence } from './merge.ts'
import { schemaKeywords, schemaLists, schemaMaps } from './meta-schema.ts'
import { definitionOf, kindOf, neverEnds, targetOf } from './root.ts'
import { repair } from './repair.ts'
import { objectIn } from '../shared/json-fields.ts'

export interface Work {
  /** The original schema, in which references are resolved. */
  root: JsonObject
  dialect: SchemaDialect
  changes: Set<string>
  /** References that were inlined, with the path of the first place. */
  expanded: Map<string, string>
  nodes: number
  /** Members of choices that were merged into one object. */
  members: number
}

export interface Place {
  /** In a readable form: `filter.parts[].name`. */
  path: string
  /** References that are being inlined around this place, with their paths. */
  open: ReadonlyMap<string, string>
  depth: number
}

export function fitNode(original: Json, work: Work, at: Place): JsonObject | boolean {
  const { dialect, changes } = work
  work.nodes++
  if (typeof original === 'boolean') {
    if (dialect.booleans) return original
    changes.add('boolean schema')
    return withType(original ? {} : { description: '(must not be given)' }, work)
  }
  const fixed = repair(objectIn(original))
  for (const change of fixed.changes) changes.add(change)
  if (!isObject(original)) changes.add('a schema that is none')
  if (at.depth > dialect.maxDepth && holdsSchemas(fixed.schema)) return inWords(fixed.schema, work)
  const reference = allowedRef(fixed.schema, work)
  if (reference) return reference
  const expanded = expand(fixed.schema, work, at)
  const flat = supportsKeyword(dialect, 'allOf') ? expanded : mergeAllOf(expanded.schema, work, expanded.place)
  const schema = typedChoices(flat.schema, work, flat.place)
  return withType(keywords(schema, work, flat.place, fixed.sentences), work)
}

/** A reference that may stay, with what may be next to it. */
function allowedRef(schema: JsonObject, { dialect, root, changes }: Work): JsonObject | undefined {
  const { $ref: ref } = schema
  if (typeof ref !== 'string' || dialect.refs === 'inline') return undefined
  const name = definitionOf(ref)
  const target = targetOf(root, ref)
  if (name === undefined || target === undefined) return undefined
  if (dialect.refSiblings && Object.keys(schema).some((key) => !dialect.refSiblings?.has(key))) return undefined
  if (dialect.endingLoops && neverEnds(root, ref)) return undefined
  const container =
    ref.startsWith('#/definitions/') && !supportsKeyword(dialect, 'definitions') ? '$defs' : ref.split('/')[1]
  const pointer = `#/${container}/${name}`
  if (pointer === ref) return schema
  changes.add('definitions to $defs')
  return { ...schema, $ref: pointer }
}

function holdsSchemas(schema: JsonObject): boolean {
  return Object.keys(schema).some(
    (key) =>
      key === 'items' || key === '$ref' || schemaKeywords.has(key) || schemaMaps.has(key) || schemaLists.has(key),
  )
}

function inWords(schema: JsonObject, work: Work): JsonObject {
  work.changes.add('what is nested too deep in words')
  // An object that must be closed but has no properties would always be empty.
  const type = work.dialect.closedObjects ? undefined : schema.type
  const text = `(as this JSON Schema says: ${JSON.stringify(schema)})`
  return withType({ ...(type !== undefined && { type }), description: sentence(schema.description, text) }, work)
}

/** Types go into the members of a choice; members that only add to the object around them are merged into it. */
function typedChoices(schema: JsonObject, work: Work, place: Place): JsonObject {
  const { dialect, changes } = work
  if (!dialect.typedChoices) return schema
  const key = Array.isArray(schema.anyOf) ? 'anyOf' : 'oneOf'
  const members = schema[key]
  if (!Array.isArray(members)) return schema
  const isObjectAround = schema.type === 'object' || isObject(schema.properties)
  if (isObjectAround) {
    changes.add(`${key} flattened`)
    return flattenChoice(schema, key, objectsOf(members, work, place))
  }
  if (schema.type === undefined) return schema
  changes.add('type into the members of a choice')
  const { type, ...rest } = schema
  return {
    ...rest,
    [key]: members.map((member) => (isObject(member) && member.type === undefined ? { type, ...member } : member)),
  }
}

const annotations = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$vocabulary',
  '$dynamicAnchor',
  'readOnly',
  'writeOnly',
])

function keywords(schema: JsonObject, work: Work, place: Place, more: readonly string[]): JsonObject {
  const { dialect, changes } = work
  const out: JsonObject = {}
  const sentences: string[] = [...more]
  const inner = (value: Json, step: string) => fitNode(value, work, { ...place, path: step, depth: place.depth + 1 })
  const describe = (keyword: string, value: Json) => {
    changes.add(annotations.has(keyword) || keyword.startsWith('x-') ? `${keyword} left out` : `${keyword} in words`)
    if (!annotations.has(keyword) && !keyword.startsWith('x-')) sentences.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || keyword === '$defs' || keyword === 'definitions') continue
    if (keyword === 'items' || keyword === 'prefixItems' || keyword === 'additionalItems') {
      writeItems(keyword, schema, out, sentences, work, (item) => inner(item, `${place.path}[]`))
    } else if (keyword === 'oneOf' && !supportsKeyword(dialect, 'oneOf') && supportsKeyword(dialect, 'anyOf')) {
      if (schema.anyOf !== undefined) describe(keyword, value)
      else {
        changes.add('oneOf to anyOf')
        out.anyOf = (value as Json[]).map((member) => inner(member, place.path))
      }
    } else if (keyword === 'const' && !supportsKeyword(dialect, 'const')) {
      changes.add('const to enum')
      if (schema.enum === undefined) writeEnum([value], out, sentences, work)
    } else if (keyword === 'enum') writeEnum(value as Json[], out, sentences, work)
    else if (!supportsKeyword(dialect, keyword)) describe(keyword, value)
    else if (keyword === 'format' && dialect.formats && !dialect.formats.has(String(value))) describe(keyword, value)
    else if (keyword === 'minItems' && Number(value) > (dialect.mostMinItems ?? Infinity)) describe(keyword, value)
    else if (keyword === 'required') writeRequired(value as Json[], schema, out, work)
    else if (schemaMaps.has(keyword) && isObject(value)) {
      const named = Object.entries(value).map(([name, property]) => {
        const path = place.path === '' ? name : `${place.path}.${name}`
        return [name, inner(property ?? {}, path)] as const
      })
      out[keyword] = { ...(isObject(out[keyword]) && out[keyword]), ...Object.fromEntries(named) }
    } else if (keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'allOf') {
      out[keyword] = (value as Json[]).map((member) => inner(member, place.path))
    } else if (keyword === 'additionalProperties' && typeof value === 'boolean') out[keyword] = value
    else if (schemaKeywords.has(keyword)) out[keyword] = inner(value, place.path)
    else out[keyword] = value
  }
  if (sentences.length > 0) out.description = sentence(out.description, `(${sentences.join('; ')})`)
  if (dialect.closedObjects && out.type === 'object' && out.additionalProperties !== false) {
    if (out.additionalProperties !== undefined) changes.add('additionalProperties: false')
    out.additionalProperties = false
  }
  if (dialect.requiredNeeded) requireOne(out, changes)
  return out
}

/** What matches then also matches the original schema. */
function requireOne(out: JsonObject, changes: Work['changes']): void {
  const [first] = isObject(out.properties) ? Object.keys(out.properties) : []
  if (first === undefined || (Array.isArray(out.required) && out.required.length > 0)) return
  changes.add('one property required')
  out.required = [first]
}

/** Tuples in the form of the dialect; the items of a plain array. */
function writeItems(
  keyword: string,
  schema: JsonObject,
  out: JsonObject,
  sentences: string[],
  { dialect, changes }: Work,
  fit: (item: Json) => JsonObject | boolean,
): void {
  const { items, prefixItems, additionalItems } = schema
  const older = Array.isArray(items)
  const members = older ? items : Array.isArray(prefixItems) ? prefixItems : undefined
  if (!members) {
    if (keyword === 'items' && items !== undefined) out.items = fit(items)
    else if (keyword === 'additionalItems') changes.add('additionalItems left out')
    return
  }
  // Once, at the first of the keywords of the tuple.
  if (out.items !== undefined || out.prefixItems !== undefined) return
  const rest = older ? additionalItems : (items as Json | undefined)
  if (older) changes.add('items to prefixItems')
  if (dialect.tuples === 'prefixItems' && members.length > 0) {
    out.prefixItems = members.map(fit)
    if (rest === false && !dialect.booleans) {
      changes.add('items: false as maxItems')
      if (schema.maxItems === undefined) out.maxItems = members.length
    } else if (rest !== undefined) out.items = fit(rest)
    return
  }
  changes.add('a tuple as an array')
  const allowed = [...members, ...(isObject(rest) ? [rest] : [])].map(fit)
  const different = allowed.filter(
    (item, i) => allowed.findIndex((other) => JSON.stringify(other) === JSON.stringify(item)) === i,
  )
  const [only] = different
  out.items = different.length === 1 && only !== undefined ? only : different.length === 0 ? {} : { anyOf: different }
  if (rest === false && schema.maxItems === undefined && supportsKeyword(dialect, 'maxItems'))
    out.maxItems = members.length
  sentences.push(`in this order: ${members.map((member, i) => `${i + 1}. ${nameOf(member)}`).join(', ')}`)
}

function nameOf(member: Json): string {
  if (!isObject(member)) return 'anything'
  const { title, description, type, $ref } = member
  if (typeof description === 'string') return description
  if (typeof title === 'string') return title
  if (member.const !== undefined) return JSON.stringify(member.const)
  if (Array.isArray(member.enum)) return member.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (typeof $ref === 'string') return definitionOf($ref) ?? 'anything'
  return type === undefined ? 'anything' : [type].flat().join(' or ')
}

function writeEnum(values: Json[], out: JsonObject, sentences: string[], { dialect, changes }: Work): void {
  const { enumTypes } = dialect
  const fitting = enumTypes ? values.filter((value) => enumTypes.has(kindOf(value))) : values
  if (fitting.length === values.length) {
    out.enum = values
    return
  }
  const onlyNull = values.filter((value) => value !== null).length === fitting.length
  if (onlyNull && fitting.length > 0) {
    changes.add('null out of an enum')
    const type = [out.type ?? []].flat().find((name) => name !== 'null') ?? kindOf(fitting[0] ?? null)
    delete out.type
    out.anyOf = [{ type, enum: fitting }, { type: 'null' }]
    return
  }
  changes.add('enum in words')
  sentences.push(`one of: ${values.map((value) => JSON.stringify(value)).join(', ')}`)
  const kinds = [...new Set(values.map(kindOf))]
  if (out.type === undefined && kinds.length === 1) out.type = kinds[0] ?? null
}

function writeRequired(names: Json[], schema: JsonObject, out: JsonObject, { dialect, changes }: Work): void {
  if (names.length === 0 && !dialect.emptyRequired) {
    changes.add('required: [] left out')
    return
  }
  out.required = names
  if (!dialect.requiredDefined) return
  const properties = objectIn(schema.properties)
  const lacking = names.filter((name) => !Object.hasOwn(properties, String(name))).map(String)
  if (lacking.length === 0) return
  changes.add('properties that are only named as required')
  const any = () => withTypeOf({}, dialect)
  const missing = Object.fromEntries(lacking.map((name) => [name, any()]))
  out.properties = { ...(isObject(out.properties) && out.properties), ...missing }
}

/** What every schema of the dialect must have. */
function withType(out: JsonObject, { dialect, changes }: Work): JsonObject {
  const types = [out.type ?? []].flat()
  const typed = withTypeOf(out, dialect)
  if (typed !== out) changes.add('type added')
  if (dialect.itemsNeeded && types.includes('array') && typed.items === undefined) {
    changes.add('items added')
    return { ...typed, items: anyItem(dialect) }
  }
  return typed
}

const anything = ['string', 'number', 'boolean', 'object', 'array']

function withTypeOf(out: JsonObject, dialect: SchemaDialect): JsonObject {
  if (!dialect.typeNeeded || ['type', '$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => out[key] !== undefined))
    return out
  if (isObject(out.properties)) return { type: 'object', ...out }
  if (out.items !== undefined) return { type: 'array', ...out }
  const values = Array.isArray(out.enum) ? out.enum : out.const === undefined ? [] : [out.const]
  const kinds = [...new Set(values.map(kindOf))]
  if (kinds.length === 1 && kinds[0] !== undefined) return { type: kinds[0], ...out }
  if (kinds.length > 0) return { ...out, type: kinds }
  const typed = anything.map((type) => ({
    type,
    ...(type === 'array' && dialect.itemsNeeded && { items: anyItem(dialect) }),
  }))
  return { ...out, anyOf: typed }
}

/** Items of any type, but no nested lists: that would not end if each schema must have a type. */
function anyItem(dialect: SchemaDialect): JsonObject {
  return dialect.typeNeeded ? { anyOf: anything.filter((type) => type !== 'array').map((type) => ({ type })) } : {}
}
