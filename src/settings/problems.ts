// Problems of settings, as sentences with their paths: the same for a file, a request and a call in code. All problems
// at once, because repairing a file one run at a time is tedious.

import { editDistance } from '../core/edit-distance.ts'
import type { Rule } from './rule.ts'

export type Path = readonly (string | number)[]

/** One problem, and where. */
export interface SettingProblem {
  path: Path
  says: string
  /** The value has a different type: of several alternatives, this one was not meant. */
  otherKind?: boolean
}

/** All problems of the value; empty: none. Checking a valid value costs next to nothing. */
export function problemsWith(rule: Rule, value: unknown): readonly SettingProblem[] {
  if (rule.anyOf) return problemsOfAny(rule.anyOf, value)
  if (value === undefined) return otherKind('is missing')
  if (!isKind(rule, value)) return otherKind(`must be ${kindOf(rule)}${insteadOf(value)}`)
  if (rule.enum && !rule.enum.some((allowed) => allowed === value)) {
    return otherKind(`unknown value ${textOfValue(value)}; known are ${rule.enum.join(', ')}`)
  }
  if (typeof value === 'number') return problemList(limitOf(rule, value))
  if (typeof value === 'string') return problemList(textProblem(rule, value))
  if (Array.isArray(value)) return problemsOfList(rule, value)
  return rule.type === 'object' ? problemsOfObject(rule, Object(value)) : none
}

const none: readonly SettingProblem[] = []

function problemsOfList(rule: Rule, value: readonly unknown[]): readonly SettingProblem[] {
  const problems = [...problemList(lengthOf(rule, value))]
  for (const [index, item] of value.entries()) {
    if (rule.items) for (const problem of problemsWith(rule.items, item)) problems.push(atKey(index, problem))
  }
  return problems
}

/** Known keys are read even if inherited: `run` of a tool may be a method of its class. */
function problemsOfObject(rule: Rule, value: Readonly<Record<string, unknown>>): readonly SettingProblem[] {
  const { properties = {}, additionalProperties: others, required = [] } = rule
  const problems: SettingProblem[] = []
  for (const [key, property] of Object.entries(properties)) {
    if (value[key] === undefined && !required.includes(key)) continue
    for (const problem of problemsWith(property, value[key])) problems.push(atKey(key, problem))
  }
  for (const key of Object.keys(value)) {
    if (others === true || Object.hasOwn(properties, key) || value[key] === undefined) continue
    if (typeof others !== 'object') problems.push({ path: [key], says: unknownKey(key, Object.keys(properties)) })
    else for (const problem of problemsWith(others, value[key])) problems.push(atKey(key, problem))
  }
  return problems
}

/** The problems of the intended alternative; if there is none, the alternatives. */
function problemsOfAny(rules: readonly Rule[], value: unknown): readonly SettingProblem[] {
  const perRule = rules.map((rule) => problemsWith(rule, value))
  if (perRule.some((problems) => problems.length === 0)) return none
  const meant = perRule.filter(
    (problems) => !problems.some((problem) => problem.otherKind && problem.path.length === 0),
  )
  const [nearest] = meant.toSorted((a, b) => a.length - b.length)
  if (nearest) return nearest
  if (value === undefined) return otherKind('is missing')
  const kinds = rules
    .flatMap((rule) => rule.anyOf ?? rule)
    .map((rule) => (rule.enum ? valuesOf(rule.enum) : kindOf(rule)))
  return otherKind(`must be ${[...new Set(kinds)].join(', or ')}${insteadOf(value)}`)
}

function otherKind(says: string): SettingProblem[] {
  return [{ path: [], says, otherKind: true }]
}

export function atKey(key: string | number, problem: SettingProblem): SettingProblem {
  return { ...problem, path: [key, ...problem.path] }
}

function isKind({ type }: Rule, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true
    case 'integer':
      return Number.isSafeInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
    case 'instance':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    default:
      return typeof value === type
  }
}

function limitOf(rule: Rule, value: number): string | undefined {
  if (rule.minimum !== undefined && value < rule.minimum) return `must be at least ${rule.minimum}, not ${value}`
  if (rule.exclusiveMinimum !== undefined && value <= rule.exclusiveMinimum) {
    return `must be more than ${rule.exclusiveMinimum}, not ${value}`
  }
  return rule.maximum !== undefined && value > rule.maximum
    ? `must be at most ${rule.maximum}, not ${value}`
    : undefined
}

function textProblem(rule: Rule, value: string): string | undefined {
  if (rule.minLength !== undefined && value.length < rule.minLength)
    return `must have at least ${counted(rule.minLength, 'character')}`
  if (rule.pattern === undefined || new RegExp(rule.pattern).test(value)) return undefined
  return rule.otherwise ?? `must match ${rule.pattern}`
}

function lengthOf(rule: Rule, { length }: readonly unknown[]): string | undefined {
  if (rule.minItems !== undefined && length < rule.minItems)
    return `must have at least ${counted(rule.minItems, 'item')}`
  return rule.maxItems !== undefined && length > rule.maxItems
    ? `must have at most ${counted(rule.maxItems, 'item')}`
    : undefined
}

function problemList(says: string | undefined): readonly SettingProblem[] {
  return says === undefined ? none : [{ path: [], says }]
}

const kindOf = ({ type }: Rule) => (type === undefined ? 'anything' : (kindWords[type] ?? type))

const valuesOf = (values: readonly unknown[]) =>
  values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`

export const counted = (count: number | bigint, noun: string) => `${count} ${noun}${Number(count) === 1 ? '' : 's'}`

/** Readable names of types. */
export const kindWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
  null: 'null',
  function: 'a function',
  instance: 'an object',
}

/** The given value, where something else was expected. */
export function insteadOf(given: unknown): string {
  if (given === undefined) return ''
  const isMap = typeof given === 'object' && given !== null
  return `, not ${Array.isArray(given) ? 'a list' : isMap ? 'a map' : textOfValue(given)}`
}

/** A value as it is quoted in a message, at most a line of it. */
export function textOfValue(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  const written = typeof value === 'string' || typeof value === 'object' ? JSON.stringify(value) : String(value)
  return written.length > 80 ? `${written.slice(0, 80)}…` : written
}

export function unknownKey(key: string, keys: readonly string[]): string {
  if (keys.includes(key)) {
    return `unknown key ${JSON.stringify(key)} here; it belongs to another kind of entry`
  }
  const near = nearestName(key, keys)
  return `unknown key ${textOfValue(key)}; ${near ? `did you mean ${near}?` : `known are ${keys.join(', ')}`}`
}

/** The known name that is closest to a mistyped one: another case, more or fewer letters at its end, or a few typos. */
function nearestName(name: string, names: readonly string[]): string | undefined {
  const like = names.find(
    (candidate) =>
      candidate.toLowerCase() === name.toLowerCase() || candidate.startsWith(name) || name.startsWith(candidate),
  )
  if (like !== undefined) return like
  const ranked = names
    .map((candidate) => ({ candidate, typos: editDistance(name, candidate) }))
    .toSorted((a, b) => a.typos - b.typos)
  const [best] = ranked
  return best && best.typos <= Math.min(2, Math.floor(name.length / 3)) ? best.candidate : undefined
}
