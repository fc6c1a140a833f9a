// From zod issues to the error messages of settings, for what is described by zod alone: providers and MCP servers in
// files, and the bodies of requests.

import * as z from 'zod'
import { isObject, type Json } from '../core/json.ts'
import {
  counted,
  insteadOf,
  kindWords,
  type Path,
  problemsWith,
  type SettingProblem,
  textOfValue,
  unknownKey,
} from '../settings/problems.ts'
import { jsonSchemaOf, type Rule } from '../settings/rule.ts'

type Issue = z.core.$ZodIssue
type Schema = z.ZodType

/** All problems of the value; empty: none. */
export function zodProblems(schema: Schema, value: unknown): SettingProblem[] {
  const read = schema.safeParse(value)
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
      return [{ path, says: `must be ${expectedOf(issue.errors)}${insteadOf(valueAt(value, path))}` }]
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
        : `must be ${kindWords[issue.expected] ?? issue.expected}${insteadOf(valueAt(value, path))}`
    case 'invalid_value': {
      const known = issue.values.map(String).join(', ')
      const actual = valueAt(value, path)
      return actual === undefined ? 'is missing' : `unknown value ${textOfValue(actual)}; known are ${known}`
    }
    case 'too_small':
    case 'too_big': {
      const [word, edge] = issue.code === 'too_small' ? ['least', issue.minimum] : ['most', issue.maximum]
      const what = issue.origin === 'array' ? 'item' : issue.origin === 'string' ? 'character' : ''
      const than =
        issue.inclusive === false ? `must be ${word === 'least' ? 'more' : 'less'} than` : `must be at ${word}`
      return what === ''
        ? `${than} ${edge}${insteadOf(valueAt(value, path))}`
        : `must have at ${word} ${counted(edge, what)}`
    }
    default:
      return issue.message
  }
}

/** The branch of a union that the value was meant for: one whose root it matches. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const meant = branches.filter((issues) => issues.every((issue) => !isRootMismatch(issue)))
  return meant.toSorted((a, b) => weight(a) - weight(b))[0]
}

function isRootMismatch(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
}

/** Unknown keys count against a branch more than wrong values do. */
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

/** The keys that the schema allows at a path of the data, read from its JSON Schema. */
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

/**
 * A rule of a setting as a zod schema, for files and requests. The rule itself decides, so that its error messages and
 * its JSON Schema are the same everywhere.
 */
export function zodOf<T>(rule: Rule<T>): z.ZodType<T> {
  return z
    .unknown()
    .superRefine((value, context) => {
      for (const { path, says } of problemsWith(rule, value)) {
        context.addIssue({ code: 'custom', path: [...path], message: says })
      }
    })
    .meta(jsonSchemaOf(rule)) as unknown as z.ZodType<T>
}

/** One optional zod field for each rule. */
export function zodFields<F extends Readonly<Record<string, Rule>>>(
  fields: F,
): { [K in keyof F]: z.ZodExactOptional<z.ZodType<NonNullable<F[K]['fits']>>> } {
  const shape = Object.entries(fields).map(([key, rule]) => [key, z.exactOptional(zodOf(rule))])
  return Object.fromEntries(shape) as { [K in keyof F]: z.ZodExactOptional<z.ZodType<NonNullable<F[K]['fits']>>> }
}
