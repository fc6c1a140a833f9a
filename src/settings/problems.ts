// From the issues of zod to sentences for a person, each with its place in the value. The same for a file, a request and
// a call in code: all problems at once, because nobody likes to repair a file one run at a time.

import * as z from 'zod/mini'
import { isObject, type Json } from '../core/json.ts'

export type Path = readonly (string | number)[]

/** One thing that is wrong, and where. */
export interface SettingProblem {
  path: Path
  says: string
}

type Issue = z.core.$ZodIssue
type Schema = z.core.$ZodType

/** Everything that is wrong with the value; empty: nothing. */
export function problemsWith(schema: Schema, value: unknown): SettingProblem[] {
  const read = z.safeParse(schema, value)
  return read.success ? [] : read.error.issues.flatMap((issue) => problemsOf(issue, [], value, schema))
}

function problemsOf(issue: Issue, above: Path, value: unknown, schema: Schema): SettingProblem[] {
  const path: Path = [...above, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [...path, key], says: unknownKey(key, knownKeys(schema, path)) }))
    case 'invalid_union': {
      const branch = nearestBranch(issue.errors)
      if (branch) return branch.flatMap((inner) => problemsOf(inner, path, value, schema))
      return [{ path, says: `must be ${expectedOf(issue.errors)}${insteadOf(value, path)}` }]
    }
    case 'invalid_key':
      return issue.issues.map((inner) => ({ path, says: inner.message }))
    default:
      return [{ path, says: sentenceOf(issue, value, path) }]
  }
}

function sentenceOf(issue: Issue, value: unknown, path: Path): string {
  switch (issue.code) {
    case 'invalid_type':
      return valueAt(value, path) === undefined
        ? 'is missing'
        : `must be ${kindWords[issue.expected] ?? issue.expected}${insteadOf(value, path)}`
    case 'invalid_value': {
      const known = issue.values.map(String).join(', ')
      const given = valueAt(value, path)
      return given === undefined ? 'is missing' : `unknown value ${shown(given)}; known are ${known}`
    }
    case 'too_small':
    case 'too_big': {
      const [word, edge] = issue.code === 'too_small' ? ['least', issue.minimum] : ['most', issue.maximum]
      const what = issue.origin === 'array' ? 'items' : issue.origin === 'string' ? 'characters' : ''
      const than =
        issue.inclusive === false ? `must be ${word === 'least' ? 'more' : 'less'} than` : `must be at ${word}`
      return what === '' ? `${than} ${edge}${insteadOf(value, path)}` : `must have at ${word} ${edge} ${what}`
    }
    default:
      return issue.message
  }
}

const kindWords: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
  null: 'null',
}

function insteadOf(value: unknown, path: Path): string {
  const given = valueAt(value, path)
  if (given === undefined) return ''
  return `, not ${Array.isArray(given) ? 'a list' : isObject(given) ? 'a map' : shown(given)}`
}

/** A value as it is repeated in a sentence, at most a line of it. */
function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  const text =
    typeof value === 'object'
      ? JSON.stringify(value)
      : typeof value === 'string'
        ? JSON.stringify(value)
        : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/** The branch of a union that the value was meant for: one that it fits at its root. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const meant = branches.filter((issues) => issues.every((issue) => !isRootMismatch(issue)))
  return meant.toSorted((a, b) => weight(a) - weight(b))[0]
}

function isRootMismatch(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
}

/** Unknown keys speak against a branch more than wrong values do. */
function weight(issues: readonly Issue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? 2 * issue.keys.length : 1), 0)
}

function expectedOf(branches: readonly (readonly Issue[])[]): string {
  const words = branches.flat().flatMap((issue) => {
    if (issue.path.length > 0) return []
    if (issue.code === 'invalid_type') return [kindWords[issue.expected] ?? issue.expected]
    return issue.code === 'invalid_value' ? [`one of ${issue.values.map(String).join(', ')}`] : []
  })
  return [...new Set(words)].join(', or ')
}

function unknownKey(key: string, known: readonly string[]): string {
  if (known.includes(key))
    return `unknown key ${JSON.stringify(key)} beside the others; it belongs to another kind of entry`
  const near = nearestName(key, known)
  return `unknown key ${JSON.stringify(key)}; ${near ? `did you mean ${near}?` : `known are ${known.join(', ')}`}`
}

/** The known name that a mistyped one stands for: another case, more or fewer letters at its end, or a few typos. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const like = known.find(
    (one) => one.toLowerCase() === name.toLowerCase() || one.startsWith(name) || name.startsWith(one),
  )
  if (like !== undefined) return like
  const ranked = known.map((one) => ({ one, typos: typosBetween(name, one) })).toSorted((a, b) => a.typos - b.typos)
  const [best] = ranked
  return best && best.typos <= Math.min(2, Math.floor(name.length / 3)) ? best.one : undefined
}

/** Letters that are missing, too many, wrong, or swapped with their neighbour (optimal string alignment). */
function typosBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        (rows[i - 1]?.[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (rows[i - 1]?.[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (rows[i - 2]?.[j - 2] ?? 0) + 1 : Infinity,
      )
    }
    rows.push(row)
  }
  return rows[a.length]?.[b.length] ?? 0
}

/** The keys that the schema knows at a place of the data, read from its JSON Schema. */
function knownKeys(schema: Schema, path: Path): string[] {
  let at: Json[] = [z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json]
  for (const step of path) {
    at = branchesOf(at).flatMap((node) => {
      const properties = isObject(node['properties']) ? node['properties'] : {}
      const next = typeof step === 'number' ? node['items'] : (properties[step] ?? node['additionalProperties'])
      return next === undefined ? [] : [next]
    })
  }
  return [
    ...new Set(branchesOf(at).flatMap((node) => (isObject(node['properties']) ? Object.keys(node['properties']) : []))),
  ].filter((key) => key !== '$schema')
}

function branchesOf(nodes: readonly Json[]) {
  return nodes
    .filter(isObject)
    .flatMap((node) => [node, ...(Array.isArray(node['anyOf']) ? node['anyOf'].filter(isObject) : [])])
}

function valueAt(value: unknown, path: Path): unknown {
  let at: unknown = value
  for (const step of path) {
    if (Array.isArray(at)) at = at[Number(step)]
    else if (isObject(at) && Object.hasOwn(at, String(step))) at = at[String(step)]
    else return undefined
  }
  return at
}
