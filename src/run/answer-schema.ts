// The schema that a caller gives for the final answer, in the forms that the wires and the caller need: from any
// library with Standard Schema and JSON Schema, or plain JSON Schema.

import { SynapseError } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isStandardSchema, type OutputOf, type StandardSchema } from '../core/standard-schema.ts'
import { findingOf, jsonSchemaOf, withoutDialect } from './tools/define-tool.ts'
import { listed, type Finding } from './tools/input-problem.ts'

/** The type of the answer to an `answer` schema. */
export type AnswerOf<S> = S extends StandardSchema ? OutputOf<S> : Json

const known = new WeakMap<object, JsonObject>()

/** As JSON Schema. The same object each time, so that its compiled validator is reused. */
export function answerSchemaOf(answer: object): JsonObject {
  const found = known.get(answer)
  if (found) return found
  const schema = isStandardSchema(answer)
    ? jsonSchemaOf('The answer schema', answer)
    : withoutDialect(JSON.parse(JSON.stringify(answer)) as JsonObject)
  known.set(answer, schema)
  return schema
}

/** Problems that the library itself finds in a value, such as failed refinements. */
export async function answerFindings(answer: object, value: Json): Promise<Finding[]> {
  if (!isStandardSchema(answer)) return []
  const { issues = [] } = await answer['~standard'].validate(value)
  return issues.map(findingOf)
}

/** The value as the library returns it, with its defaults and transforms. */
export async function answerOutput(answer: object | undefined, value: Json): Promise<unknown> {
  if (!answer || !isStandardSchema(answer)) return value
  const result = await answer['~standard'].validate(value)
  if (!result.issues) return result.value
  const message = listed('The answer does not fit its schema.', result.issues.map(findingOf), 'the answer')
  throw new SynapseError({ kind: 'malformed-reply', message })
}
