// Resolves references inside one schema, and detects infinite recursion.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

/**
 * The target of a local reference (`#`, `#/$defs/x`, `#/properties/a`, `#anchor`); undefined: nothing in this schema.
 */
export function targetOf(root: JsonObject, ref: string): Json | undefined {
  if (ref === '#' || ref === root.$id) return root
  if (ref.startsWith('#/')) return stepInto(root, ref.slice(2).split('/').map(unescape))
  return ref.startsWith('#') ? anchored(root, ref.slice(1)) : undefined
}

function stepInto(root: JsonObject, steps: readonly string[]): Json | undefined {
  let at: Json | undefined = root
  for (const step of steps) {
    if (Array.isArray(at)) at = at[Number(step)]
    else if (isObject(at) && Object.hasOwn(at, step)) at = at[step]
    else return undefined
  }
  return isObject(at) || typeof at === 'boolean' ? at : undefined
}

function unescape(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}

function anchored(value: Json | undefined, name: string): JsonObject | undefined {
  if (Array.isArray(value)) return first(value, name)
  if (!isObject(value)) return undefined
  return value.$anchor === name ? value : first(Object.values(value), name)
}

function first(values: readonly (Json | undefined)[], name: string): JsonObject | undefined {
  for (const value of values) {
    const found = anchored(value, name)
    if (found) return found
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
  const waiting = needed(targetOf(root, ref))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === ref) return true
    if (seen.has(next)) continue
    seen.add(next)
    waiting.push(...needed(targetOf(root, next)))
  }
  return false
}

/** The references that every value of this schema needs. Each member of a choice counts, as it does for Gemini. */
function needed(schema: Json | undefined): string[] {
  if (!isObject(schema)) return []
  if (typeof schema.$ref === 'string') return [schema.$ref]
  const { properties, required, items, prefixItems, minItems, anyOf, oneOf, allOf } = schema
  const choices = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []))
  if (choices.some((choice) => isObject(choice) && choice.type === 'null')) return []
  const names = Array.isArray(required) ? required : []
  const inner: (Json | undefined)[] = [...choices, ...(Array.isArray(allOf) ? allOf : [])]
  if (isObject(properties)) for (const name of names) if (typeof name === 'string') inner.push(properties[name])
  if (typeof minItems === 'number' && minItems > 0)
    inner.push(items, ...(Array.isArray(prefixItems) ? prefixItems : []))
  return inner.flatMap(needed)
}
