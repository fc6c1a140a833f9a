// Tools in the form of Converse. A history with calls needs them even if none is offered any more, and no tool choice
// forbids a call.

import type { Context } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Writing } from '../shared/pieces.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import { inside } from './types.ts'

/** `ran`: server tools in the history. */
export function encodeTools(context: Context, ran: ReadonlySet<string>, write: Writing): JsonObject | undefined {
  const { target, notes } = write
  const { capabilities, quirks } = target
  if (!capabilities.tools) {
    if (context.tools.length > 0) notes.push({ kind: 'dropped', what: 'tools', why: 'the model takes none' })
    return undefined
  }
  const offered = context.tools.slice(0, capabilities.maxTools)
  if (offered.length < context.tools.length) {
    const what = `${context.tools.length - offered.length} tools after the first ${offered.length}`
    notes.push({ kind: 'dropped', what, why: 'the model takes no more' })
  }
  const dialect = toolDialects[quirks.toolSchema ?? 'anthropic']
  const tools = offered.map((tool, index) => {
    const { description, schema } = fitTool(tool, dialect, `tools[${index}]`, notes)
    return spec(write.names.toWire(tool.name), schema, description || undefined)
  })
  if (tools.length === 0) tools.push(...calledTools(context, write))
  for (const name of ran) {
    tools.push({ systemTool: { name } })
    const why = 'the service ran it before, and a history with tool turns is refused without its tools'
    notes.push({ kind: 'added', what: `tool ${name}`, why, rule: 'BC-5' })
  }
  if (tools.length === 0) return undefined
  const choice = toolChoice(tools, context.tools.length > 0, write)
  return { tools, ...(choice && { toolChoice: choice }) }
}

function spec(name: string, json: JsonObject, description?: string): JsonObject {
  return { toolSpec: { name, ...(description !== undefined && { description }), inputSchema: { json } } }
}

function calledTools(context: Context, { names, notes }: Writing): JsonObject[] {
  const called = new Set<string>()
  for (const { role, parts } of context.messages) {
    if (role !== 'assistant') continue
    for (const part of parts) if (part.type === 'tool-call') called.add(part.name)
  }
  if (called.size === 0) return []
  const why = 'a history with tool turns is refused without tools; the wire has no way to forbid calls of them'
  notes.push({ kind: 'added', what: `tools ${[...called].join(', ')}`, why, rule: 'BC-5' })
  return [...called].map((name) => spec(names.toWire(name), { type: 'object' }))
}

function toolChoice(tools: readonly JsonObject[], offered: boolean, write: Writing): JsonObject | undefined {
  const { options, capabilities } = write.target
  const wanted = options.toolChoice
  if (!offered || wanted === undefined) return undefined
  if (wanted === 'none') {
    const why = 'the wire has no way to forbid calls'
    write.notes.push({ kind: 'dropped', what: 'tool choice "none"', why, rule: 'BC-5' })
    return undefined
  }
  if (wanted === 'auto') return { auto: {} }
  const name = typeof wanted === 'object' ? write.names.toWire(wanted.tool) : undefined
  const known = name === undefined || tools.some((tool) => inside(tool, 'toolSpec')?.name === name)
  if (capabilities.forcedTool && known) return name === undefined ? { any: {} } : { tool: { name } }
  const why = known ? 'the model cannot be made to call a tool' : 'there is no tool of this name'
  write.notes.push({ kind: 'changed', what: `tool choice ${JSON.stringify(wanted)} to auto`, why, rule: 'BM-8' })
  return { auto: {} }
}
