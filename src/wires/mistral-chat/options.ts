// How a reply is requested, in Mistral's fields. The body is closed, so only requested options are sent.

import type { ToolSpec } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Options } from '../../settings/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { nearestEffort } from '../shared/options.ts'
import { penaltyRange } from '../shared/ranges.ts'
import { encodeSampling } from '../shared/sampling.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { functionTools, type Encoding } from '../message-list/dialect.ts'

export function encodeOptions(tools: readonly ToolSpec[], encoding: Encoding): JsonObject {
  const { capabilities, quirks, options } = encoding.target
  const drop = (what: string, why: string) => encoding.notes.push({ kind: 'dropped', what, why })

  if (!capabilities.sampling && (options.temperature !== undefined || options.topP !== undefined)) {
    drop('temperature and top_p', 'the model does not support them')
  }
  if (options.store) drop('store', 'the wire stores no replies')

  const fields = toolFields(tools, encoding, drop)
  return {
    ...fields,
    ...(options.maxOutput !== undefined && { max_tokens: options.maxOutput }),
    ...(capabilities.sampling && options.temperature !== undefined && { temperature: options.temperature }),
    ...(capabilities.sampling && options.topP !== undefined && { top_p: options.topP }),
    ...encodeSampling(encoding.target, samplingFields, encoding.notes),
    ...(options.stop && options.stop.length > 0 && { stop: options.stop }),
    ...encodeEffort(encoding),
    ...answerFormat(fields.tools !== undefined, encoding),
    ...(options.cacheKey !== undefined && quirks.cacheKey !== false && { prompt_cache_key: options.cacheKey }),
    ...(options.stream !== undefined && { stream: options.stream }),
  }
}

const samplingFields = {
  seed: { name: 'random_seed', least: 0, most: Number.MAX_SAFE_INTEGER },
  presencePenalty: { name: 'presence_penalty', ...penaltyRange },
  frequencyPenalty: { name: 'frequency_penalty', ...penaltyRange },
}

/** Of two equally near efforts, `none` comes last: it turns reasoning off. */
function encodeEffort({ target, notes }: Encoding): JsonObject {
  const { effort } = target.options
  if (effort === undefined) return {}
  const level = nearestEffort(effort, target.capabilities.efforts, (candidate) => (candidate === 'none' ? 1 : 0))
  if (level === undefined) {
    notes.push({ kind: 'dropped', what: `effort "${effort}"`, why: 'the model has no efforts' })
    return {}
  }
  if (level !== effort) {
    const why = 'the model does not support it'
    notes.push({ kind: 'changed', what: `effort "${effort}" to "${level}"`, why })
  }
  return { reasoning_effort: level }
}

function answerFormat(hasTools: boolean, encoding: Encoding): JsonObject {
  const answer = answerSchemaFor(encoding.target, hasTools, 'mistral', encoding.notes)
  if (!answer) return {}
  if (!answer.schema) return { response_format: { type: 'json_object' } }
  const { schema } = answer
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } }
}

type Drop = (what: string, why: string) => void

function toolFields(tools: readonly ToolSpec[], encoding: Encoding, drop: Drop): JsonObject {
  const { capabilities, quirks, options } = encoding.target
  if (tools.length === 0) return {}
  if (!capabilities.tools) {
    drop('tools', 'the model supports no tools')
    return {}
  }
  const sent = tools.slice(0, capabilities.maxTools ?? tools.length)
  if (sent.length < tools.length) {
    encoding.notes.push({
      kind: 'dropped',
      what: `${tools.length - sent.length} tools after the first ${sent.length}`,
      why: 'the wire allows no more',
      rule: 'T-13',
    })
  }
  const choice = toolChoice(options.toolChoice, encoding, drop)
  return {
    tools: functionTools(sent, toolDialects[quirks.toolSchema ?? 'mistral'], encoding),
    ...(choice !== undefined && { tool_choice: choice }),
    ...(options.parallelTools !== undefined &&
      !quirks.noParallelTools && { parallel_tool_calls: options.parallelTools }),
  }
}

function toolChoice(choice: Options['toolChoice'], encoding: Encoding, drop: Drop): string | JsonObject | undefined {
  if (choice === undefined) return undefined
  const { capabilities, quirks } = encoding.target
  if (quirks.noToolChoice || (!capabilities.forcedTool && choice !== 'auto' && choice !== 'none')) {
    if (choice !== 'auto') drop('tool choice', 'the host does not accept it')
    return undefined
  }
  if (typeof choice === 'object') return { type: 'function', function: { name: encoding.names.toWire(choice.tool) } }
  return choice === 'required' ? 'any' : choice
}
