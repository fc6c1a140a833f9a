// How an answer schema is enforced. If a provider supports schemas it is sent in its dialect; if it only supports JSON
// mode, or not even that, the schema goes into the prompt, and the run validates the answer.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { AnswerSupport, Target } from '../wire.ts'
import { answerDialects, type AnswerDialect } from '../tool-schema/dialect.ts'
import { fitAnswer } from '../tool-schema/fit.ts'
import { wantsWrapping, wrapSchema } from '../tool-schema/root.ts'
import { listIn } from './json-fields.ts'

export interface AnswerRequest {
  /** Absent: only JSON can be requested. */
  schema?: JsonObject
  /** The schema is valid in OpenAI's strict mode. */
  strict: boolean
}

/** The response format in the body; undefined: none, or none that the provider supports. */
export function answerSchemaFor(
  target: Target,
  hasTools: boolean,
  dialect: AnswerDialect,
  notes: Note[],
): AnswerRequest | undefined {
  const { answerSchema } = target.options
  const support = answerSupport(target, hasTools)
  if (!answerSchema || support === 'none') return undefined
  if (support === 'json') return { strict: false }
  const schema = fitAnswer(answerSchema, answerDialects[target.quirks.answerSchema ?? dialect], notes)
  return { schema, strict: isStrict(schema) }
}

function answerSupport({ capabilities }: Target, hasTools: boolean): AnswerSupport {
  const { answer = 'schema', answerWithTools = answer } = capabilities
  return hasTools ? answerWithTools : answer
}

/** The prompt text if the provider does not support the schema; undefined: none is needed. */
export function answerInWords(target: Target, hasTools: boolean): { text: string; note: Note } | undefined {
  const { answerSchema } = target.options
  const support = answerSupport(target, hasTools && target.capabilities.tools)
  if (!answerSchema || support === 'schema') return undefined
  // JSON that a provider guarantees is an object.
  const schema = support === 'json' && wantsWrapping(answerSchema) ? wrapSchema(answerSchema) : answerSchema
  const lead = 'Write your final answer as JSON that fits the following JSON Schema, with no other text around it:'
  const what = 'schema of the answer to words in the system prompt'
  const why =
    support === 'json' ? 'the provider supports no schema, only plain JSON' : 'the provider supports no schema'
  return {
    text: `${lead}\n${JSON.stringify(schema)}`,
    note: { kind: 'changed', what, why, at: 'options.answerSchema', rule: 'answer-format' },
  }
}

/** Keywords that strict mode refuses (checked 2026-11). */
const notStrict: ReadonlySet<string> = new Set(
  'allOf oneOf not if then else dependentRequired dependentSchemas patternProperties prefixItems minLength maxLength uniqueItems contains propertyNames unevaluatedProperties minProperties maxProperties default'.split(
    ' ',
  ),
)

/** `strict` is refused unless every object is closed and requires all its properties, with supported keywords only. */
function isStrict(schema: Json | undefined): boolean {
  if (!isObject(schema)) return typeof schema !== 'boolean'
  if (Object.keys(schema).some((key) => notStrict.has(key))) return false
  const { type, properties, required, additionalProperties } = schema
  const names = isObject(properties) ? Object.keys(properties) : []
  if (type === 'object' || isObject(properties)) {
    const needed = listIn(required)
    if (additionalProperties !== false || !names.every((name) => needed.includes(name))) return false
  }
  const inner = [properties, schema.$defs, schema.definitions].flatMap((map) =>
    isObject(map) ? Object.values(map) : [],
  )
  const choices = listIn(schema.anyOf)
  return [...inner, ...choices, ...(schema.items === undefined ? [] : [schema.items])].every(isStrict)
}
