// Fields of the arguments of a call, which were already validated against the schema.

import { isObject, type Json } from '../../core/json.ts'

export function textField(input: Json, name: string, otherwise?: string): string {
  const value = isObject(input) ? input[name] : undefined
  if (typeof value === 'string') return value
  if (otherwise !== undefined) return otherwise
  throw new TypeError(`${name} is missing`)
}

export function wholeField(input: Json, name: string): number | undefined {
  const value = isObject(input) ? input[name] : undefined
  return typeof value === 'number' ? value : undefined
}
