// The tools of a body. They are in a separate field, and in items that add some in the middle of a conversation: Codex
// declares all tools of its newest models that way, and a search of the client finds others.

import type { Grammar, Note, ToolSpec } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import { freeFormInput, namespacedName, searchName } from '../../core/tool-kinds.ts'
import { objectsIn, stringIn, typeOf, type Item } from './types.ts'

/** Each tool once; the last declaration of a name applies. */
export function readTools(body: JsonObject, items: readonly Item[], notes: Note[]): ToolSpec[] {
  const own = objectsIn(body, 'tools').flatMap((tool, index) => readTool(tool, `$.tools[${index}]`, notes))
  const added = toolsInItems(items, notes)
  return added.length === 0 ? own : [...new Map([...own, ...added].map((tool) => [tool.name, tool])).values()]
}

/** The tools that items add. */
export function toolsInItems(items: readonly Item[], notes: Note[] = []): ToolSpec[] {
  return items.flatMap((item, index) =>
    addsTools(item)
      ? objectsIn(item, 'tools').flatMap((tool, i) => readTool(tool, `$.input[${index}].tools[${i}]`, notes))
      : [],
  )
}

function addsTools(item: Item): boolean {
  const type = typeOf(item)
  if (type === 'additional_tools') return item.role === 'developer'
  return type === 'tool_search_output' && item.execution === 'client'
}

/** One tool, or those of a namespace. What the client runs is our tool; only the provider can run the rest. */
function readTool(tool: JsonObject, at: string, notes: Note[]): ToolSpec[] {
  const name = stringIn(tool, 'name')
  const description = stringIn(tool, 'description')
  const described = description !== undefined && { description }
  const input = isObject(tool.parameters) ? tool.parameters : { type: 'object', properties: {} }
  if (tool.type === 'tool_search' && tool.execution === 'client') {
    return [{ name: searchName, ...described, input, kind: 'search' }]
  }
  if (name !== undefined && tool.type === 'function') return [{ name, ...described, input }]
  if (name !== undefined && tool.type === 'custom') {
    const grammar = grammarOf(tool)
    return [{ name, ...described, input: freeFormInput, kind: 'free-form', ...(grammar && { grammar }) }]
  }
  if (name !== undefined && tool.type === 'namespace') {
    const inside = objectsIn(tool, 'tools').flatMap((one, i) => readTool(one, `${at}.tools[${i}]`, notes))
    const namespace = { name, ...described }
    return inside.map((one) => ({ ...one, name: namespacedName(name, one.name), namespace }))
  }
  notes.push({ kind: 'dropped', what: `tool of type ${String(tool.type)}`, why: 'only the provider can run it', at })
  return []
}

function grammarOf(tool: JsonObject): Grammar | undefined {
  const format = isObject(tool.format) ? tool.format : {}
  const syntax = stringIn(format, 'syntax')
  const definition = stringIn(format, 'definition')
  return syntax !== undefined && definition !== undefined ? { syntax, definition } : undefined
}
