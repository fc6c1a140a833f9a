// The options in a request body: whether tools may or must be called, the length, sampling, the reasoning. Each wire
// says where these are in its bodies; here they are parsed.

import type { Note, ToolSpec } from '../../core/context.ts'
import type { Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { freeFormInput } from '../../core/tool-kinds.ts'
import { efforts, type Effort } from '../../settings/options.ts'
import { objectIn, objectsIn, valueAt } from './json-fields.ts'

export interface RequestOptions {
  toolChoice: 'auto' | 'none' | 'required' | { tool: string }
  /** The only tools that may be called; absent: all. */
  allowedTools?: string[]
  parallelTools: boolean
  /** free: neither required nor forbidden. */
  reasoning: 'on' | 'off' | 'free'
  /** The JSON Schema that the answer must match; `{}`: any JSON. */
  answerSchema?: JsonObject
  maxOutput?: number
  /** Stop sequences. */
  stop?: string[]
  temperature?: number
  topP?: number
  topK?: number
  seed?: number
  presencePenalty?: number
  frequencyPenalty?: number
  effort?: Effort
}

/** The values in a body. */
export interface GivenOptions {
  toolChoice: RequestOptions['toolChoice']
  allowedTools?: string[] | undefined
  parallelTools?: boolean
  reasoning: RequestOptions['reasoning']
  answerSchema?: JsonObject | undefined
  /** The first number applies. */
  maxOutput: (Json | undefined)[]
  /** One sequence or a list of them. */
  stop?: Json | undefined
  temperature?: Json | undefined
  topP?: Json | undefined
  topK?: Json | undefined
  seed?: Json | undefined
  presencePenalty?: Json | undefined
  frequencyPenalty?: Json | undefined
  effort?: Effort | undefined
}

export function readOptions(fields: GivenOptions): RequestOptions {
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty, effort } = fields
  const maxOutput = fields.maxOutput.find((value) => typeof value === 'number' && value > 0)
  const sequences = Array.isArray(fields.stop) ? fields.stop : [fields.stop]
  const stop = sequences.filter((text): text is string => typeof text === 'string' && text !== '')
  return {
    toolChoice: fields.toolChoice,
    ...(fields.allowedTools && { allowedTools: fields.allowedTools }),
    parallelTools: fields.parallelTools ?? true,
    reasoning: fields.reasoning,
    ...(fields.answerSchema && { answerSchema: fields.answerSchema }),
    ...(typeof maxOutput === 'number' && { maxOutput }),
    ...(stop.length > 0 && { stop }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    // Below 1 it is switched off.
    ...(typeof topK === 'number' && topK >= 1 && { topK: Math.trunc(topK) }),
    ...(typeof seed === 'number' && { seed: Math.trunc(seed) }),
    ...(typeof presencePenalty === 'number' && { presencePenalty }),
    ...(typeof frequencyPenalty === 'number' && { frequencyPenalty }),
    ...(effort !== undefined && { effort }),
  }
}

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

/** The free-form tool that a tool declares; its fields are in `custom` on the chat wire. */
export function freeFormIn(tool: Json): ToolSpec | undefined {
  if (!isObject(tool) || tool.type !== 'custom') return undefined
  const declared = isObject(tool.custom) ? tool.custom : tool
  const { name, description, input_schema: schema } = declared
  // With a schema it is a function in Anthropic's form.
  if (typeof name !== 'string' || schema !== undefined) return undefined
  const { syntax, definition } = objectIn(valueAt(declared, 'format', 'grammar') ?? declared.format)
  return {
    name,
    ...(typeof description === 'string' && { description }),
    input: freeFormInput,
    kind: 'free-form',
    ...(typeof syntax === 'string' && typeof definition === 'string' && { grammar: { syntax, definition } }),
  }
}

/** `tool_choice` in the form of OpenAI, Anthropic and compatible services. */
export function toolChoiceIn(choice: Json | undefined): RequestOptions['toolChoice'] {
  const allowed = allowedIn(choice)
  if (allowed) return allowed.mode === 'required' ? 'required' : 'auto'
  const mode = isObject(choice) ? choice.type : choice
  const name = nameIn(choice)
  if (name !== undefined && name !== '') return { tool: name }
  if (mode === 'any' || mode === 'required') return 'required'
  // Some clients want a call and name no tool.
  if (mode === 'tool' || mode === 'function' || mode === 'custom') return 'required'
  return mode === 'none' ? 'none' : 'auto'
}

/** The names in an OpenAI `tool_choice` that allows only some of the tools. */
export function allowedToolsIn(choice: Json | undefined): string[] | undefined {
  const allowed = allowedIn(choice)
  return allowed && objectsIn(allowed.tools).flatMap((tool) => nameIn(tool) ?? [])
}

/** Its fields are in `allowed_tools` on the chat wire, and in the choice itself on the Responses wire. */
function allowedIn(choice: Json | undefined): JsonObject | undefined {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return undefined
  return isObject(choice.allowed_tools) ? choice.allowed_tools : choice
}

/** The name in a reference to a tool. */
function nameIn(tool: Json | undefined): string | undefined {
  const name = valueAt(tool, 'function', 'name') ?? valueAt(tool, 'custom', 'name') ?? valueAt(tool, 'name')
  return typeof name === 'string' ? name : undefined
}

/** The tools that the model may call. Most wires have no list of those, so the others are not offered at all. */
export function callable(tools: ToolSpec[], { allowedTools }: RequestOptions): { tools: ToolSpec[]; notes: Note[] } {
  const allowed = allowedTools ? tools.filter(({ name }) => allowedTools.includes(name)) : tools
  const count = tools.length - allowed.length
  if (count === 0) return { tools, notes: [] }
  const note: Note = { kind: 'dropped', what: `${count} tools`, why: 'the tool choice does not allow them' }
  return { tools: allowed, notes: [note] }
}

export function reasoningByEffort(effort: Json | undefined): RequestOptions['reasoning'] {
  return typeof effort !== 'string' ? 'free' : effort === 'none' ? 'off' : 'on'
}

/** The reasoning effort: none if it is switched off, the named level, or what corresponds to a budget of tokens. */
export function effortIn(
  level: Json | undefined,
  { isOn, budget }: { isOn?: boolean | undefined; budget?: Json | undefined } = {},
): Effort | undefined {
  if (isOn === false) return 'none'
  const word = typeof level === 'string' ? level.toLowerCase() : undefined
  const named = efforts.find((effort) => effort === word)
  if (named !== undefined) return named
  if (typeof budget === 'number') return effortByBudget(budget)
  return isOn ? 'medium' : undefined
}

/** `thinking` is in the form of Anthropic, which several services share; `level` is the wire's own field. */
export function effortWithThinking(level: Json | undefined, thinking: Json | undefined): Effort | undefined {
  const type = valueAt(thinking, 'type')
  const isOn = type === 'enabled' || type === 'adaptive' || (type === 'disabled' ? false : undefined)
  return effortIn(level, { isOn, budget: valueAt(thinking, 'budget_tokens') ?? valueAt(thinking, 'token_budget') })
}

function effortByBudget(tokens: number): Effort {
  if (tokens === 0) return 'none'
  if (tokens < 0) return 'medium'
  return tokens < 4096 ? 'low' : tokens < 16_384 ? 'medium' : 'high'
}

/** For a field with the number of answers: a run has one. */
export function severalAnswers(field: string, count: Json | undefined): Failure | undefined {
  if (typeof count !== 'number' || count <= 1) return undefined
  return { kind: 'bad-input', message: `${field} must be 1: each request gets one answer.` }
}

/** A reply in the background is retrieved later, so it must be stored. */
export function invalidBackground({ background, store, stream }: JsonObject): Failure | undefined {
  if (background !== true || (store !== false && stream !== true)) return undefined
  const message =
    store === false
      ? 'background requires store to be true.'
      : 'background cannot be combined with stream: leave one of them out.'
  return { kind: 'bad-input', param: 'background', message }
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
