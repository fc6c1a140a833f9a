// The top of a schema. Every provider requires the arguments of a tool to be an object, so any other schema becomes the
// one property of an object, and the model's input is unwrapped again.

import type { ToolSpec } from '../../core/context.ts'
import { badInput } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { types } from './meta-schema.ts'
import { targetOf } from './refs.ts'

/** The property for a value that is not an object. */
export const wrapper = 'value'

/** The schema of a tool's arguments; a tool without one takes no arguments. */
export const noArguments: JsonObject = { type: 'object', properties: {} }

/** The schema of a tool, which plain JavaScript programs and servers may omit. */
export function inputSchemaOf(tool: Pick<ToolSpec, 'name'> & { input?: unknown }): JsonObject {
  if (tool.input === undefined || tool.input === null) return noArguments
  if (isObject(tool.input)) return tool.input
  const given = Array.isArray(tool.input) ? 'a list' : `a ${typeof tool.input}`
  throw badInput(
    `The input schema of tool ${JSON.stringify(tool.name)} is ${given}: give a JSON Schema object, or leave it out.`,
  )
}

/** Whether the values of a schema are not objects. */
export function wantsWrapping(schema: JsonObject): boolean {
  const kinds = kindsOf(schema, schema, [])
  return kinds !== undefined && [...kinds].some((kind) => kind !== 'object' && kind !== 'null')
}

/** An object schema with the schema as its one property. Definitions stay at the top, where references point to. */
export function wrapped(schema: JsonObject): JsonObject {
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

/** The possible types of its values; undefined: the schema does not restrict them. */
function kindsOf(schema: Json, root: JsonObject, open: readonly string[]): ReadonlySet<string> | undefined {
  if (!isObject(schema)) return undefined
  const found: (ReadonlySet<string> | undefined)[] = []
  const { type, enum: values, $ref, anyOf, oneOf, allOf } = schema
  const named = (Array.isArray(type) ? type : [type]).flatMap((name) => kindNamed(name))
  if (named.length > 0) found.push(new Set(named))
  if (Array.isArray(values)) found.push(new Set(values.map(kindOf)))
  if (schema.const !== undefined) found.push(new Set([kindOf(schema.const)]))
  if (typeof $ref === 'string' && !open.includes($ref)) {
    found.push(kindsOf(targetOf(root, $ref) ?? true, root, [...open, $ref]))
  }
  for (const list of [anyOf, oneOf]) if (Array.isArray(list)) found.push(together(list, root, open))
  if (Array.isArray(allOf)) for (const part of allOf) found.push(kindsOf(part, root, open))
  const [first, ...others] = found.filter((kinds) => kinds !== undefined)
  if (first) return new Set([...first].filter((kind) => others.every((kinds) => kinds.has(kind))))
  if (isObject(schema.properties)) return new Set(['object'])
  return schema.items !== undefined || schema.prefixItems !== undefined ? new Set(['array']) : undefined
}

/** Members without a type, such as a list of required properties, have the type of the others. */
function together(list: readonly Json[], root: JsonObject, open: readonly string[]): ReadonlySet<string> | undefined {
  const kinds = list.flatMap((member) => [...(kindsOf(member, root, open) ?? [])])
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
