// How a reply is requested, in the fields of this wire. What the model would refuse is left out, with a note.

import { createHash } from 'node:crypto'
import type { ToolSpec } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Options } from '../../settings/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { effortRank, nearestEffort } from '../shared/options.ts'
import { inRange, penaltyRange } from '../shared/ranges.ts'
import { encodeSampling } from '../shared/sampling.ts'
import { functionTools, type Encoding } from '../message-list/dialect.ts'

export function encodeOptions(tools: readonly ToolSpec[], encoding: Encoding): JsonObject {
  const { capabilities, quirks, options } = encoding.target
  const sampling = capabilities.sampling
  const toolFields = encodeTools(tools, encoding)
  if (!sampling && (options.temperature !== undefined || options.topP !== undefined)) {
    drop(encoding, 'temperature and top_p', 'the model does not support them', 'C16')
  }
  return {
    ...toolFields,
    ...encodeOutputLimit(encoding),
    ...(sampling &&
      options.temperature !== undefined && {
        temperature: inRange('temperature', options.temperature, encoding.notes),
      }),
    ...(sampling && options.topP !== undefined && { top_p: inRange('top_p', options.topP, encoding.notes) }),
    ...encodeSampling(encoding.target, samplingFields, encoding.notes),
    ...(options.stop && options.stop.length > 0 && { stop: encodeStop(options.stop, encoding) }),
    ...encodeEffort(toolFields.tools !== undefined, encoding),
    ...answerFormat(toolFields.tools !== undefined, encoding),
    ...(options.cacheKey !== undefined &&
      quirks.cacheKey && { prompt_cache_key: cacheKey(options.cacheKey, encoding) }),
    ...(options.store !== undefined && { store: options.store }),
    ...(options.stream && {
      stream: true,
      ...(!quirks.noStreamOptions && { stream_options: { include_usage: true } }),
    }),
  }
}

/** `top_k` is not OpenAI's, but that of many compatible servers. */
const samplingFields = {
  topK: 'top_k',
  seed: 'seed',
  presencePenalty: { name: 'presence_penalty', ...penaltyRange },
  frequencyPenalty: { name: 'frequency_penalty', ...penaltyRange },
}

function drop(encoding: Encoding, what: string, why: string, rule?: string): void {
  encoding.notes.push({ kind: 'dropped', what, why, ...(rule && { rule }) })
}

function change(encoding: Encoding, what: string, why: string, rule?: string): void {
  encoding.notes.push({ kind: 'changed', what, why, ...(rule && { rule }) })
}

function encodeTools(tools: readonly ToolSpec[], encoding: Encoding): JsonObject {
  const { capabilities, quirks, options } = encoding.target
  if (tools.length === 0) return {}
  if (!capabilities.tools) {
    drop(encoding, 'tools', 'the model supports no tools')
    return {}
  }
  const sent = tools.slice(0, capabilities.maxTools ?? tools.length)
  if (sent.length < tools.length) {
    drop(
      encoding,
      `${tools.length - sent.length} tools after the first ${sent.length}`,
      'the wire allows no more',
      'C10',
    )
  }
  if (sent.length === 0) return {}
  if (options.parallelTools !== undefined && quirks.noParallelTools) {
    drop(encoding, 'parallel_tool_calls', 'the host does not accept it')
  }
  return {
    tools: functionTools(sent, toolDialects[quirks.toolSchema ?? 'openai'], encoding, (tool, name) =>
      isCustom(tool, encoding) ? customTool(tool, name) : undefined,
    ),
    ...encodeToolChoice(options.toolChoice, sent, encoding),
    ...(options.parallelTools !== undefined &&
      !quirks.noParallelTools && { parallel_tool_calls: options.parallelTools }),
  }
}

/** Elsewhere a free-form tool is a function. */
function isCustom({ kind }: ToolSpec, { target }: Encoding): boolean {
  return kind === 'free-form' && target.capabilities.toolKinds === true
}

