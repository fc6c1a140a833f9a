// What a setting may be, as plain JSON Schema with a type for the compiler. Why it is not zod: docs/decisions/013. The
// zod schemas of files and requests are made from these rules.

import type { JsonObject } from '../core/json.ts'

/** JSON Schema, as far as settings need it, and two additional types for what only code can pass. */
export interface Rule<T = unknown> {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object' | 'function' | 'instance'
  readonly description?: string
  readonly enum?: readonly (string | boolean)[]
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly items?: Rule
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Rule>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Rule
  readonly anyOf?: readonly Rule[]
  /** The error for a text that does not match the pattern. */
  readonly otherwise?: string
  /** Only for the compiler: the type of a valid value. */
  readonly fits?: T
}

/** A rule for each key of a type. */
export type Fields<T> = { readonly [K in keyof T]-?: Rule<Exclude<T[K], undefined>> }

export const text: Rule<string> = { type: 'string' }
export const name: Rule<string> = { type: 'string', minLength: 1 }
export const flag: Rule<boolean> = { type: 'boolean' }
export const jsonObject: Rule<JsonObject> = { type: 'object', additionalProperties: true }

/** A function or an object of the caller's, which is used and not validated. */
export const functionValue: Rule<never> = { type: 'function' }
export const instance: Rule<never> = { type: 'instance' }

/** Any value: it is passed on and not validated. */
export const anything: Rule<never> = {}

export function integer(minimum: number, maximum?: number): Rule<number> {
  return { type: 'integer', minimum, ...(maximum !== undefined && { maximum }) }
}

export function within(minimum: number, maximum: number): Rule<number> {
  return { type: 'number', minimum, maximum }
}

export function above(exclusiveMinimum: number, maximum?: number): Rule<number> {
  return { type: 'number', exclusiveMinimum, ...(maximum !== undefined && { maximum }) }
}

export function oneOf<const T extends string>(values: readonly T[]): Rule<T> {
  return { type: 'string', enum: values }
}

export const never: Rule<false> = { type: 'boolean', enum: [false] }

export function nullable<T>(rule: Rule<T>): Rule<T | null> {
  return { anyOf: [rule, { type: 'null' }] }
}

export function listOf<T>(items: Rule<T>, limits: { minItems?: number; maxItems?: number } = {}): Rule<T[]> {
  return { type: 'array', items, ...limits }
}

export function mapOf<T>(values: Rule<T>): Rule<Record<string, T>> {
  return { type: 'object', additionalProperties: values }
}

/** Keys that are not among the fields are refused, unless the object is `open`. */
export function object<T>(fields: Fields<T>, required: readonly (keyof T & string)[] = [], open = false): Rule<T> {
  return {
    type: 'object',
    properties: fields,
    ...(required.length > 0 && { required }),
    additionalProperties: open,
  }
}

export function either<A, B>(a: Rule<A>, b: Rule<B>): Rule<A | B> {
  return { anyOf: [a, b] }
}

export function withDescription<T>(rule: Rule<T>, description: string): Rule<T> {
  return { ...rule, description }
}

/** The rule as JSON Schema for others: without our own error messages. */
export function jsonSchemaOf(rule: Rule): JsonObject {
  return JSON.parse(
    JSON.stringify(rule, (key, value: unknown) => (key === 'otherwise' ? undefined : value)),
  ) as JsonObject
}
