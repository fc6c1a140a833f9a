// Writes a context as a request body. Stateless by default: `store` is false, because the log is the source of truth
// and the provider's copy a cache of it; then the reasoning must be returned encrypted, so it is requested.

import { createHash } from 'node:crypto'
import { placeOf, type Context, type Note, type ToolSpec } from '../../core/context.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Effort } from '../../settings/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { mapNames } from '../shared/names.ts'
import { inRange } from '../shared/ranges.ts'
import { cachedList, cachedElement, originsIn, type CachedElement } from '../shared/body-bytes.ts'
import type { Encoded, Target } from '../wire.ts'
import { cleanText } from '../shared/text.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import { continueText } from '../shared/injected-text.ts'
import { writeHistory } from './encode-history.ts'
import { inNamespace, nameFits } from './encode-reply.ts'
import { toolsInItems } from './read-tools.ts'
import { messageItem, type Item } from './types.ts'

const maxNameLength = 128
const maxCacheKey = 64
const minOutput = 16

export function encode(context: Context, target: Target): Encoded {
  const notes: Note[] = []
  const { options, quirks, capabilities } = target
  const names = mapNames(context, nameFits, maxNameLength, notes)
  const state = stateOf(context)
  const system = systemText(context, notes)
  const input = writeHistory(context, target, names, state?.covers ?? 0, notes)
  // A chain stores its input items, so there the system prompt is already known; it does not store `instructions`.
  if (system && quirks.systemInInput && !state)
    input.unshift(cachedElement(systemItem(system, context, target), ['system']))
  complete(input, context, target, state !== undefined, notes)
  dropOldTriggers(input, notes)

  const store = state !== undefined || storing(target, notes)
  const offered = withoutDeclaredTools(context, input)
  const tools = writeTools(offered, target, names.toWire, notes)
  const hasTools = tools.length > 0 || offered !== context
  const items = cachedList(input)
  const body: JsonObject = {
    model: target.model,
    ...(system && !quirks.systemInInput && { instructions: system }),
    // Required even if the chain has everything: without it "Missing required parameter: 'input'." (checked 2026-11).
    input: items,
    ...(tools.length > 0 && { tools }),
    ...toolChoice(hasTools, context, target, names.toWire, notes),
    ...reasoning(target, notes),
    ...answerFormat(hasTools, target, notes),
    ...limits(target, notes),
    ...cacheKey(target, notes),
    ...state?.fields,
    ...compaction(context),
    store,
    // A model without reasoning refuses it: "Encrypted content is not supported with this model."
    ...(!store && capabilities.efforts.length > 0 && { include: ['reasoning.encrypted_content'] }),
    ...(options.stream !== undefined && { stream: options.stream }),
    ...options.extra,
  }
  return { path: '/responses', body, notes, toolNames: names.changed, origins: originsIn('input', items) }
}

function storing({ options, quirks }: Target, notes: Note[]): boolean {
  if (!options.store) return false
  if (!quirks.noStore) return true
  notes.push({ kind: 'dropped', what: 'store', why: 'the provider keeps nothing' })
  return false
}

/** A summary appears in the answer when the prompt has grown past the threshold, of 1000 at least (checked 2026-11). */
function compaction({ compactAt }: Context): JsonObject {
  if (compactAt === undefined) return {}
  return { context_management: [{ type: 'compaction', compact_threshold: Math.max(1000, compactAt) }] }
}

function stateOf(context: Context): { covers: number; fields: JsonObject } | undefined {
  const { state } = context
  if (state?.kind === 'response-chain') return { covers: state.covers, fields: { previous_response_id: state.id } }
  if (state?.kind === 'conversation') return { covers: state.covers, fields: { conversation: state.id } }
  return undefined
}

function systemText(context: Context, notes: Note[]): string {
  return context.system
    .map((part) => cleanText(part.text, 'system', notes))
    .filter((text) => text !== '')
    .join('\n\n')
}

