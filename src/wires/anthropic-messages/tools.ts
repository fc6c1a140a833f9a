// Tools as this wire declares them. A schema is an object schema without a choice at its top, and a history
// with tool turns needs tools, even if none is offered any more.

import type { Context, Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Writer } from './writer.ts'

export interface Declared {
  tools: JsonObject[]
  /** They are there for the history's sake only: no call may come of them. */
  historyOnly: boolean
}

export function declareTools(context: Context, writer: Writer): Declared {
  const { capabilities, quirks } = writer.target
  if (!capabilities.tools) {
    if (context.tools.length > 0) writer.notes.push({ kind: 'dropped', what: 'tools', why: 'the model takes none' })
    return { tools: [], historyOnly: false }
  }
  if (context.tools.length > 0) {
    const kept = context.tools.slice(0, capabilities.maxTools)
    if (kept.length < context.tools.length) {
      const what = `${context.tools.length - kept.length} tools after the first ${kept.length}`
      writer.notes.push({ kind: 'dropped', what, why: 'the model takes no more' })
    }
    const tools = kept.map((tool) => ({
      name: writer.names.toWire(tool.name),
      ...(tool.description !== undefined && { description: tool.description }),
      input_schema: objectSchema(tool.input, tool.name, writer.notes),
    }))
    return { tools, historyOnly: false }
  }

  const named = new Set<string>()
  if (!quirks.flattenToolHistory) {
    for (const { parts } of context.messages) {
      for (const part of parts) if (part.type === 'tool-call') named.add(part.name)
    }
  }
  if (named.size === 0) return { tools: [], historyOnly: false }
  const why = 'a history with tool turns is refused without tools; no call of them is allowed'
  writer.notes.push({ kind: 'added', what: `tools ${[...named].join(', ')}`, why, rule: 'R-22' })
  const tools = [...named].map((name) => ({ name: writer.names.toWire(name), input_schema: { type: 'object' } }))
  return { tools, historyOnly: true }
}

function objectSchema(schema: JsonObject, name: string, notes: Note[]): JsonObject {
  const choices = ['anyOf', 'oneOf', 'allOf'].filter((key) => Array.isArray(schema[key]))
  const isPlain = schema.type === 'object' && choices.length === 0
  if (isPlain) return schema
  const why = choices.length > 0 ? `it may not have ${choices.join(' or ')} at its top` : 'it must be an object schema'
  notes.push({ kind: 'changed', what: `input schema of ${name}`, why, rule: 'R-24' })
  return choices.length > 0 ? merged(schema, choices) : { ...schema, type: 'object' }
}

/** One object schema that allows what any of the choices allows; what all of them ask for stays asked for. */
function merged(schema: JsonObject, choices: readonly string[]): JsonObject {
  const { type: _, properties, required, ...rest } = schema
  const allProperties: JsonObject = {}
  const everyRequired = new Set(namesIn(required))
  for (const key of choices) {
    const branches = (schema[key] as Json[]).filter(isObject)
    for (const branch of branches) Object.assign(allProperties, isObject(branch.properties) ? branch.properties : {})
    const lists = branches.map((branch) => namesIn(branch.required))
    const shared =
      key === 'allOf' ? lists.flat() : (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)))
    for (const name of shared) everyRequired.add(name)
    delete rest[key]
  }
  return {
    type: 'object',
    properties: { ...allProperties, ...(isObject(properties) && properties) },
    ...(everyRequired.size > 0 && { required: [...everyRequired] }),
    ...rest,
  }
}

function namesIn(required: Json | undefined): Json[] {
  return Array.isArray(required) ? required : []
}
