// How a reply is requested: tools, tool choice, reasoning, the format of the answer, limits. What a model does not support
// is left out with a note.

import { createHash } from 'node:crypto'
import type { Context, Note, ToolSpec } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { namespacedName, searchName } from '../../core/tool-kinds.ts'
import type { ServerTool } from '../../settings/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { nearestEffort } from '../shared/options.ts'
import { inRange } from '../shared/ranges.ts'
import { encodeSampling } from '../shared/sampling.ts'
import { textsIn, valueAt } from '../shared/json-fields.ts'
import { freeFormIn, functionIn } from '../shared/request-options.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import type { DeclaredServerTool, Target } from '../wire.ts'
import { clientTool, declaredClientTool, isClientTool } from './client-tools.ts'
import { inNamespace } from './encode-reply.ts'
import { type Item, objectFields, stringField, typeOf } from './types.ts'

const maxCacheKey = 64

const minOutput = 16

/** `strict: false` is explicit: without it the server tries strict, and makes optional fields required. */
export function writeTools(
  context: Context,
  target: Target,
  toWire: (name: string) => string,
  notes: Note[],
): JsonObject[] {
  const { tools: takesTools, maxTools = Infinity } = target.capabilities
  const count = takesTools ? Math.min(context.tools.length, maxTools) : 0
  if (count < context.tools.length) {
    notes.push({
      kind: 'dropped',
      what: `${context.tools.length - count} of ${context.tools.length} tools`,
      why: takesTools ? `the wire accepts at most ${maxTools}` : 'the model supports no tools',
      ...(takesTools && { rule: 'C10' }),
    })
  }
  const encoded: JsonObject[] = []
  const namespaces = new Map<string, JsonObject[]>()
  for (const [index, tool] of context.tools.slice(0, count).entries()) {
    const { namespace } = tool
    const named = takesKinds(target) ? inNamespace(namespace?.name, tool.name) : undefined
    if (!named || !namespace) {
      encoded.push(writeTool(tool, toWire(tool.name), `tools[${index}]`, target, notes))
      continue
    }
    const inside = namespaces.get(namespace.name) ?? []
    if (inside.length === 0) {
      const { name, description } = namespace
      encoded.push({ type: 'namespace', name, ...(description !== undefined && { description }), tools: inside })
      namespaces.set(name, inside)
    }
    inside.push(writeTool(tool, named.name, `tools[${index}]`, target, notes))
  }
  return encoded
}

function takesKinds({ capabilities }: Target): boolean {
  return capabilities.toolKinds === true
}

function writeTool(tool: ToolSpec, name: string, at: string, target: Target, notes: Note[]): JsonObject {
  const { kind, grammar, description } = tool
  if (takesKinds(target) && kind === 'free-form') {
    const format = grammar ? { type: 'grammar', ...grammar } : { type: 'text' }
    return { type: 'custom', name, ...(description !== undefined && { description }), format }
  }
  if (takesKinds(target) && isClientTool(kind)) return declaredClientTool(kind, tool.declared)
  const fitted = fitTool(tool, toolDialects[target.quirks.toolSchema ?? 'openai'], at, notes)
  const described = fitted.description !== undefined && { description: fitted.description }
  if (takesKinds(target) && kind === 'search') {
    return { type: 'tool_search', execution: 'client', ...described, parameters: fitted.schema }
  }
  return { type: 'function', name, ...described, parameters: fitted.schema, strict: false }
}

