// From what zod says to sentences for a person, each with its place in the file. All of them at once: no one likes to
// repair a file one run at a time.

import * as z from 'zod'
import { isObject, type Json } from '../core/json.ts'
import { secretsIn } from './secrets.ts'
import { problemsIn, type Path, type Problem, type YamlFile } from './yaml-file.ts'

/** The value as the schema reads it; throws everything that is wrong, with file, line, column and key. */
export function checkShape<T extends z.ZodType>(file: YamlFile, shown: string, schema: T): z.output<T> {
  const secrets = secretsIn(file.value).map(({ path, says }) => file.problem(path, says))
  const read = schema.safeParse(file.value ?? {})
  const seen = new Set(secrets.map(({ key }) => key))
  const problems = read.success ? [] : read.error.issues.flatMap((issue) => problemsOf(issue, [], file, schema))
  const all = [...secrets, ...problems.filter(({ key }) => !seen.has(key))]
  if (all.length > 0 || !read.success) throw problemsIn(shown, all)
  return read.data
}

function problemsOf(issue: z.core.$ZodIssue, above: Path, file: YamlFile, schema: z.ZodType): Problem[] {
  const path: Path = [...above, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => file.problem([...path, key], unknownKey(key, knownKeys(schema, path))))
    case 'invalid_union': {
      const branch = nearest(issue.errors)
      if (branch) return branch.flatMap((inner) => problemsOf(inner, path, file, schema))
      return [file.problem(path, `must be ${expectedOf(issue.errors)}${insteadOf(file.value, path)}`)]
    }
    case 'invalid_key':
      return issue.issues.map((inner) => file.problem(path, inner.message))
    default:
      return [file.problem(path, sentenceOf(issue, file.value, path))]
  }
}

function sentenceOf(issue: z.core.$ZodIssue, value: unknown, path: Path): string {
  switch (issue.code) {
    case 'invalid_type':
      return valueAt(value, path) === undefined
        ? 'is missing'
        : `must be ${kindWords[issue.expected] ?? issue.expected}${insteadOf(value, path)}`
    case 'invalid_value': {
      const known = issue.values.map(String).join(', ')
      const given = valueAt(value, path)
      return given === undefined ? 'is missing' : `unknown value ${JSON.stringify(given)}; known are ${known}`
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
  return `, not ${Array.isArray(given) ? 'a list' : isObject(given) ? 'a map' : JSON.stringify(given)}`
}

/** The branch of a union that the value was meant for: one that it fits at its root. */
function nearest(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const meant = branches.filter((issues) => issues.every((issue) => !isRootMismatch(issue)))
  return meant.toSorted((a, b) => weight(a) - weight(b))[0]
}

function isRootMismatch(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
}

/** Unknown keys speak against a branch more than wrong values do. */
function weight(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? 2 * issue.keys.length : 1), 0)
}

function expectedOf(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
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
  const near = known.find(
    (one) => one.toLowerCase() === key.toLowerCase() || one.startsWith(key) || key.startsWith(one),
  )
  return `unknown key ${JSON.stringify(key)}; ${near ? `did you mean ${near}?` : `known are ${known.join(', ')}`}`
}

/** The keys that the schema knows at a place of the data, read from its JSON Schema. */
function knownKeys(schema: z.ZodType, path: Path): string[] {
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
