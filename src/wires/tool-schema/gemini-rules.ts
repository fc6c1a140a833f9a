// What Google refuses in a JSON Schema (`parametersJsonSchema`, `responseJsonSchema`, the parameters of Interactions),
// with its error messages. Unknown keywords are ignored; references are checked strictly (checked 2026-11).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { neverEnds, targetOf } from './refs.ts'

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