export function toolChoice(
  hasTools: boolean,
  context: Context,
  target: Target,
  toWire: (name: string) => string,
  notes: Note[],
): JsonObject {
  const { options, quirks, capabilities } = target
  const choice = options.toolChoice
  const fields: JsonObject = {}
  if (choice !== undefined) {
    const named = typeof choice === 'object'
    const forced = named || choice === 'required'
    const unknown = named && !context.tools.some((tool) => tool.name === choice.tool)
    if (!hasTools || unknown) noteDropped('tool choice', 'no such tool is offered')
    else if (quirks.noToolChoice) noteDropped('tool choice', 'the provider accepts none')
    else if (forced && !capabilities.forcedTool) noteDropped('forced tool choice', 'the model does not support one')
    else fields.tool_choice = named ? namedChoice(choice.tool) : choice
  }
  if (options.parallelTools !== undefined && hasTools) {
    if (quirks.noParallelTools) noteDropped('parallel tool setting', 'the provider does not accept it')
    else fields.parallel_tool_calls = options.parallelTools
  }
  return fields

  function namedChoice(name: string): Json {
    const tool = context.tools.find((candidate) => candidate.name === name)
    const kind = takesKinds(target) ? tool?.kind : undefined
    if (isClientTool(kind) && kind !== 'local-shell')
      return { type: declaredClientTool(kind, tool?.declared).type ?? kind }
    if (
      !takesKinds(target) ||
      (!inNamespace(tool?.namespace?.name, name) && kind !== 'search' && kind !== 'local-shell')
    ) {
      const type = takesKinds(target) && tool?.kind === 'free-form' ? 'custom' : 'function'
      return { type, name: toWire(name) }
    }
    notes.push({ kind: 'changed', what: `tool choice ${name} to required`, why: 'the wire can name no such tool' })
    return 'required'
  }

  function noteDropped(what: string, why: string): void {
    notes.push({ kind: 'dropped', what, why })
  }
}

export function reasoningFields(target: Target, notes: Note[]): JsonObject {
  const requested = target.options.effort
  const { efforts } = target.capabilities
  if (requested === undefined) return {}
  // Of two equally near efforts, `none` comes last: it turns reasoning off.
  const effort = nearestEffort(requested, efforts, (level) => (level === 'none' ? 1 : 0))
  if (effort === undefined) {
    notes.push({ kind: 'dropped', what: `effort ${requested}`, why: 'the model has no efforts' })
    return {}
  }
  if (effort !== requested) {
    const why = `the model supports ${efforts.join(', ')}`
    notes.push({ kind: 'changed', what: `effort ${requested} to ${effort}`, why, rule: 'C17' })
  }
  return { reasoning: { effort } }
}

export function answerFormat(hasTools: boolean, target: Target, notes: Note[]): JsonObject {
  const answer = answerSchemaFor(target, hasTools, 'openai', notes)
  if (!answer) return {}
  if (!answer.schema) return { text: { format: { type: 'json_object' } } }
  const { schema, strict } = answer
  return { text: { format: { type: 'json_schema', name: 'answer', schema, strict } } }
}

export function limits(target: Target, notes: Note[]): JsonObject {
  const { options, capabilities } = target
  const fields: JsonObject = {}
  if (options.maxOutput !== undefined) {
    const limit = Math.max(minOutput, Math.min(options.maxOutput, capabilities.maxOutput ?? Infinity))
    fields.max_output_tokens = limit
    if (limit !== options.maxOutput) {
      const why = limit === minOutput ? `the wire requires at least ${minOutput}` : "that is the model's limit"
      notes.push({ kind: 'changed', what: `maxOutput ${options.maxOutput} to ${limit}`, why })
    }
  }
  for (const [name, field] of [
    ['temperature', 'temperature'],
    ['topP', 'top_p'],
  ] as const) {
    const value = options[name]
    if (value === undefined) continue
    if (capabilities.sampling) fields[field] = inRange(field, value, notes)
    else notes.push({ kind: 'dropped', what: name, why: 'the model does not support it', rule: 'C16' })
  }
  encodeSampling(target, {}, notes)
  if (options.stop !== undefined) {
    notes.push({ kind: 'dropped', what: 'stop sequences', why: 'the wire has no field for them' })
  }
  return fields
}

export function cacheKey(target: Target, notes: Note[]): JsonObject {
  const key = target.options.cacheKey
  if (key === undefined || target.quirks.cacheKey === false) return {}
  if (key.length <= maxCacheKey) return { prompt_cache_key: key }
  notes.push({ kind: 'changed', what: 'cache key to its hash', why: `longer than ${maxCacheKey}`, rule: 'C18' })
  return { prompt_cache_key: createHash('sha256').update(key).digest('hex') }
}

