// Inlines references, and merges `allOf` into one schema.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Place, Work } from './fit-node.ts'
import { flattenChoice, mergeSchemas, sentence } from './merge.ts'
import { targetOf } from './root.ts'
import { repair } from './repair.ts'

export interface Expanded {
  schema: JsonObject
  place: Place
}

/**
 * Follows `$ref` until there is none. A recursive definition, or one that would make the schema too large, is described
 * in words.
 */
export function expand(original: JsonObject, work: Work, at: Place): Expanded {
  let schema = original
  let place = at
  while (typeof schema.$ref === 'string') {
    const { $ref: ref, ...siblings } = schema
    const target = targetOf(work.root, ref)
    work.changes.add('$ref inlined')
    if (target === undefined || target === false) {
      return {
        schema: { ...siblings, description: sentence(siblings.description, `(${ref}, which is not given here)`) },
        place,
      }
    }
    if (target === true) return { schema: siblings, place }
    const isLarge = Math.max(work.nodes, work.members) > work.dialect.maxNodes
    const first = place.open.get(ref) ?? (isLarge ? work.expanded.get(ref) : undefined)
    if (first !== undefined) {
      const form = first === '' ? 'of the same form as the arguments as a whole' : `of the same form as ${first}`
      const description = sentence(siblings.description, `(${form})`)
      return { schema: { ...outlineOf(target), ...siblings, description }, place }
    }
    if (!work.expanded.has(ref)) work.expanded.set(ref, place.path)
    const open: ReadonlyMap<string, string> = new Map([...place.open, [ref, place.path]])
    place = { path: place.path, depth: place.depth, open }
    const {
      $defs: _defs,
      definitions: _definitions,
      $id: _id,
      $anchor: _anchor,
      $schema: _schema,
      ...body
    } = target as JsonObject
    schema =
      'description' in siblings
        ? mergeSchemas({ ...body, description: undefined }, siblings)
        : mergeSchemas(body, siblings)
    if (ref === '#' && isObject(work.root.$defs)) schema = { ...schema, $defs: work.root.$defs }
  }
  return { schema, place }
}

function outlineOf(target: Json): JsonObject {
  const type = isObject(target) ? repair(target).schema.type : undefined
  return type === undefined ? {} : { type }
}

/** The schema with its `allOf` merged in. */
export function mergeAllOf(original: JsonObject, work: Work, at: Place): Expanded {
  let schema = original
  let place = at
  while (Array.isArray(schema.allOf)) {
    const { allOf, ...rest } = schema
    schema = rest
    work.changes.add('allOf merged')
    for (const part of allOf) {
      if (!isObject(part)) continue
      const fixed = repair(part)
      for (const change of fixed.changes) work.changes.add(change)
      const open = expand(fixed.schema, work, place)
      place = open.place
      const { $defs: _defs, definitions: _definitions, ...body } = open.schema
      schema = mergeSchemas(schema, body)
    }
  }
  return { schema, place }
}

/** The members of a choice as plain object schemas. */
export function objectsOf(members: readonly Json[], work: Work, place: Place): JsonObject[] {
  return members.filter(isObject).map((member) => {
    work.members++
    const open = expand(repair(member).schema, work, place)
    let { schema } = mergeAllOf(open.schema, work, open.place)
    for (const key of ['oneOf', 'anyOf'] as const) {
      const inner = schema[key]
      if (Array.isArray(inner)) schema = flattenChoice(schema, key, objectsOf(inner, work, open.place))
    }
    return schema
  })
}
