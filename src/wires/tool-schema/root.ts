// The top of a schema. Every provider requires the arguments of a tool to be an object, so any other schema becomes the
// one property of an object, and the model's input is unwrapped again.

import type { ToolSpec } from '../../core/context.ts'
import { badInput } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { types } from './meta-schema.ts'
import { listIn } from '../shared/json-fields.ts'

/** The property for a value that is not an object. */
export const wrapper = 'value'

/** The schema of a tool's arguments; a tool without one takes no arguments. */
export const noArguments: JsonObject = { type: 'object', properties: {} }

/** The schema of a tool, which plain JavaScript programs and servers may omit. */
export function inputSchemaOf(tool: Pick<ToolSpec, 'name'> & { input?: unknown }): JsonObject {
  if (tool.input === undefined || tool.input === null) return noArguments
  if (isObject(tool.input)) return tool.input
  const actual = Array.isArray(tool.input) ? 'a list' : `a ${typeof tool.input}`
  throw badInput(
    `The input schema of tool ${JSON.stringify(tool.name)} is ${actual}: give a JSON Schema object, or leave it out.`,
  )
}

/** Whether the values of a schema are not objects. */
export function wantsWrapping(schema: JsonObject): boolean {
  const kinds = kindsOf(schema, { root: schema, open: [], left: { nodes: mostNodes } })
  return kinds !== undefined && [...kinds].some((kind) => kind !== 'object' && kind !== 'null')
}

/** An object schema with the schema as its one property. Definitions stay at the top, where references point to. */
export function wrapSchema(schema: JsonObject): JsonObject {
  const { $schema, $defs, definitions, ...inner } = schema
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { [wrapper]: inner },
    required: [wrapper],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  }
}

/** The input in the form of the tool's own schema. */
export function unwrapInput(schema: JsonObject, input: Json): Json {
  if (!isObject(input) || Object.keys(input).length !== 1 || !Object.hasOwn(input, wrapper)) return input
  return wantsWrapping(schema) ? (input[wrapper] ?? null) : input
}

/** A few definitions that refer to each other twice have billions of members: the rest restricts nothing. */
const mostNodes = 10_000

interface Reading {
  root: JsonObject
  /** The references that lead here. */
  open: readonly string[]
  left: { nodes: number }
}

/** The possible types of its values; undefined: the schema does not restrict them. */
function kindsOf(schema: Json, reading: Reading): ReadonlySet<string> | undefined {
  const { root, open, left } = reading
  if (!isObject(schema) || left.nodes-- <= 0) return undefined
  const found: (ReadonlySet<string> | undefined)[] = []
  const { type, enum: values, $ref, anyOf, oneOf, allOf } = schema
  const named = (Array.isArray(type) ? type : [type]).flatMap((name) => kindNamed(name))
  if (named.length > 0) found.push(new Set(named))
  if (Array.isArray(values)) found.push(new Set(values.map(kindOf)))
  if (schema.const !== undefined) found.push(new Set([kindOf(schema.const)]))
  if (typeof $ref === 'string' && !open.includes($ref)) {
    found.push(kindsOf(targetOf(root, $ref) ?? true, { ...reading, open: [...open, $ref] }))
  }
  for (const list of [anyOf, oneOf]) if (Array.isArray(list)) found.push(kindsOfAll(list, reading))
  if (Array.isArray(allOf)) for (const part of allOf) found.push(kindsOf(part, reading))
  const [first, ...others] = found.filter((kinds) => kinds !== undefined)
  if (first) return new Set([...first].filter((kind) => others.every((kinds) => kinds.has(kind))))
  if (isObject(schema.properties)) return new Set(['object'])
  return schema.items !== undefined || schema.prefixItems !== undefined ? new Set(['array']) : undefined
}

/** Members without a type, such as a list of required properties, have the type of the others. */
function kindsOfAll(list: readonly Json[], reading: Reading): ReadonlySet<string> | undefined {
  const kinds = list.flatMap((member) => [...(kindsOf(member, reading) ?? [])])
  return kinds.length > 0 ? new Set(kinds) : undefined
}

/** Integers are numbers here; an unknown type is ignored. */
function kindNamed(name: Json | undefined): string[] {
  const small = typeof name === 'string' ? name.toLowerCase() : ''
  if (!types.has(small)) return []
  return [small === 'integer' ? 'number' : small]
}

export function kindOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

// Resolves references inside one schema, and detects infinite recursion.

/**
 * The target of a local reference (`#`, `#/$defs/x`, `#/properties/a`, `#anchor`); undefined: nothing in this schema.
 */
export function targetOf(root: JsonObject, ref: string): Json | undefined {
  if (ref === '#' || ref === root.$id) return root
  if (ref.startsWith('#/')) return stepInto(root, ref.slice(2).split('/').map(unescape))
  return ref.startsWith('#') ? findAnchor(root, ref.slice(1)) : undefined
}

function stepInto(root: JsonObject, steps: readonly string[]): Json | undefined {
  let current: Json | undefined = root
  for (const step of steps) {
    if (Array.isArray(current)) current = current[Number(step)]
    else if (isObject(current) && Object.hasOwn(current, step)) current = current[step]
    else return undefined
  }
  return isObject(current) || typeof current === 'boolean' ? current : undefined
}

function unescape(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}

function findAnchor(value: Json | undefined, name: string): JsonObject | undefined {
  if (Array.isArray(value)) return firstAnchor(value, name)
  if (!isObject(value)) return undefined
  return value.$anchor === name ? value : firstAnchor(Object.values(value), name)
}

function firstAnchor(values: readonly (Json | undefined)[], name: string): JsonObject | undefined {
  for (const value of values) {
    const anchor = findAnchor(value, name)
    if (anchor) return anchor
  }
  return undefined
}

/** `definitions` is the older name of `$defs`. */
export function definitionOf(ref: string): string | undefined {
  return /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(ref)?.[1]
}

/** Whether following required parts leads from this reference back to itself. */
export function neverEnds(root: JsonObject, ref: string): boolean {
  const seen = new Set<string>()
  const waiting = neededRefs(targetOf(root, ref))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === ref) return true
    if (seen.has(next)) continue
    seen.add(next)
    waiting.push(...neededRefs(targetOf(root, next)))
  }
  return false
}

/** The references that every value of this schema needs. Each member of a choice counts, as it does for Gemini. */
function neededRefs(schema: Json | undefined): string[] {
  if (!isObject(schema)) return []
  if (typeof schema.$ref === 'string') return [schema.$ref]
  const { properties, required, items, prefixItems, minItems, anyOf, oneOf, allOf } = schema
  const choices = [anyOf, oneOf].flatMap((list) => listIn(list))
  if (choices.some((choice) => isObject(choice) && choice.type === 'null')) return []
  const names = listIn(required)
  const inner: (Json | undefined)[] = [...choices, ...listIn(allOf)]
  if (isObject(properties)) for (const name of names) if (typeof name === 'string') inner.push(properties[name])
  if (typeof minItems === 'number' && minItems > 0) inner.push(items, ...listIn(prefixItems))
  return inner.flatMap(neededRefs)
}
