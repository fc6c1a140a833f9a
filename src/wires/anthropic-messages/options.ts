// How a reply is requested: output, thinking, sampling, tool choice. What a model does not support is left out with a
// note. `max_tokens` is required on this wire.

import type { Context } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { ServerTool } from '../../settings/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { inRange } from '../shared/ranges.ts'
import { encodeSampling } from '../shared/sampling.ts'
import { isBlank } from '../shared/text.ts'
import type { Turn } from '../shared/turns.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import type { DeclaredServerTool } from '../wire.ts'
import { budgetOf, type Loop, planThinking, type Thinking } from './thinking.ts'
import { type Block, isBlock, isThinking, type Item, type Encoding } from './types.ts'
import { listIn, objectIn, textsIn } from '../shared/json-fields.ts'

export interface EncodedOptions {
  maxTokens: number
  thinking: Thinking
  /** All fields but `model`, `max_tokens`, `thinking` and the conversation. */
  fields: JsonObject
}

export function encodeOptions(declared: Declared, loop: Loop, encoding: Encoding): EncodedOptions {
  const { options } = encoding.target
  const choice = toolChoice(declared, encoding)
  const forced = choice?.type === 'any' || choice?.type === 'tool'
  const maxTokens = maxTokensOf(encoding)
  const thinking = planThinking(loop, maxTokens, forced, encoding)
  const schema = answerSchemaFor(encoding.target, declared.tools.length > 0, 'anthropic', encoding.notes)?.schema
  const output = {
    ...(thinking.effort !== undefined && { effort: thinking.effort }),
    ...(schema && { format: { type: 'json_schema', schema } }),
  }
  const stop = stopSequences(encoding)
  return {
    maxTokens,
    thinking,
    fields: {
      ...(choice && { tool_choice: choice }),
      ...(Object.keys(output).length > 0 && { output_config: output }),
      ...samplingFields(thinking, encoding),
      ...(stop.length > 0 && { stop_sequences: stop }),
      ...(options.stream !== undefined && { stream: options.stream }),
    },
  }
}

/** Enough for a long answer, and a limit on the cost of a runaway reply. */
const usualOutput = 32_000
const unknownOutput = 8192

function maxTokensOf(encoding: Encoding): number {
  const { options, capabilities } = encoding.target
  if (options.maxOutput === undefined) {
    return Math.min(capabilities.maxOutput ?? unknownOutput, usualOutput + budgetOf(encoding))
  }
  if (capabilities.maxOutput === undefined || options.maxOutput <= capabilities.maxOutput) return options.maxOutput
  const what = `max_tokens from ${options.maxOutput} to ${capabilities.maxOutput}`
  encoding.notes.push({ kind: 'changed', what, why: "that is the model's limit" })
  return capabilities.maxOutput
}

function toolChoice(declared: Declared, encoding: Encoding): JsonObject | undefined {
  const { options, capabilities, quirks } = encoding.target
  if (declared.tools.length === 0 || quirks.noToolChoice) return undefined
  if (declared.historyOnly || options.toolChoice === 'none') return { type: 'none' }
  const single = options.parallelTools === false && !quirks.noParallelTools ? { disable_parallel_tool_use: true } : {}
  const requested = options.toolChoice
  if (requested === 'required' || typeof requested === 'object') {
    const name = typeof requested === 'object' ? encoding.names.toWire(requested.tool) : undefined
    const isDeclared = name === undefined || declared.tools.some((tool) => tool.name === name)
    if (capabilities.forcedTool && isDeclared) {
      return name === undefined ? { type: 'any', ...single } : { type: 'tool', name, ...single }
    }
    const what = `tool choice ${JSON.stringify(requested)} to auto`
    const why = isDeclared ? 'the model cannot be forced to call a tool' : 'there is no tool of this name'
    encoding.notes.push({ kind: 'changed', what, why, rule: 'R-21' })
    return { type: 'auto', ...single }
  }
  return requested === 'auto' || 'disable_parallel_tool_use' in single ? { type: 'auto', ...single } : undefined
}

function samplingFields(thinking: Thinking, encoding: Encoding): JsonObject {
  const topK = thinking.state === 'on' ? { unsupported: 'it does not go with thinking' } : 'top_k'
  return { ...temperatureFields(thinking, encoding), ...encodeSampling(encoding.target, { topK }, encoding.notes) }
}

