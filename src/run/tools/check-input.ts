// Validates arguments against a plain JSON Schema. Every problem names its path, so that the model can correct it. A
// schema that cannot be read, or that takes too long, validates nothing, because schemas come from servers and clients
// that the user did not write.

import type { Validator } from '@cfworker/json-schema'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export interface Finding {
  path: readonly (string | number)[]
  message: string
}

const validators = new WeakMap<JsonObject, Validator>()

/** What is wrong with the arguments, as text for the model; undefined: nothing. */
export async function checkInput(name: string, schema: JsonObject, input: Json): Promise<string | undefined> {
  const findings = await findingsOf(schema, input)
  return findings.length === 0 ? undefined : problemOf(name, findings)
}

/** Where a value does not match a schema. */
export async function findingsOf(schema: JsonObject, value: Json): Promise<Finding[]> {
  if (acceptsAnything(schema) && isObject(value)) return []
  let errors: ValidationErrors
  try {
    const limited = await timeLimit()
    let validator = validators.get(schema)
    if (!validator) {
      const { Validator: JsonSchemaValidator } = await import('@cfworker/json-schema')
      validator = new JsonSchemaValidator(schema, '2020-12', false)
      validators.set(schema, validator)
    }
    const ready = validator
    errors = limited(() => ready.validate(value)).errors
  } catch {
    return []
  }
  return errors.filter(({ keyword }) => !outerKeywords.has(keyword)).map(finding)
}

/** Nothing else runs meanwhile. */
const mostMs = 500

type TimeLimit = <T>(task: () => T) => T

let limit: Promise<TimeLimit> | undefined

/** A pattern, or a few definitions that refer to each other twice, can take years. */
function timeLimit(): Promise<TimeLimit> {
  limit ??= import('node:vm').then(({ createContext, Script }) => {
    const place: { task?: () => unknown } = createContext({})
    const script = new Script('task()')
    return <T>(task: () => T) => {
      place.task = task
      return script.runInContext(place, { timeout: mostMs }) as T
    }
  })
  return limit
}

/** Many tools have such a schema: then the validator need not be loaded. */
function acceptsAnything({ type, properties, ...others }: JsonObject): boolean {
  const count = isObject(properties) ? Object.keys(properties).length : 0
  return (type === undefined || type === 'object') && count === 0 && Object.keys(others).length === 0
}

type ValidationErrors = ReturnType<Validator['validate']>['errors']

/** Keywords whose errors only say that there are errors further in. */
const outerKeywords = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'items',
  'prefixItems',
  'allOf',
  'anyOf',
  '$ref',
  'then',
  'else',
  'dependentSchemas',
  'unevaluatedProperties',
])

function finding({ instanceLocation, keyword, error }: ValidationErrors[number]): Finding {
  return { path: instanceLocation.split('/').slice(1).map(unescape), message: readable(keyword, error) }
}

/** The validator calls everything an instance; for the model it is named by its path. */
function readable(keyword: string, error: string): string {
  if (keyword === 'false') return 'There is no such field.'
  return error
    .replace(/^Instance type "(.+?)" is invalid\. Expected "(.+?)"\.$/, 'It is of type $1, and must be of type $2.')
    .replace(/^Instance does not have required property (".*")\.$/, 'It lacks the field $1.')
    .replace(/^Instance /, 'It ')
}

function unescape(step: string): string {
  return decodeURIComponent(step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const mostFindings = 10

/** The error for a model whose arguments are not valid: what is wrong, where, and that nothing happened. */
export function problemOf(name: string, findings: readonly Finding[]): string {
  const lead = `${name} was not run: its arguments do not fit its schema. Correct them and call it again.`
  return listFindings(lead, findings, 'the arguments')
}

/** A sentence, and each finding on its own line; `whole` names the subject of a finding without a path. */
export function listFindings(lead: string, findings: readonly Finding[], whole: string): string {
  const lines = [...new Set(findings.map(({ path, message }) => `- ${nameOf(path, whole)}: ${message}`))]
  const more = lines.length > mostFindings ? [`- and ${lines.length - mostFindings} more`] : []
  return [lead, ...lines.slice(0, mostFindings), ...more].join('\n')
}

/** `items[2].name`. */
function nameOf(path: Finding['path'], whole: string): string {
  if (path.length === 0) return whole
  return path.map((step, i) => (/^\d+$/.test(String(step)) ? `[${step}]` : `${i > 0 ? '.' : ''}${step}`)).join('')
}
