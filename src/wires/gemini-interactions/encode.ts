// A context as the body of an interaction. Google keeps the steps of an interaction if asked to, and nothing else: the
// system prompt, the tools and the configuration are sent again with every request, also in a chain.

import type { Context, Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Effort } from '../../settings/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { mergeExtra, nearestEffort } from '../shared/gemini.ts'
import type { Encoded, Target } from '../wire.ts'
import { cleanText } from '../shared/text.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import { writing, type Writing } from './encode-reply.ts'
import { encodeSteps } from './encode-steps.ts'

export function encode(context: Context, target: Target): Encoded {
  const write = writing(context, target)
  const { notes } = write
  const chain = chainOf(context, target, notes)
  const system = context.system.map((part) => cleanText(part.text, 'system', notes)).filter((text) => text !== '')
  const tools = declarations(context, write)
  const config = generationConfig(context, write)
  const answer = answerSchemaFor(target, tools.length > 0, 'gemini', notes)
  const body: JsonObject = {
    model: target.model,
    ...(chain && { previous_interaction_id: chain.id }),
    ...(system.length > 0 && { system_instruction: system.join('\n\n') }),
    ...(tools.length > 0 && { tools }),
    input: encodeSteps(context, write, chain ? { from: chain.covers } : 'whole'),
    ...(Object.keys(config).length > 0 && { generation_config: config }),
    ...(answer && {
      response_format: {
        type: 'text',
        mime_type: 'application/json',
        ...(answer.schema && { schema: answer.schema }),
      },
    }),
    // The API stores unless it is told not to.
    store: target.options.store ?? chain !== undefined,
    ...(target.options.stream && { stream: true }),
  }
  return {
    path: '/interactions',
    body: target.options.extra ? mergeExtra(body, target.options.extra) : body,
    notes,
    toolNames: write.names.changed,
  }
}

/** A chain only continues where it is kept on: who does not want to store sends everything. */
function chainOf({ state }: Context, target: Target, notes: Note[]): { id: string; covers: number } | undefined {
  if (state?.kind !== 'interaction') return undefined
  if (target.options.store !== false) return state
  notes.push({ kind: 'dropped', what: 'the state at the provider', why: 'nothing is to be stored there' })
  return undefined
}

function declarations(context: Context, { target, names, notes }: Writing): JsonObject[] {
  const { tools, maxTools = context.tools.length } = target.capabilities
  if (!tools && context.tools.length > 0) {
    notes.push({ kind: 'dropped', what: 'all tools', why: 'the model takes no tools' })
    return []
  }
  if (context.tools.length > maxTools) {
    const what = `${context.tools.length - maxTools} tools`
    notes.push({ kind: 'dropped', what, why: `at most ${maxTools} can be declared`, at: `tools[${maxTools}]` })
  }
  const dialect = toolDialects[target.quirks.toolSchema ?? 'gemini']
  return context.tools.slice(0, maxTools).map((tool, index) => {
    const { description, schema } = fitTool(tool, dialect, `tools[${index}]`, notes)
    return {
      type: 'function',
      name: names.toWire(tool.name),
      ...(description !== undefined && { description }),
      parameters: schema,
    }
  })
}

function generationConfig(context: Context, write: Writing): JsonObject {
  const { target, notes } = write
  const { maxOutput, temperature, topP, stop, effort, parallelTools } = target.options
  if ((temperature !== undefined || topP !== undefined) && !target.capabilities.sampling) {
    const what = 'temperature and top_p'
    notes.push({ kind: 'dropped', what, why: 'the model samples as it likes', rule: 'G-14' })
  }
  if (parallelTools === false) {
    notes.push({ kind: 'dropped', what: 'one tool call at a time', why: 'the wire has no word for it' })
  }
  const level = effort === undefined ? undefined : thinkingLevel(effort, target, notes)
  const choice = toolChoice(context, write)
  return {
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
    ...(temperature !== undefined && target.capabilities.sampling && { temperature }),
    ...(topP !== undefined && target.capabilities.sampling && { top_p: topP }),
    ...(stop !== undefined && stop.length > 0 && { stop_sequences: stop }),
    ...(level !== undefined && { thinking_level: level }),
    ...(level !== undefined && effort !== 'none' && { thinking_summaries: 'auto' }),
    ...(choice !== undefined && { tool_choice: choice }),
  }
}

/** There is no level for not thinking, and none above `high`. */
const levels: Record<Effort, string> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

function thinkingLevel(asked: Effort, target: Target, notes: Note[]): string | undefined {
  const effort = nearestEffort(asked, target.capabilities.efforts)
  if (effort === undefined) {
    notes.push({ kind: 'dropped', what: `effort ${asked}`, why: 'the model cannot be asked for it' })
    return undefined
  }
  if (effort !== asked) {
    const why = `the model knows ${target.capabilities.efforts.join(', ')}`
    notes.push({ kind: 'changed', what: `effort ${asked} to ${effort}`, why })
  }
  return levels[effort]
}

function toolChoice(context: Context, { target, names, notes }: Writing): JsonObject | string | undefined {
  const choice = target.options.toolChoice
  if (choice === undefined) return undefined
  const drop = (why: string) => void notes.push({ kind: 'dropped', what: 'the tool choice', why })
  if (context.tools.length === 0 || !target.capabilities.tools) return drop('no tools are declared')
  if (choice === 'auto' || choice === 'none') return choice
  if (!target.capabilities.forcedTool) return drop('the model cannot be made to call a tool')
  if (choice === 'required') return 'any'
  if (!context.tools.some((tool) => tool.name === choice.tool)) return drop('the tool is not declared')
  return { allowed_tools: { mode: 'any', tools: [names.toWire(choice.tool)] } }
}
