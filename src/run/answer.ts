// Answers with a schema. The caller gives a schema of any library with Standard Schema, or plain JSON Schema; the wires get
// it as JSON Schema. Not every provider enforces it, and none does if the schema is only part of the prompt, so the answer
// is parsed and validated here.

import type { CheckedAnswer } from '../core/event.ts'
import { errorMessage, SynapseError } from '../core/error.ts'
import { deepest, exceedsDepth, type Json, type JsonObject } from '../core/json.ts'
import { textOf, type Reply } from '../core/message.ts'
import { isStandardSchema, type OutputOf, type StandardSchema } from '../core/standard-schema.ts'
import type { Options } from '../settings/options.ts'
import { unwrapInput } from '../wires/tool-schema/root.ts'
import { findingsOf, listFindings, type Finding } from './tools/check-input.ts'
import { findingOf, jsonSchemaOf, withoutDialect } from './tools/define-tool.ts'

/** The type of the answer to an `answer` schema. */
export type AnswerOf<S> = S extends StandardSchema ? OutputOf<S> : Json

const schemas = new WeakMap<object, JsonObject>()

/** As JSON Schema. The same object each time, so that its compiled validator is reused. */
export function answerSchemaOf(answer: object): JsonObject {
  const known = schemas.get(answer)
  if (known) return known
  const schema = isStandardSchema(answer)
    ? jsonSchemaOf('The answer schema', answer)
    : withoutDialect(JSON.parse(JSON.stringify(answer)) as JsonObject)
  schemas.set(answer, schema)
  return schema
}

/** Problems that the library itself finds in a value, such as failed refinements. */
async function answerFindings(answer: object, value: Json): Promise<Finding[]> {
  if (!isStandardSchema(answer)) return []
  const { issues = [] } = await answer['~standard'].validate(value)
  return issues.map(findingOf)
}

/** The value as the library returns it, with its defaults and transforms. */
export async function answerOutput(answer: object | undefined, value: Json): Promise<unknown> {
  if (!answer || !isStandardSchema(answer)) return value
  const result = await answer['~standard'].validate(value)
  if (!result.issues) return result.value
  const message = listFindings('The answer does not fit its schema.', result.issues.map(findingOf), 'the answer')
  throw new SynapseError({ kind: 'malformed-reply', message })
}

/** The reply parsed with the schema of the options; undefined: no schema was requested, or there is no text. */
export async function answerOf(
  { options, answer }: { options: Options; answer?: object | undefined },
  reply: Reply | undefined,
): Promise<CheckedAnswer | undefined> {
  if (!options.answerSchema || !reply) return undefined
  return checkAnswer(options.answerSchema, textOf(reply.parts), answer)
}

/**
 * The value of an answer that matches the schema, or what is wrong with it, as text for the model. `original`
 * is the schema of the caller, which may be stricter than JSON Schema can express.
 */
export async function checkAnswer(schema: JsonObject, text: string, original?: object): Promise<CheckedAnswer> {
  const bare = withoutFence(text)
  let value: Json
  try {
    value = JSON.parse(bare) as Json
  } catch (error) {
    const why = errorMessage(error)
    return {
      problem: `The answer is not JSON (${why}). Answer again with JSON that fits the schema, and nothing else.`,
    }
  }
  if (exceedsDepth(value)) return { problem: `The answer is nested more than ${deepest} levels deep. Answer again.` }
  const isWhole = (await findingsOf(schema, value)).length === 0
  const unwrapped = isWhole ? value : unwrapInput(schema, value)
  const findings = isWhole ? [] : await findingsOf(schema, unwrapped)
  if (findings.length === 0 && original) findings.push(...(await answerFindings(original, unwrapped)))
  if (findings.length === 0) return { value: unwrapped }
  return { problem: listFindings('The answer does not fit its schema. Answer again.', findings, 'the answer') }
}

/**
 * Many models put JSON into a code block, even when instructed not to. Some write spaces until they are stopped, so
 * patterns begin at the start of the text only.
 */
export function withoutFence(text: string): string {
  const inner = text.trimStart().replace(/^```(?:json)?\s*\n/i, '')
  const end = inner.trimEnd()
  return end.endsWith('```') ? end.slice(0, -3) : inner
}