function systemItem(text: string, context: Context, target: Target): Item {
  const marked = target.capabilities.cacheMarks && context.cacheAfter.includes(-1)
  const part = { type: 'input_text', text, prompt_cache_breakpoint: { mode: 'explicit' } }
  return messageItem(target.capabilities.systemRole ?? 'system', marked ? [part] : text)
}

/** The wire requires something to answer (R18), and some servers a last message that is not the model's. */
function complete(input: CachedElement[], context: Context, target: Target, hasState: boolean, notes: Note[]): void {
  const last = context.messages.at(-1)
  const endsWithReply = last?.role === 'assistant' && !target.capabilities.prefill
  const isEmpty = input.every(({ value }) => value.role === 'system') && !hasState
  if (!endsWithReply && !isEmpty) return
  input.push(cachedElement(messageItem('user', continueText), []))
  notes.push({
    kind: 'added',
    what: `user message ${JSON.stringify(continueText)}`,
    why: isEmpty ? 'the wire wants something to answer' : 'the provider wants the last message to be a user message',
    ...(last && { at: placeOf(context, context.messages.length - 1) }),
    ...(isEmpty && { rule: 'R18' }),
  })
}

/** An item that requests a compaction must be the last one: in the middle of a history it has already been answered. */
function dropOldTriggers(input: CachedElement[], notes: Note[]): void {
  const isOld = ({ value }: CachedElement, i: number) => value.type === 'compaction_trigger' && i < input.length - 1
  const left = input.filter((piece, i) => !isOld(piece, i))
  if (left.length === input.length) return
  input.splice(0, input.length, ...left)
  notes.push({ kind: 'dropped', what: 'compaction trigger', why: 'it may only be the last item' })
}

/** The context without the tools that items of the history already declare. */
function withoutDeclaredTools(context: Context, input: readonly CachedElement[]): Context {
  const declared = new Set(toolsInItems(input.map(({ value }) => value)).map(({ name }) => name))
  if (declared.size === 0) return context
  return { ...context, tools: context.tools.filter(({ name }) => !declared.has(name)) }
}

/** `strict: false` is explicit: without it the server tries strict, and makes optional fields required. */
function writeTools(context: Context, target: Target, toWire: (name: string) => string, notes: Note[]): JsonObject[] {
  const { tools: takesTools, maxTools = Infinity } = target.capabilities
  const count = takesTools ? Math.min(context.tools.length, maxTools) : 0
  if (count < context.tools.length) {
    notes.push({
      kind: 'dropped',
      what: `${context.tools.length - count} of ${context.tools.length} tools`,
      why: takesTools ? `the wire takes at most ${maxTools}` : 'the model takes no tools',
      ...(takesTools && { rule: 'C10' }),
    })
  }
  const written: JsonObject[] = []
  const namespaces = new Map<string, JsonObject[]>()
  for (const [index, tool] of context.tools.slice(0, count).entries()) {
    const { namespace } = tool
    const named = takesKinds(target) ? inNamespace(namespace?.name, tool.name) : undefined
    if (!named || !namespace) {
      written.push(writeTool(tool, toWire(tool.name), `tools[${index}]`, target, notes))
      continue
    }
    const inside = namespaces.get(namespace.name) ?? []
    if (inside.length === 0) {
      const { name, description } = namespace
      written.push({ type: 'namespace', name, ...(description !== undefined && { description }), tools: inside })
      namespaces.set(name, inside)
    }
    inside.push(writeTool(tool, named.name, `tools[${index}]`, target, notes))
  }
  return written
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
  const fitted = fitTool(tool, toolDialects[target.quirks.toolSchema ?? 'openai'], at, notes)
  const described = fitted.description !== undefined && { description: fitted.description }
  if (takesKinds(target) && kind === 'search') {
    return { type: 'tool_search', execution: 'client', ...described, parameters: fitted.schema }
  }
  return { type: 'function', name, ...described, parameters: fitted.schema, strict: false }
}

