// A call before it is run: whether there is such a tool, whether its arguments are right, whether a person must be asked.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { ToolCallPart } from '../core/message.ts'
import { freeFormText } from '../core/tool-kinds.ts'
import type { InputProblem, ReadCall, Tool } from '../core/tool.ts'
import { inputSchemaOf, unwrapInput } from '../wires/tool-schema/root.ts'
import { checkInput } from './check-input.ts'

export async function readCall(tools: readonly Tool[], call: ToolCallPart): Promise<ReadCall | InputProblem> {
  const { name, input: given, malformed } = call
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool) {
    const known = tools.map((candidate) => candidate.name).join(', ') || 'none'
    return { problem: `There is no tool named ${name}. Known tools: ${known}.` }
  }
  if (malformed !== undefined) {
    return { problem: `The arguments are not a JSON object, so ${name} was not run: ${malformed}` }
  }
  try {
    const schema = inputSchemaOf(tool)
    const required = requiredFields(schema)
    if (required.length > 0 && isEmpty(given)) {
      const fields = required.map((field) => JSON.stringify(field)).join(', ')
      return { problem: `${name} was not run: no arguments came, and it needs ${fields}. Call it again with them.` }
    }
    const input = unwrapInput(schema, given)
    if (tool.read) return await tool.read(input)
    const problem = await checkInput(name, schema, input)
    if (problem !== undefined) return { problem }
    const { ask } = tool
    const value = tool.kind === 'free-form' ? (freeFormText(input) ?? input) : input
    return {
      run: (run) => tool.run(value, run),
      asks: () => (typeof ask === 'function' ? ask(value) : ask === true),
    }
  } catch (error) {
    return { problem: `${name} was not run: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** Known without a validator: a call that lost its arguments on the way is never run, whatever else is in the schema. */
function requiredFields({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((field) => typeof field === 'string') : []
}

function isEmpty(input: Json): boolean {
  return isObject(input) && Object.keys(input).length === 0
}
