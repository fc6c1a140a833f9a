// A request that breaks one rule, for `synapse probe`: the small valid body of a question, changed.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export interface RefusedCheck {
  /** The rule's number in docs/protocols. */
  rule: string
  /** What is wrong, in a few words. */
  about: string
  change(body: JsonObject): JsonObject
}

export function refused(rule: string, about: string, change: RefusedCheck['change']): RefusedCheck {
  return { rule, about, change }
}

/** These fields replace those of the body; undefined removes one. */
export function put(fields: Record<string, Json | undefined>): RefusedCheck['change'] {
  return (body) => {
    const merged = { ...body, ...fields }
    return Object.fromEntries(Object.entries(merged).filter((entry): entry is [string, Json] => entry[1] !== undefined))
  }
}

/** The same inside an object of the body. */
export function putIn(name: string, fields: JsonObject): RefusedCheck['change'] {
  return (body) => ({ ...body, [name]: { ...(isObject(body[name]) ? body[name] : {}), ...fields } })
}

/** A JSON Schema for the arguments of the one offered tool. */
export const clockInput: JsonObject = { type: 'object', properties: { zone: { type: 'string' } } }

export const longText: string = 'x'.repeat(65)