function temperatureFields(thinking: Thinking, encoding: Encoding): JsonObject {
  const { options, capabilities } = encoding.target
  const { temperature, topP } = options
  const drop = (what: string, why: string): void => {
    encoding.notes.push({ kind: 'dropped', what, why })
  }
  if (temperature === undefined && topP === undefined) return {}
  if (!capabilities.sampling || thinking.state === 'on') {
    drop(
      'temperature and top_p',
      capabilities.sampling ? 'they do not go with thinking' : 'the model does not support them',
    )
    return {}
  }
  if (temperature === undefined) return topP === undefined ? {} : { top_p: inRange('top_p', topP, encoding.notes) }
  if (topP !== undefined) drop('top_p', 'it does not go with temperature')
  return { temperature: inRange('temperature', temperature, encoding.notes, 1) }
}

function stopSequences(encoding: Encoding): string[] {
  const { stop = [] } = encoding.target.options
  const sequences = stop.filter((sequence) => !isBlank(sequence))
  if (sequences.length < stop.length) {
    encoding.notes.push({ kind: 'dropped', what: 'blank stop sequences', why: 'the wire refuses them' })
  }
  return sequences
}

// Tools in the form of this wire. A schema is an object schema without a choice at its top, and a history with
// tool turns needs tools, even if none is offered any more.

export interface Declared {
  tools: JsonObject[]
  /** They are declared only for the history: they must not be called. */
  historyOnly: boolean
}