function toolChoice(
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
    if (!hasTools || unknown) left('tool choice', 'no such tool is offered')
    else if (quirks.noToolChoice) left('tool choice', 'the provider does not take one')
    else if (forced && !capabilities.forcedTool) left('forced tool choice', 'the model does not take one')
    else fields.tool_choice = named ? namedChoice(choice.tool) : choice
  }
  if (options.parallelTools !== undefined && hasTools) {
    if (quirks.noParallelTools) left('parallel tool setting', 'the provider does not take it')
    else fields.parallel_tool_calls = options.parallelTools
  }
  return fields

  function namedChoice(name: string): Json {
    const tool = context.tools.find((one) => one.name === name)
    if (!takesKinds(target) || (!inNamespace(tool?.namespace?.name, name) && tool?.kind !== 'search')) {
      const type = takesKinds(target) && tool?.kind === 'free-form' ? 'custom' : 'function'
      return { type, name: toWire(name) }
    }
    notes.push({ kind: 'changed', what: `tool choice ${name} to required`, why: 'the wire can name no such tool' })
    return 'required'
  }

  function left(what: string, why: string): void {
    notes.push({ kind: 'dropped', what, why })
  }
}

const effortOrder: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

function reasoning(target: Target, notes: Note[]): JsonObject {
  const asked = target.options.effort
  const { efforts } = target.capabilities
  if (asked === undefined) return {}
  const effort = nearest(asked, efforts)
  if (effort === undefined) {
    notes.push({ kind: 'dropped', what: `effort ${asked}`, why: 'the model cannot be asked for an effort' })
    return {}
  }
  if (effort !== asked) {
    const why = `the model knows ${efforts.join(', ')}`
    notes.push({ kind: 'changed', what: `effort ${asked} to ${effort}`, why, rule: 'C17' })
  }
  return { reasoning: { effort } }
}

function nearest(asked: Effort, known: readonly Effort[]): Effort | undefined {
  // `none` is not the same as little: it comes last among equals.
  const far = (effort: Effort) =>
    Math.abs(effortOrder.indexOf(effort) - effortOrder.indexOf(asked)) +
    (effort === 'none' && asked !== 'none' ? 0.5 : 0)
  return known.toSorted((a, b) => far(a) - far(b))[0]
}

function answerFormat(hasTools: boolean, target: Target, notes: Note[]): JsonObject {
  const answer = answerSchemaFor(target, hasTools, 'openai', notes)
  if (!answer) return {}
  if (!answer.schema) return { text: { format: { type: 'json_object' } } }
  const { schema, strict } = answer
  return { text: { format: { type: 'json_schema', name: 'answer', schema, strict } } }
}

function limits(target: Target, notes: Note[]): JsonObject {
  const { options, capabilities } = target
  const fields: JsonObject = {}
  if (options.maxOutput !== undefined) {
    const limit = Math.max(minOutput, Math.min(options.maxOutput, capabilities.maxOutput ?? Infinity))
    fields.max_output_tokens = limit
    if (limit !== options.maxOutput) {
      const why = limit === minOutput ? `the wire takes no less than ${minOutput}` : 'the model gives no more'
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
    else notes.push({ kind: 'dropped', what: name, why: 'the model does not take it', rule: 'C16' })
  }
  if (options.stop !== undefined) {
    notes.push({ kind: 'dropped', what: 'stop sequences', why: 'the wire has no field for them' })
  }
  return fields
}

function cacheKey(target: Target, notes: Note[]): JsonObject {
  const key = target.options.cacheKey
  if (key === undefined || target.quirks.cacheKey === false) return {}
  if (key.length <= maxCacheKey) return { prompt_cache_key: key }
  notes.push({ kind: 'changed', what: 'cache key to its hash', why: `longer than ${maxCacheKey}`, rule: 'C18' })
  return { prompt_cache_key: createHash('sha256').update(key).digest('hex') }
}
