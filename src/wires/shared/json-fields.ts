// Fields of untrusted JSON with the expected type: a field of another type counts as absent.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

/** A value of a table. The name may be any text of a client, such as `constructor`, which every object has. */
export function valueFor<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

export function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

export function numberIn(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

/** A number of tokens: one below zero would make a reply cheaper than nothing. */
export function countIn(value: Json | undefined): number {
  return Math.max(0, numberIn(value))
}

export function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function listIn(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

/** A repeated field; Google's APIs accept a single value for a list of one. */
export function valuesIn(value: Json | undefined): Json[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

export function objectsIn(value: Json | undefined): JsonObject[] {
  return listIn(value).filter(isObject)
}

/** The texts of a list; undefined if it has none. */
export function textsIn(list: Json | undefined): string[] | undefined {
  const texts = listIn(list).filter((item) => typeof item === 'string')
  return texts.length > 0 ? texts : undefined
}

/** The value at a path of fields; absent and null are the same. */
export function valueAt(value: Json | undefined, ...path: string[]): Json | undefined {
  let current = value
  for (const key of path) current = isObject(current) ? current[key] : undefined
  return current ?? undefined
}
