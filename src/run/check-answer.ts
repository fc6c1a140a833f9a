// Validates a final answer against the requested schema. Not every provider enforces it, and none does if the schema is
// only part of the prompt, so the answer itself is parsed: it is a valid value, or the problem is reported.

import type { CheckedAnswer } from '../core/event.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { textOf, type Reply } from '../core/message.ts'
import type { Options } from '../settings/options.ts'
import { unwrapInput } from '../wires/tool-schema/root.ts'
import { answerFindings } from './answer-schema.ts'
import { findingsOf } from './tools/check-input.ts'
import { listed } from './tools/input-problem.ts'

/** The reply parsed with the schema of the options; undefined: no schema was requested, or there is no text. */
export async function answerOf(
  { options, answer }: { options: Options; answer?: object | undefined },
  reply: Reply | undefined,
): Promise<CheckedAnswer | undefined> {
  if (!options.answerSchema || !reply) return undefined
  return checkAnswer(options.answerSchema, textOf(reply.parts), answer)
}

/**
 * The value of an answer that matches the schema, or what is wrong with it, as text for the model. `own` is the schema
 * as the caller gave it, which may be stricter than JSON Schema can express.
 */
export async function checkAnswer(schema: JsonObject, text: string, own?: object): Promise<CheckedAnswer> {
  const bare = withoutFence(text)
  let value: Json
  try {
    value = JSON.parse(bare) as Json
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return {
      problem: `The answer is not JSON (${why}). Answer again with JSON that fits the schema, and nothing else.`,
    }
  }
  const unwrapped = unwrapInput(schema, value)
  const findings = await findingsOf(schema, unwrapped)
  if (findings.length === 0 && own) findings.push(...(await answerFindings(own, unwrapped)))
  if (findings.length === 0) return { value: unwrapped }
  return { problem: listed('The answer does not fit its schema. Answer again.', findings, 'the answer') }
}

/** Many models put JSON into a code block, even when instructed not to. */
function withoutFence(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/i.exec(text)?.[1] ?? text
}
