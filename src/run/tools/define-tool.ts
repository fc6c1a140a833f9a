// A tool with types: `run` gets the validated output of the schema. The schema may come from any library with Standard
// Schema, or be plain JSON Schema.

import { badInput } from '../../core/error.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { InputProblem, ReadCall, Tool, ToolRun } from '../../core/tool.ts'
import { checkArgument, checkToolDefinition } from '../../settings/check.ts'
import { inputSchemaOf } from '../../wires/tool-schema/root.ts'
import { checkInput, problemOf } from './check-input.ts'
import { isStandardSchema, type OutputOf, type StandardIssue, type StandardSchema } from '../../core/standard-schema.ts'

/** How a tool is described; `Input` is the output type of its schema. */
export interface ToolDefinition<S, Input> {
  /** What the model calls it. */
  name: string
  /** What it does and when to use it, for the model. */
  description?: string
  /** The arguments: a schema of a library with Standard JSON Schema (zod, arktype, valibot with its converter), or plain JSON Schema. */
  input: S
  /** Does the work. See {@link Tool.run} for what it may return. */
  run(input: Input, run: ToolRun): unknown
  /** Safe to run again with the same input after a crash. */
  repeatable?: boolean
  /** How many milliseconds one call may take; two minutes by default. */
  timeoutMs?: number
  /** Whether the call needs approval first: always, or for some inputs. */
  ask?: boolean | ((input: Input) => boolean | Promise<boolean>)
  /** How many milliseconds to wait for an answer to `ask`; an hour by default. */
  askTimeoutMs?: number
}

/**
 * Makes a tool whose input is validated before it runs, and whose `run` has a typed input.
 *
 * @example
 * const add = defineTool({
 *   name: 'add',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   run: ({ a, b }) => a + b,
 * })
 */
export function defineTool<S extends StandardSchema>(definition: ToolDefinition<S, OutputOf<S>>): Tool
export function defineTool<Input = JsonObject>(definition: ToolDefinition<JsonObject, Input>): Tool
export function defineTool<Input>(
  definition: ToolDefinition<StandardSchema<unknown, Input> | JsonObject, Input>,
): Tool {
  checkArgument(definition, "defineTool({ name: 'clock', input: { type: 'object' }, run: () => '12:00' })")
  const { name, description, input, repeatable, timeoutMs, ask, askTimeoutMs } = definition
  if (typeof name !== 'string' || name === '') throw badInput('A tool needs a name.')
  if (typeof definition.run !== 'function')
    throw badInput(`The tool ${name} needs a function run, which does the work.`)
  checkToolDefinition(definition)
  const isStandard =
    (typeof input === 'object' || typeof input === 'function') && input !== null && isStandardSchema(input)
  const schema = isStandard ? jsonSchemaOf(`The input schema of ${name}`, input) : inputSchemaOf({ name, input })
  const validate = isStandard ? byStandard(name, input) : byJsonSchema<Input>(name, schema)

  async function read(given: Json): Promise<ReadCall | InputProblem> {
    const checked = await validate(given)
    if ('problem' in checked) return checked
    const { value } = checked
    return {
      run: (run) => definition.run(value, run),
      asks: () => (typeof ask === 'function' ? ask(value) : ask === true),
    }
  }

  return {
    name,
    ...(description !== undefined && { description }),
    input: schema,
    ...(repeatable !== undefined && { repeatable }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(askTimeoutMs !== undefined && { askTimeoutMs }),
    ...(ask !== undefined && { ask: typeof ask === 'boolean' ? ask : async (given: Json) => asks(await read(given)) }),
    read,
    async run(given, run) {
      const call = await read(given)
      if ('problem' in call) throw badInput(call.problem)
      return call.run(run)
    },
  }
}

type Checked<Input> = { value: Input } | InputProblem

function byStandard<Input>(name: string, schema: StandardSchema<unknown, Input>) {
  return async (given: Json): Promise<Checked<Input>> => {
    const result = await schema['~standard'].validate(given)
    if (!result.issues) return { value: result.value }
    return { problem: problemOf(name, result.issues.map(findingOf)) }
  }
}

function byJsonSchema<Input>(name: string, schema: JsonObject) {
  return async (given: Json): Promise<Checked<Input>> => {
    const problem = await checkInput(name, schema, given)
    // The author's type for the output of the schema: nothing at run time can check it.
    return problem === undefined ? { value: given as Input } : { problem }
  }
}

export function findingOf({ path, message }: StandardIssue) {
  const steps = (path ?? []).map((step) => (typeof step === 'object' ? step.key : step))
  return { path: steps.map((step) => (typeof step === 'symbol' ? String(step) : step)), message }
}

async function asks(call: ReadCall | InputProblem): Promise<boolean> {
  return 'problem' in call ? false : call.asks()
}

/** `what`: the beginning of an error message about it. */
export function jsonSchemaOf(what: string, schema: StandardSchema): JsonObject {
  const { jsonSchema, vendor } = schema['~standard']
  const made = jsonSchema?.input({ target: 'draft-2020-12' })
  if (!made) {
    const how =
      vendor === 'valibot'
        ? 'wrap it with toStandardJsonSchema of @valibot/to-json-schema'
        : 'use a version of the library that implements Standard JSON Schema, or plain JSON Schema'
    throw badInput(`${what} (${vendor}) has no JSON Schema; ${how}.`)
  }
  return withoutDialect(JSON.parse(JSON.stringify(made)) as JsonObject)
}

/** The name of the dialect is useless to a model, and some wires refuse it. */
export function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema: _, ...rest } = schema
  return rest
}