/**
 * Tools that OpenAI and xAI run themselves, as declared in a request. Forms checked 2026-11 (openai 7.53; xAI:
 * docs.x.ai).
 */
export function declareServerTool(tool: ServerTool, provider: string): DeclaredServerTool | undefined {
  if (provider !== 'openai' && provider !== 'xai') return undefined
  switch (tool.kind) {
    case 'web-search':
      return { tool: { type: 'web_search', ...(tool.domains && { filters: { allowed_domains: [...tool.domains] } }) } }
    case 'code-execution':
      // xAI runs code without a container.
      return { tool: { type: 'code_interpreter', ...(provider === 'openai' && { container: { type: 'auto' } }) } }
    case 'file-search':
      return { tool: { type: 'file_search', vector_store_ids: [...tool.stores] } }
    case 'mcp': {
      const { name, url, authorization, only } = tool
      const more = { ...(authorization !== undefined && { authorization }), ...(only && { allowed_tools: [...only] }) }
      return { tool: { type: 'mcp', server_label: name, server_url: url, require_approval: 'never', ...more } }
    }
  }
}

export function readServerTool(tool: JsonObject): ServerTool | undefined {
  switch (tool.type) {
    case 'web_search':
    case 'web_search_preview': {
      const domains = textsIn(valueAt(tool, 'filters', 'allowed_domains'))
      return { kind: 'web-search', ...(domains && { domains }) }
    }
    case 'code_interpreter':
      return { kind: 'code-execution' }
    case 'file_search':
      return { kind: 'file-search', stores: textsIn(tool.vector_store_ids) ?? [] }
    default:
      return undefined
  }
}

// The tools of a body. They are in a separate field, and in items that add some in the middle of a conversation: Codex
// declares all tools of its newest models that way, and a search of the client finds others.

/** Each tool once; the last declaration of a name applies. */
export function readTools(body: JsonObject, items: readonly Item[], notes: Note[]): ToolSpec[] {
  const declared = objectFields(body, 'tools').flatMap((tool, index) => readTool(tool, `$.tools[${index}]`, notes))
  const loaded = toolsInItems(items, notes)
  return loaded.length === 0
    ? declared
    : [...new Map([...declared, ...loaded].map((tool) => [tool.name, tool])).values()]
}

/** The tools that items add. */
export function toolsInItems(items: readonly Item[], notes: Note[] = []): ToolSpec[] {
  return items.flatMap((item, index) =>
    addsTools(item)
      ? objectFields(item, 'tools').flatMap((tool, i) => readTool(tool, `$.input[${index}].tools[${i}]`, notes))
      : [],
  )
}

function addsTools(item: Item): boolean {
  const type = typeOf(item)
  if (type === 'additional_tools') return item.role === 'developer'
  return type === 'tool_search_output' && item.execution === 'client'
}

/** One tool, or those of a namespace. A tool that the client runs becomes one of ours; the others only the provider can run. */
function readTool(tool: JsonObject, path: string, notes: Note[]): ToolSpec[] {
  const declared = functionIn(tool) ?? tool
  const name = stringField(declared, 'name')
  const description = stringField(declared, 'description')
  const described = description !== undefined && { description }
  const input = isObject(declared.parameters) ? declared.parameters : { type: 'object', properties: {} }
  if (tool.type === 'tool_search' && tool.execution === 'client') {
    return [{ name: searchName, ...described, input, kind: 'search' }]
  }
  if (name !== undefined && tool.type === 'function') return [{ name, ...described, input }]
  const freeForm = freeFormIn(tool) ?? clientTool(tool)
  if (freeForm) return [freeForm]
  if (name !== undefined && tool.type === 'namespace') {
    const inside = objectFields(tool, 'tools').flatMap((inner, i) => readTool(inner, `${path}.tools[${i}]`, notes))
    const namespace = { name, ...described }
    return inside.map((spec) => ({ ...spec, name: namespacedName(name, spec.name), namespace }))
  }
  notes.push({
    kind: 'dropped',
    what: `tool of type ${String(tool.type)}`,
    why: 'only the provider can run it',
    at: path,
  })
  return []
}
