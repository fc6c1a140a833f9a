// Tools in the form of this wire. A schema is an object schema without a choice at its top, and a history with
// tool turns needs tools, even if none is offered any more.

import type { Context } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import type { Writer } from './writer.ts'

export interface Declared {
  tools: JsonObject[]
  /** They are declared only for the history: they must not be called. */
  historyOnly: boolean
}

export function declareTools(context: Context, writer: Writer): Declared {
  const { capabilities, quirks } = writer.target
  if (!capabilities.tools) {
    if (context.tools.length > 0) writer.notes.push({ kind: 'dropped', what: 'tools', why: 'the model takes none' })
    return { tools: [], historyOnly: false }
  }
  if (context.tools.length > 0) {
    const offered = context.tools.slice(0, capabilities.maxTools)
    if (offered.length < context.tools.length) {
      const what = `${context.tools.length - offered.length} tools after the first ${offered.length}`
      writer.notes.push({ kind: 'dropped', what, why: 'the model takes no more' })
    }
    const dialect = toolDialects[quirks.toolSchema ?? 'anthropic']
    const tools = offered.map((tool, index) => {
      const { description, schema } = fitTool(tool, dialect, `tools[${index}]`, writer.notes)
      return {
        name: writer.names.toWire(tool.name),
        ...(description !== undefined && { description }),
        input_schema: schema,
      }
    })
    return { tools, historyOnly: false }
  }

  const named = new Set<string>()
  if (!quirks.toolMessages) {
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
