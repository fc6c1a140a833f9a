// The options in a request body: whether tools may or must be called, the length, the reasoning. Each wire says where
// these are in its bodies; here they are parsed.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { valueAt } from './json-fields.ts'

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

export function readOptions(fields: GivenOptions): RequestOptions {
  const maxOutput = fields.maxOutput.find((value) => typeof value === 'number' && value > 0)
  const sequences = Array.isArray(fields.stop) ? fields.stop : [fields.stop]
  const stop = sequences.filter((text): text is string => typeof text === 'string' && text !== '')
  return {
    toolChoice: fields.toolChoice,
    parallelTools: fields.parallelTools ?? true,
    reasoning: fields.reasoning,
    ...(fields.answerSchema && { answerSchema: fields.answerSchema }),
    ...(typeof maxOutput === 'number' && { maxOutput }),
    ...(stop.length > 0 && { stop }),
  }
}

/** `tool_choice` in the form of OpenAI, Anthropic and compatible services. */
/**
 * The function that a tool declares. Its fields are in `function` on the chat wires, and in the tool itself on the
 * Responses wire; clients confuse the two.
 */
export function functionIn(tool: Json): (JsonObject & { name: string }) | undefined {
  if (!isObject(tool)) return undefined
  const declared = isObject(tool.function) ? tool.function : tool.type === 'function' ? tool : {}
  const { name } = declared
  return typeof name === 'string' ? { ...declared, name } : undefined
}

export function toolChoiceIn(choice: Json | undefined): RequestOptions['toolChoice'] {
  const mode = isObject(choice) ? choice.type : choice
  const name = valueAt(choice, 'function', 'name') ?? valueAt(choice, 'name')
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
    valueAt(format, 'json_schema', 'schema') ??
    valueAt(format, 'json_schema', 'schema_definition') ??
    valueAt(format, 'schema')
  if (isObject(schema)) return schema
  return valueAt(format, 'type') === 'json_object' ? {} : undefined
}
