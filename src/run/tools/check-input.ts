// Validates arguments against a plain JSON Schema. Every problem names its path, so that the model can correct it. A
// schema that cannot be read validates nothing, because schemas come from servers that the user did not write.

import type { Validator } from '@cfworker/json-schema'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { problemOf, type Finding } from './input-problem.ts'

const validators = new WeakMap<JsonObject, Validator>()

/** What is wrong with the arguments, as text for the model; undefined: nothing. */
export async function checkInput(name: string, schema: JsonObject, input: Json): Promise<string | undefined> {
  const findings = await findingsOf(schema, input)
  return findings.length === 0 ? undefined : problemOf(name, findings)
}

/** Where a value does not match a schema. */
export async function findingsOf(schema: JsonObject, value: Json): Promise<Finding[]> {
  if (asksNothing(schema) && isObject(value)) return []
  let errors: Findings
  try {
    let validator = validators.get(schema)
    if (!validator) {
      const { Validator: Made } = await import('@cfworker/json-schema')
      validator = new Made(schema, '2020-12', false)
      validators.set(schema, validator)
    }
    errors = validator.validate(value).errors
  } catch {
    return []
  }
  return errors.filter(({ keyword }) => !aboutInner.has(keyword)).map(finding)
}

/** Many tools have such a schema: then the validator need not be loaded. */
function asksNothing({ type, properties, ...rest }: JsonObject): boolean {
  const named = isObject(properties) ? Object.keys(properties).length : 0
  return (type === undefined || type === 'object') && named === 0 && Object.keys(rest).length === 0
}

type Findings = ReturnType<Validator['validate']>['errors']

/** Keywords whose errors only say that there are errors further in. */
const aboutInner = new Set([
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

function finding({ instanceLocation, keyword, error }: Findings[number]): Finding {
  return { path: instanceLocation.split('/').slice(1).map(unescape), message: inWords(keyword, error) }
}

/** The validator calls everything an instance; for the model it is named by its path. */
function inWords(keyword: string, error: string): string {
  if (keyword === 'false') return 'There is no such field.'
  return error
    .replace(/^Instance type "(.+?)" is invalid\. Expected "(.+?)"\.$/, 'It is of type $1, and must be of type $2.')
    .replace(/^Instance does not have required property (".*")\.$/, 'It lacks the field $1.')
    .replace(/^Instance /, 'It ')
}

function unescape(step: string): string {
  return decodeURIComponent(step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
