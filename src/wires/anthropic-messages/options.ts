// How a reply is requested: output, thinking, sampling, tool choice. What a model does not support is left out with a
// note. `max_tokens` is required on this wire.

import type { JsonObject } from '../../core/json.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { isBlank } from '../shared/text.ts'
import { inRange } from '../shared/ranges.ts'
import { budgetOf, planThinking, type Loop, type Thinking } from './thinking.ts'
import type { Declared } from './tools.ts'
import type { Writer } from './writer.ts'

export interface EncodedOptions {
  maxTokens: number
  thinking: Thinking
  /** All fields but `model`, `max_tokens`, `thinking` and the conversation. */
  fields: JsonObject
}

export function encodeOptions(declared: Declared, loop: Loop, writer: Writer): EncodedOptions {
  const { options } = writer.target
  const choice = toolChoice(declared, writer)
  const forced = choice?.type === 'any' || choice?.type === 'tool'
  const maxTokens = maxTokensOf(writer)
  const thinking = planThinking(loop, maxTokens, forced, writer)
  const schema = answerSchemaFor(writer.target, declared.tools.length > 0, 'anthropic', writer.notes)?.schema
  const output = {
    ...(thinking.effort !== undefined && { effort: thinking.effort }),
    ...(schema && { format: { type: 'json_schema', schema } }),
  }
  const stop = stopSequences(writer)
  return {
    maxTokens,
    thinking,
    fields: {
      ...(choice && { tool_choice: choice }),
      ...(Object.keys(output).length > 0 && { output_config: output }),
      ...sampling(thinking, writer),
      ...(stop.length > 0 && { stop_sequences: stop }),
      ...(options.stream !== undefined && { stream: options.stream }),
    },
  }
}

/** Enough for a long answer, and a limit on the cost of a runaway reply. */
const usualOutput = 32_000
const unknownOutput = 8192

function maxTokensOf(writer: Writer): number {
  const { options, capabilities } = writer.target
  if (options.maxOutput === undefined) {
    return Math.min(capabilities.maxOutput ?? unknownOutput, usualOutput + budgetOf(writer))
  }
  if (capabilities.maxOutput === undefined || options.maxOutput <= capabilities.maxOutput) return options.maxOutput
  const what = `max_tokens from ${options.maxOutput} to ${capabilities.maxOutput}`
  writer.notes.push({ kind: 'changed', what, why: 'the model gives no more' })
  return capabilities.maxOutput
}

function toolChoice(declared: Declared, writer: Writer): JsonObject | undefined {
  const { options, capabilities, quirks } = writer.target
  if (declared.tools.length === 0 || quirks.noToolChoice) return undefined
  if (declared.historyOnly || options.toolChoice === 'none') return { type: 'none' }
  const single = options.parallelTools === false && !quirks.noParallelTools ? { disable_parallel_tool_use: true } : {}
  const wanted = options.toolChoice
  if (wanted === 'required' || typeof wanted === 'object') {
    const name = typeof wanted === 'object' ? writer.names.toWire(wanted.tool) : undefined
    const known = name === undefined || declared.tools.some((tool) => tool.name === name)
    if (capabilities.forcedTool && known) {
      return name === undefined ? { type: 'any', ...single } : { type: 'tool', name, ...single }
    }
    const what = `tool choice ${JSON.stringify(wanted)} to auto`
    const why = known ? 'the model cannot be made to call a tool' : 'there is no tool of this name'
    writer.notes.push({ kind: 'changed', what, why, rule: 'R-21' })
    return { type: 'auto', ...single }
  }
  return wanted === 'auto' || 'disable_parallel_tool_use' in single ? { type: 'auto', ...single } : undefined
}

function sampling(thinking: Thinking, writer: Writer): JsonObject {
  const { options, capabilities } = writer.target
  const { temperature, topP } = options
  const drop = (what: string, why: string): void => {
    writer.notes.push({ kind: 'dropped', what, why })
  }
  if (temperature === undefined && topP === undefined) return {}
  if (!capabilities.sampling || thinking.state === 'on') {
    drop(
      'temperature and top_p',
      capabilities.sampling ? 'they do not go with thinking' : 'the model does not take them',
    )
    return {}
  }
  if (temperature === undefined) return topP === undefined ? {} : { top_p: inRange('top_p', topP, writer.notes) }
  if (topP !== undefined) drop('top_p', 'it does not go with temperature')
  return { temperature: inRange('temperature', temperature, writer.notes, 1) }
}

function stopSequences(writer: Writer): string[] {
  const { stop = [] } = writer.target.options
  const sequences = stop.filter((sequence) => !isBlank(sequence))
  if (sequences.length < stop.length) {
    writer.notes.push({ kind: 'dropped', what: 'blank stop sequences', why: 'the wire refuses them' })
  }
  return sequences
}
