// Tools that are more than functions: free-form tools, which take plain text, tool search at the client, and tools in a
// namespace. A wire that does not support them gets an equivalent function, and the calls of that function are marked
// with the kind of the tool, so that a wire that supports the kind gets it back.

import type { ToolSpec } from './context.ts'
import { isObject, type Json, type JsonObject } from './json.ts'
import type { Part, ToolCallPart } from './message.ts'

/** The arguments of the function that represents a free-form tool. */
export const freeFormInput: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}

/** The name of a tool search, which has no name on its wire. */
export const searchName = 'tool_search'

/** The flat name of a tool in a namespace. */
export function namespacedName(namespace: string, name: string): string {
  return prefixOf(namespace) + name
}

/** The name of the tool inside its namespace. */
export function nameInside(namespace: string, name: string): string {
  const prefix = prefixOf(namespace)
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

function prefixOf(namespace: string): string {
  return namespace.endsWith('__') ? namespace : `${namespace}__`
}

/** The tool as a function: what a grammar would enforce is described in text. */
export function asFunction(tool: ToolSpec): ToolSpec {
  const { grammar, ...rest } = tool
  if (tool.kind !== 'free-form') return tool
  const described = grammar
    ? `The input must match this ${grammar.syntax} grammar:\n${grammar.definition}`
    : 'The input is plain text.'
  return { ...rest, description: [tool.description, described].filter(Boolean).join('\n\n') }
}

/** The text argument of a free-form tool; undefined if the input does not have that shape. */
export function freeFormText(input: Json): string | undefined {
  return isObject(input) && typeof input.input === 'string' ? input.input : undefined
}

/** The text of a call of a free-form tool, whatever the model wrote. */
export function textOfCall({ input, malformed }: Pick<ToolCallPart, 'input' | 'malformed'>): string {
  return malformed ?? freeFormText(input) ?? JSON.stringify(input)
}

/** The mark for calls of this tool. */
export function callMarks(tool: ToolSpec | undefined): Pick<ToolCallPart, 'kind' | 'namespace'> {
  return {
    ...(tool?.kind !== undefined && { kind: tool.kind }),
    ...(tool?.namespace && { namespace: tool.namespace.name }),
  }
}

/** The part of a reply, marked if it is a call of one of these tools. */
export function markedPart(part: Part, tools: readonly ToolSpec[]): Part {
  if (part.type !== 'tool-call') return part
  const tool = tools.find(({ name }) => name === part.name)
  return tool?.kind !== undefined || tool?.namespace ? { ...part, ...callMarks(tool) } : part
}