export function declareTools(context: Context, encoding: Encoding): Declared {
  const { capabilities, quirks } = encoding.target
  if (!capabilities.tools) {
    if (context.tools.length > 0)
      encoding.notes.push({ kind: 'dropped', what: 'tools', why: 'the model supports none' })
    return { tools: [], historyOnly: false }
  }
  if (context.tools.length > 0) {
    const offered = context.tools.slice(0, capabilities.maxTools)
    if (offered.length < context.tools.length) {
      const what = `${context.tools.length - offered.length} tools after the first ${offered.length}`
      encoding.notes.push({ kind: 'dropped', what, why: 'the model supports no more' })
    }
    const dialect = toolDialects[quirks.toolSchema ?? 'anthropic']
    const tools = offered.map((tool, index) => {
      const { description, schema } = fitTool(tool, dialect, `tools[${index}]`, encoding.notes)
      return {
        name: encoding.names.toWire(tool.name),
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
  const why = 'a history with tool turns is refused without tools; calls of them are not allowed'
  encoding.notes.push({ kind: 'added', what: `tools ${[...named].join(', ')}`, why, rule: 'R-22' })
  const tools = [...named].map((name) => ({ name: encoding.names.toWire(name), input_schema: { type: 'object' } }))
  return { tools, historyOnly: true }
}

/** Tools that Anthropic runs itself, as declared in a request. Forms checked 2026-11 (@anthropic-ai/sdk 1.8). */
export function declareServerTool(tool: ServerTool, provider: string): DeclaredServerTool | undefined {
  if (provider !== 'anthropic') return undefined
  switch (tool.kind) {
    case 'web-search': {
      const domains = tool.domains && { allowed_domains: [...tool.domains] }
      return { tool: { type: 'web_search_20250305', name: 'web_search', ...domains } }
    }
    case 'code-execution':
      return { tool: { type: 'code_execution_20250825', name: 'code_execution' } }
    case 'mcp': {
      const { name, url, authorization, only } = tool
      const server = {
        type: 'url',
        name,
        url,
        ...(authorization !== undefined && { authorization_token: authorization }),
      }
      const allowed = only && {
        default_config: { enabled: false },
        configs: Object.fromEntries(only.map((name) => [name, { enabled: true }])),
      }
      return { tool: { type: 'mcp_toolset', mcp_server_name: name, ...allowed }, fields: { mcp_servers: [server] } }
    }
    case 'file-search':
      return undefined
  }
}

export function readServerTool({ type, allowed_domains: allowed }: JsonObject): ServerTool | undefined {
  const name = typeof type === 'string' ? type.replace(/_\d{8}$/, '') : ''
  if (name === 'code_execution') return { kind: 'code-execution' }
  const domains = textsIn(allowed)
  return name === 'web_search' ? { kind: 'web-search', ...(domains && { domains }) } : undefined
}

// Tool results and thinking that the server drops by itself. The whole history is sent unchanged, so that thinking
// which is bound to its prefix stays valid; what is dropped was decided before, and does not change between two
// decisions: what stays is counted from the newest, and grows with the conversation.

/** The smallest trigger of a summary (checked 2026-11). */
const leastTrigger = 50_000

export function contextEdits(
  turns: readonly Turn<Item>[],
  { cleared, compactAt }: Pick<Context, 'cleared' | 'compactAt'>,
  thinks: boolean,
): { context_management?: JsonObject } {
  const edits = cleared === undefined ? [] : clearEdits(turns, cleared, thinks)
  if (compactAt !== undefined) {
    const trigger = { type: 'input_tokens', value: Math.max(leastTrigger, compactAt) }
    edits.push({ type: 'compact_20260112', trigger })
  }
  return edits.length > 0 ? { context_management: { edits } } : {}
}

function clearEdits(turns: readonly Turn<Item>[], cleared: number, thinks: boolean): JsonObject[] {
  const uses = turns.flatMap(({ items }) => items.filter(({ block }) => block.type === 'tool_use'))
  const remaining = uses.filter(({ message }) => message >= cleared).length
  const thoughts = turns.flatMap(({ items }) => items.find(({ block }) => isThinking(block)) ?? [])
  const remainingThoughts = thoughts.filter(({ message }) => message >= cleared).length
  return [
    // Must come first if requested at all, and keeps at least one turn (checked 2026-11).
    ...(thinks && thoughts.length > remainingThoughts
      ? [{ type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: Math.max(1, remainingThoughts) } }]
      : []),
    ...(uses.length > remaining
      ? [
          {
            type: 'clear_tool_uses_20250919',
            trigger: { type: 'tool_uses', value: Math.max(1, remaining) },
            keep: { type: 'tool_uses', value: remaining },
          },
        ]
      : []),
  ]
}

/**
 * The beta headers that a body needs, derived from the body itself, so that header and body cannot differ. Names
 * checked 2026-11 (@anthropic-ai/sdk 1.8.0).
 */
export function betasOf(body: JsonObject): string[] {
  const { types, summaries } = blocksOf(body)
  const tools = Array.isArray(body.tools) ? body.tools.filter(isBlock) : []
  const edits = isObject(body.context_management) ? body.context_management.edits : undefined
  const editTypes = Array.isArray(edits) ? edits.flatMap((edit) => (isBlock(edit) ? [edit.type] : [])) : []
  const hasType = (...some: string[]) => some.some((type) => types.has(type))
  const hasTool = (start: string) => tools.some((tool) => tool.type.startsWith(start))
  const output = objectIn(body.output_config)

  const features: [boolean, string][] = [
    [body.thread !== undefined, 'message-threads-2026-08-12'],
    [isObject(body.thinking) && body.thinking.block_binding !== undefined, 'thinking-binding-controls-2026-08-01'],
    [
      summaries.some((block) => typeof block.signature === 'string') || body.compaction !== undefined,
      'compact-2026-09-04',
    ],
    [
      summaries.some((block) => typeof block.signature !== 'string') || editTypes.includes('compact_20260112'),
      'compact-2026-01-12',
    ],
    [editTypes.some((type) => type.startsWith('clear_')), 'context-management-2025-06-27'],
    [
      hasType('mcp_tool_use', 'mcp_tool_result', 'mcp_tool_listing') || body.mcp_servers !== undefined,
      'mcp-client-2025-11-20',
    ],
    [hasType('fallback') || body.fallbacks !== undefined, 'server-side-fallback-2026-07-01'],
    [hasType('advisor_tool_result') || hasTool('advisor_'), 'advisor-tool-2026-03-01'],
    [hasType('tool_addition', 'tool_removal'), 'mid-conversation-tool-changes-2026-07-01'],
    [hasTool('computer_20251124'), 'computer-use-2025-11-24'],
    [hasTool('computer_20250124'), 'computer-use-2025-01-24'],
    [output.task_budget !== undefined, 'task-budgets-2026-03-13'],
    [isObject(body.container) && body.container.skills !== undefined, 'skills-2025-10-02'],
    [body.speed === 'fast', 'fast-mode-2026-02-01'],
  ]
  return features.flatMap(([needed, beta]) => (needed ? [beta] : []))
}

function blocksOf({ messages }: JsonObject): { types: Set<string>; summaries: Block[] } {
  const types = new Set<string>()
  const summaries: Block[] = []
  for (const message of listIn(messages)) {
    if (!isObject(message) || !Array.isArray(message.content)) continue
    for (const block of message.content) {
      if (!isBlock(block)) continue
      types.add(block.type)
      if (block.type === 'compaction') summaries.push(block)
    }
  }
  return { types, summaries }
}
