// How a reply is requested, in Ollama's fields. There is no tool choice: a tool can be offered or not, never forced.

import type { Note, ToolSpec } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Options } from '../../settings/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { encodeSampling } from '../shared/sampling.ts'
import { functionTools, type Encoding } from '../message-list/dialect.ts'
import type { Target } from '../wire.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { thinkLevels } from './types.ts'

export function encodeOptions(tools: readonly ToolSpec[], encoding: Encoding): JsonObject {
  const { target, notes } = encoding
  const { capabilities, options } = target
  const drop = (what: string, why: string) => notes.push({ kind: 'dropped', what, why })

  if (!capabilities.sampling && (options.temperature !== undefined || options.topP !== undefined)) {
    drop('temperature and top_p', 'the model does not support them')
  }
  if (options.parallelTools !== undefined && tools.length > 0) drop('parallel tools', 'the wire has no field for it')
  if (options.store) drop('store', 'the server keeps no replies')
  const think = thinkOf(options, target, drop)
  const { contextWindow } = capabilities
  const settings = {
    // The context window that is assumed here must be used by the server: its default is a few thousand tokens.
    ...(contextWindow !== undefined && { num_ctx: contextWindow }),
    ...(options.maxOutput !== undefined && { num_predict: options.maxOutput }),
    ...(capabilities.sampling && options.temperature !== undefined && { temperature: options.temperature }),
    ...(capabilities.sampling && options.topP !== undefined && { top_p: options.topP }),
    ...encodeSampling(target, samplingFields, notes),
    ...(options.stop && options.stop.length > 0 && { stop: options.stop }),
  }
  const offered = offeredTools(tools, target, drop)
  return {
    ...(offered.length > 0 && {
      tools: functionTools(offered, toolDialects[target.quirks.toolSchema ?? 'ollama'], encoding),
    }),
    ...(think !== undefined && { think }),
    ...formatOf(offered.length > 0, target, notes),
    ...(Object.keys(settings).length > 0 && { options: settings }),
    truncate: false,
    shift: false,
    // The server streams by default (checked 2026-11).
    stream: options.stream ?? false,
  }
}

const samplingFields = {
  topK: 'top_k',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
}

type Drop = (what: string, why: string) => void

/** A model with one effort besides `none` is switched on and off; one with several gets the level. */
function thinkOf(options: Options, target: Target, drop: Drop): boolean | string | undefined {
  const { effort } = options
  if (effort === undefined) return undefined
  const levels = target.capabilities.efforts.filter((level) => level !== 'none')
  if (effort === 'none') return false
  if (levels.length === 1) return true
  if (levels.includes(effort) && thinkLevels.some((level) => level === effort)) return effort
  drop(
    `effort ${JSON.stringify(effort)}`,
    levels.length === 0 ? 'the model does not support thinking' : 'the model does not support it',
  )
  return undefined
}

function offeredTools(tools: readonly ToolSpec[], target: Target, drop: Drop): readonly ToolSpec[] {
  const { toolChoice } = target.options
  if (tools.length === 0) return []
  if (!target.capabilities.tools) {
    drop('tools', 'the model supports no tools')
    return []
  }
  if (toolChoice === 'none') {
    drop('tools', 'none may be called, and the only way to say so is not to offer them')
    return []
  }
  if (toolChoice !== undefined && toolChoice !== 'auto') drop('tool choice', 'the wire cannot force a call')
  return tools
}

/** A schema for the answer, or only JSON mode. */
function formatOf(hasTools: boolean, target: Target, notes: Note[]): JsonObject {
  const answer = answerSchemaFor(target, hasTools, 'compatible', notes)
  return answer ? { format: answer.schema ?? 'json' } : {}
}
