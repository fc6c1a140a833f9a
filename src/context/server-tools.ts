// Tools that the provider runs itself. If the provider does not have one, it is left out with a note, and a tool of the
// caller with the same name is offered instead; otherwise the caller's tool is left out.

import type { Note, ToolSpec } from '../core/context.ts'
import type { JsonObject } from '../core/json.ts'
import type { ServerTool } from '../settings/options.ts'
import type { Target, Wire } from '../wires/wire.ts'

/** The name of the caller's tool that replaces it. */
const replacementNames: Record<ServerTool['kind'], string> = {
  'web-search': 'web_search',
  'code-execution': 'code_execution',
  'file-search': 'file_search',
  mcp: 'mcp',
}

export interface WithServerTools {
  tools: readonly ToolSpec[]
  target: Target
  notes: Note[]
}

/** The tools and options of a request with the server tools that were asked for. */
export function withServerTools(callerTools: readonly ToolSpec[], target: Target, wire: Wire): WithServerTools {
  const { serverTools = [], ...options } = target.options
  if (serverTools.length === 0) return { tools: callerTools, target, notes: [] }
  const notes: Note[] = []
  const added: JsonObject[] = []
  let fields: JsonObject = {}
  let tools = callerTools
  for (const [i, tool] of serverTools.entries()) {
    const declared = wire.declareServerTool?.(tool, target.provider)
    const replacement = callerTools.find(({ name }) => name === replacementNames[tool.kind])
    const at = `options.serverTools[${i}]`
    if (declared) {
      added.push(declared.tool)
      fields = mergeFields(fields, declared.fields ?? {})
      if (replacement) {
        tools = tools.filter((candidate) => candidate !== replacement)
        notes.push({ kind: 'dropped', what: `tool ${replacement.name}`, why: 'the provider runs its own', at })
      }
    } else {
      const why = `${target.provider} has none on ${wire.id}${replacement ? `; the tool ${replacement.name} replaces it` : ''}`
      notes.push({ kind: 'dropped', what: `server tool ${tool.kind}`, why, at })
    }
  }
  if (added.length === 0) return { tools, target: { ...target, options }, notes }
  const extra = options.extra ?? {}
  const listed = Array.isArray(extra.tools) ? extra.tools : []
  const merged = { ...mergeFields(fields, extra), tools: [...added, ...listed] }
  return { tools, target: { ...target, options: { ...options, extra: merged } }, notes }
}

/** Lists in both are concatenated. */
function mergeFields(a: JsonObject, b: JsonObject): JsonObject {
  const out = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const before = out[key]
    out[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : (value ?? null)
  }
  return out
}