function customTool({ description, grammar }: ToolSpec, name: string): JsonObject {
  const format = grammar ? { type: 'grammar', grammar: { ...grammar } } : { type: 'text' }
  return { type: 'custom', custom: { name, ...(description !== undefined && { description }), format } }
}

function encodeToolChoice(choice: Options['toolChoice'], sent: readonly ToolSpec[], encoding: Encoding): JsonObject {
  if (choice === undefined) return {}
  const { capabilities, quirks } = encoding.target
  const forced = choice === 'required' || typeof choice === 'object'
  if (quirks.noToolChoice || (forced && !capabilities.forcedTool)) {
    if (choice !== 'auto') drop(encoding, 'tool choice', 'the host does not accept it')
    return {}
  }
  if (typeof choice === 'string') return { tool_choice: choice }
  const tool = sent.find((candidate) => candidate.name === choice.tool)
  if (!tool) {
    drop(encoding, `choice of the tool ${JSON.stringify(choice.tool)}`, 'no such tool is offered')
    return {}
  }
  const type = isCustom(tool, encoding) ? 'custom' : 'function'
  return { tool_choice: { type, [type]: { name: encoding.names.toWire(choice.tool) } } }
}

function encodeOutputLimit(encoding: Encoding): JsonObject {
  const { capabilities, options } = encoding.target
  if (options.maxOutput === undefined) return {}
  const limit = capabilities.maxOutput ?? options.maxOutput
  if (limit < options.maxOutput) change(encoding, `output limit to ${limit}`, 'the model cannot write more')
  return { [capabilities.outputField ?? 'max_completion_tokens']: Math.min(limit, options.maxOutput) }
}

/** More than four are refused (checked 2026-11). */
function encodeStop(stop: readonly string[], encoding: Encoding): string[] {
  if (stop.length > 4) drop(encoding, `${stop.length - 4} stop texts after the first 4`, 'the wire allows no more')
  return stop.slice(0, 4)
}

function encodeEffort(hasTools: boolean, encoding: Encoding): JsonObject {
  const { capabilities, quirks, options } = encoding.target
  const { effort } = options
  if (hasTools && capabilities.effortWithTools) {
    if (capabilities.effortWithTools === 'omitted') {
      if (effort !== undefined) drop(encoding, 'effort', 'the model refuses it together with tools on this wire', 'C13')
      return {}
    }
    if (effort !== 'none') {
      const why = 'the model supports tools on this wire only without reasoning'
      encoding.notes.push({ kind: effort ? 'changed' : 'added', what: 'reasoning_effort "none"', why, rule: 'C14' })
    }
    return { reasoning_effort: 'none' }
  }
  if (effort === undefined) return {}
  const thinking = quirks.thinkingSwitch
    ? { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } }
    : undefined
  if (thinking && effort === 'none') return thinking
  // Of two that are equally near, the less extreme: DeepSeek maps medium and xhigh to high (checked 2026-11).
  const level = nearestEffort(effort, capabilities.efforts, (candidate) => Math.abs(effortRank(candidate) - middleRank))
  if (level === undefined) {
    if (!thinking) drop(encoding, `effort "${effort}"`, 'the model does not support it')
    return thinking ?? {}
  }
  if (level !== effort) change(encoding, `effort "${effort}" to "${level}"`, 'the model does not support it', 'C17')
  return { ...thinking, reasoning_effort: level }
}

/** Between medium and high. */
const middleRank = 3.5

function answerFormat(hasTools: boolean, encoding: Encoding): JsonObject {
  const answer = answerSchemaFor(encoding.target, hasTools, 'openai', encoding.notes)
  if (!answer) return {}
  if (!answer.schema) return { response_format: { type: 'json_object' } }
  const { schema, strict } = answer
  return {
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, ...(strict && { strict }) } },
  }
}

/** Up to 64 characters (C18). */
function cacheKey(key: string, encoding: Encoding): string {
  if (key.length <= 64) return key
  change(encoding, 'cache key to its hash', 'the wire accepts 64 characters', 'C18')
  return createHash('sha256').update(key).digest('hex')
}
