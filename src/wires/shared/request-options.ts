// The options in a request body: whether tools may or must be called, the length, the reasoning. Each wire says where
// these are in its bodies; here they are parsed.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export interface RequestOptions {
  toolChoice: 'auto' | 'none' | 'required' | { tool: string }
  parallelTools: boolean
  /** free: neither required nor forbidden. */
  reasoning: 'on' | 'off' | 'free'
  /** The JSON Schema that the answer must match; `{}`: any JSON. */
  answerSchema?: JsonObject
  maxOutput?: number
  /** Stop sequences. */
  stop?: string[]
}

/** The values in a body. */
export interface GivenOptions {
  toolChoice: RequestOptions['toolChoice']
  parallelTools?: boolean
  reasoning: RequestOptions['reasoning']
  answerSchema?: JsonObject | undefined
  /** The first number applies. */
  maxOutput: (Json | undefined)[]
  /** One sequence or a list of them. */
  stop?: Json | undefined
}

export function readOptions(given: GivenOptions): RequestOptions {
  const maxOutput = given.maxOutput.find((value) => typeof value === 'number' && value > 0)
  const list = Array.isArray(given.stop) ? given.stop : [given.stop]
  const stop = list.filter((one): one is string => typeof one === 'string' && one !== '')
  return {
    toolChoice: given.toolChoice,
    parallelTools: given.parallelTools ?? true,
    reasoning: given.reasoning,
    ...(given.answerSchema && { answerSchema: given.answerSchema }),
    ...(typeof maxOutput === 'number' && { maxOutput }),
    ...(stop.length > 0 && { stop }),
  }
}

/** `tool_choice` in the form of OpenAI, Anthropic and compatible services. */
export function toolChoiceIn(choice: Json | undefined): RequestOptions['toolChoice'] {
  const mode = isObject(choice) ? choice.type : choice
  const name = at(choice, 'function', 'name') ?? at(choice, 'name')
  if (typeof name === 'string') return { tool: name }
  if (mode === 'any' || mode === 'required') return 'required'
  return mode === 'none' ? 'none' : 'auto'
}

export function reasoningByEffort(effort: Json | undefined): RequestOptions['reasoning'] {
  return typeof effort !== 'string' ? 'free' : effort === 'none' ? 'off' : 'on'
}

/** The schema in a description of the answer's format. */
export function schemaIn(format: Json | undefined): JsonObject | undefined {
  const schema =
    at(format, 'json_schema', 'schema') ?? at(format, 'json_schema', 'schema_definition') ?? at(format, 'schema')
  if (isObject(schema)) return schema
  return at(format, 'type') === 'json_object' ? {} : undefined
}

/** The texts of a list; undefined: it has none. */
export function textsIn(list: Json | undefined): string[] | undefined {
  const texts = Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
  return texts.length > 0 ? texts : undefined
}

/** The value at a path of fields; absent and null are the same. */
export function at(value: Json | undefined, ...path: string[]): Json | undefined {
  let found = value
  for (const key of path) found = isObject(found) ? found[key] : undefined
  return found ?? undefined
}
