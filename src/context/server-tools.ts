// Tools that the provider runs itself. A provider without such a tool gets none, with a note; an own tool of the same name
// takes its place there, and is not offered where the provider's is.

import type { Note, ToolSpec } from '../core/context.ts'
import type { JsonObject } from '../core/json.ts'
import type { ServerTool } from '../settings/options.ts'
import type { Target, Wire } from '../wires/wire.ts'

/** The name that an own tool must have to take its place. */
const ownNames: Record<ServerTool['kind'], string> = {
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
export function withServerTools(given: readonly ToolSpec[], target: Target, wire: Wire): WithServerTools {
  const { serverTools = [], ...options } = target.options
  if (serverTools.length === 0) return { tools: given, target, notes: [] }
  const notes: Note[] = []
  const added: JsonObject[] = []
  let fields: JsonObject = {}
  let tools = given
  for (const [i, tool] of serverTools.entries()) {
    const declared = wire.declareServerTool?.(tool, target.provider)
    const own = given.find(({ name }) => name === ownNames[tool.kind])
    const at = `options.serverTools[${i}]`
    if (declared) {
      added.push(declared.tool)
      fields = joined(fields, declared.fields ?? {})
      if (own) tools = tools.filter((one) => one !== own)
      if (own) notes.push({ kind: 'dropped', what: `tool ${own.name}`, why: 'the provider runs its own', at })
    } else {
      const why = `${target.provider} has none on ${wire.id}${own ? `; the tool ${own.name} takes its place` : ''}`
      notes.push({ kind: 'dropped', what: `server tool ${tool.kind}`, why, at })
    }
  }
  if (added.length === 0) return { tools, target: { ...target, options }, notes }
  const extra = options.extra ?? {}
  const listed = Array.isArray(extra.tools) ? extra.tools : []
  const merged = { ...joined(fields, extra), tools: [...added, ...listed] }
  return { tools, target: { ...target, options: { ...options, extra: merged } }, notes }
}

/** Lists in both are concatenated. */
function joined(a: JsonObject, b: JsonObject): JsonObject {
  const out = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const before = out[key]
    out[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : (value ?? null)
  }
  return out
}
