// What OpenAI refuses in a schema, with its error messages: the same on both of its wires, for arguments and for
// answers. From recorded refusals (checked 2026-11, docs/tool-schemas.md).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { schemaComplaint } from './meta-schema.ts'
import { neverEnds, targetOf } from './root.ts'
import { listIn } from '../shared/json-fields.ts'

/** What follows "Invalid schema for function 'x': "; undefined: nothing is wrong. */
export function functionSchemaFault(schema: JsonObject): string | undefined {
  const root = rootFault(schema)
  if (root !== undefined) return root
  const complaint = schemaComplaint(schema, '2020-12')
  if (complaint !== undefined) return `${complaint}.`
  const bare = bareArray(schema, [])
  if (bare) return `In context=${pythonTuple(bare)}, array schema missing items.`
  return isObject(schema.properties) ? undefined : 'In context=(), object schema missing properties.'
}

/** What follows "Invalid schema for response_format 'x': ". */
export function answerSchemaFault(schema: JsonObject, strict: boolean): string | undefined {
  const { type } = schema
  if (type !== 'object') return wrongRoot(type)
  return strict ? strictFault(schema, []) : undefined
}

const notAtTheTop = ['oneOf', 'anyOf', 'allOf', 'enum', 'not']

function rootFault(schema: JsonObject): string | undefined {
  if (schema.type !== 'object') return wrongRoot(schema.type)
  if (!notAtTheTop.some((key) => schema[key] !== undefined)) return undefined
  return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
}

function wrongRoot(type: Json | undefined): string {
  const actual = typeof type === 'string' ? `"${type}"` : '"None"'
  return `schema must be a JSON Schema of 'type: "object"', got 'type: ${actual}'.`
}

/** Where an array has no type for its items. */
function bareArray(schema: Json | undefined, at: readonly string[]): readonly string[] | undefined {
  if (!isObject(schema)) return undefined
  if (schema.items === undefined && schema.type === 'array') return at
  if (schema.items === undefined && Array.isArray(schema.type) && schema.type.includes('array')) {
    return [...at, 'type', String(schema.type.indexOf('array'))]
  }
  for (const [key, inner] of innerSchemas(schema)) {
    const path = bareArray(inner, [...at, ...key])
    if (path) return path
  }
  return undefined
}

function strictFault(schema: Json | undefined, at: readonly string[]): string | undefined {
  if (!isObject(schema)) return undefined
  const context = `In context=${pythonTuple(at)}, `
  if (schema.type === 'object') {
    if (schema.additionalProperties !== false) {
      return `${context}'additionalProperties' is required to be supplied and to be false.`
    }
    const required = listIn(schema.required)
    const names = isObject(schema.properties) ? Object.keys(schema.properties) : []
    const missing = names.find((name) => !required.includes(name))
    if (missing !== undefined) {
      return `${context}'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`
    }
  }
  const refused = ['allOf', 'oneOf', 'not'].find((key) => schema[key] !== undefined)
  if (refused) return `${context}'${refused}' is not permitted.`
  for (const [key, inner] of innerSchemas(schema)) {
    const fault = strictFault(inner, [...at, ...key])
    if (fault !== undefined) return fault
  }
  return undefined
}

function innerSchemas(schema: JsonObject): [string[], Json | undefined][] {
  const children: [string[], Json | undefined][] = []
  for (const key of ['properties', '$defs', 'definitions']) {
    const map = schema[key]
    if (isObject(map)) for (const [name, value] of Object.entries(map)) children.push([[key, name], value])
  }
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const list = schema[key]
    if (Array.isArray(list)) for (const [i, value] of list.entries()) children.push([[key, String(i)], value])
  }
  if (isObject(schema.items)) children.push([['items'], schema.items])
  return children
}

/** A tuple as Python prints it. */
function pythonTuple(steps: readonly string[]): string {
  const list = steps.map((step) => `'${step}'`).join(', ')
  return steps.length === 1 ? `(${list},)` : `(${list})`
}

// What Google refuses in a JSON Schema (`parametersJsonSchema`, `responseJsonSchema`, the parameters of Interactions),
// with its error messages. Unknown keywords are ignored; references are checked strictly (checked 2026-11).

/** What is wrong with its references; undefined: nothing. */
export function referenceFault(root: JsonObject): string | undefined {
  return faultIn(root, root, '')
}

function faultIn(value: Json | undefined, root: JsonObject, at: string): string | undefined {
  if (Array.isArray(value)) return firstIn(value.entries(), root, at)
  if (!isObject(value)) return undefined
  const { $ref: ref } = value
  if (typeof ref === 'string') {
    const name = ref.split('/').at(-1) ?? ref
    const odd = Object.keys(value).some((key) => !key.startsWith('$') && key !== 'description' && key !== 'default')
    if (odd) {
      return `$ref '${name}' was set alongside unsupported fields. If a schema node has $ref set, then only description and default can be set alongside it`
    }
    if (targetOf(root, ref) === undefined) return `reference to undefined schema at ${at === '' ? 'top-level' : at}`
    if (neverEnds(root, ref)) {
      return `ref loops are only supported if they include optional or nullable property values, or a potentially-zero-length array items, but a ref loop of required fields was found at ${at}`
    }
    return undefined
  }
  return firstIn(Object.entries(value), root, at)
}

function firstIn(
  entries: Iterable<[string | number, Json | undefined]>,
  root: JsonObject,
  at: string,
): string | undefined {
  for (const [key, value] of entries) {
    if (key === 'enum' || key === 'const' || key === 'default' || key === 'examples') continue
    const fault = faultIn(value, root, at === '' ? String(key) : `${at}.${key}`)
    if (fault !== undefined) return fault
  }
  return undefined
}
