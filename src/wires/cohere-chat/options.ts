// How a reply is requested, in Cohere's fields. An unknown field is refused, so only requested options are sent.

import type { Note, ToolSpec } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Effort, Options } from '../../settings/options.ts'
import type { Encoding } from '../message-list/dialect.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { encodeSampling } from '../shared/sampling.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import { mostStopSequences } from './types.ts'

export function encodeOptions(tools: readonly ToolSpec[], encoding: Encoding): JsonObject {
  const { options } = encoding.target
  const drop = noteDropsIn(encoding.notes)
  if (options.store) drop('store', 'the wire stores no replies')
  const fields = toolFields(tools, encoding, drop)
  const { stop = [] } = options
  if (stop.length > mostStopSequences) {
    drop(`${stop.length - mostStopSequences} stop sequences`, `the wire accepts ${mostStopSequences}`, 'CO-13')
  }
  return {
    ...fields,
    ...(options.maxOutput !== undefined && { max_tokens: options.maxOutput }),
    ...samplingFields(encoding, drop),
    ...(stop.length > 0 && { stop_sequences: stop.slice(0, mostStopSequences) }),
    ...thinkingField(encoding, drop),
    ...answerFormat(fields.tools !== undefined, encoding),
    ...(options.stream !== undefined && { stream: options.stream }),
  }
}

type Drop = (what: string, why: string, rule?: string) => void

function noteDropsIn(notes: Note[]): Drop {
  return (what, why, rule) => notes.push({ kind: 'dropped', what, why, ...(rule && { rule }) })
}

/** Ranges checked 2026-11 (CO-13). */
const rareFields = {
  topK: { name: 'k', least: 0, most: 500 },
  seed: { name: 'seed', least: 0, most: Number.MAX_SAFE_INTEGER },
  presencePenalty: { name: 'presence_penalty', least: 0, most: 1 },
  frequencyPenalty: { name: 'frequency_penalty', least: 0, most: 1 },
}

function samplingFields(encoding: Encoding, drop: Drop): JsonObject {
  const { target, notes } = encoding
  return { ...temperatureFields(encoding, drop), ...encodeSampling(target, rareFields, notes) }
}

function temperatureFields({ target, notes }: Encoding, drop: Drop): JsonObject {
  const { temperature, topP } = target.options
  if (!target.capabilities.sampling) {
    if (temperature !== undefined || topP !== undefined) drop('temperature and p', 'the model does not support them')
    return {}
  }
  const within = (name: string, value: number, least: number, most: number): number => {
    const fitted = Math.min(most, Math.max(least, value))
    if (fitted !== value) {
      const why = `the wire accepts ${least} to ${most}`
      notes.push({ kind: 'changed', what: `${name} ${value} to ${fitted}`, why, rule: 'CO-13' })
    }
    return fitted
  }
  return {
    ...(temperature !== undefined && { temperature: within('temperature', temperature, 0, 1) }),
    ...(topP !== undefined && { p: within('p', topP, 0.01, 0.99) }),
  }
}

/** The thinking budget. The highest effort has no limit of ours. */
const budgets: Partial<Record<Effort, number>> = { minimal: 1024, low: 2048, medium: 8192 }

function thinkingField({ target }: Encoding, drop: Drop): JsonObject {
  const { effort } = target.options
  if (effort === undefined) return {}
  if (!target.capabilities.efforts.includes(effort)) {
    drop(`effort ${JSON.stringify(effort)}`, 'the model does not support this effort')
    return {}
  }
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  const budget = budgets[effort]
  return { thinking: { type: 'enabled', ...(budget !== undefined && { token_budget: budget }) } }
}

function answerFormat(hasTools: boolean, { target, notes }: Encoding): JsonObject {
  const answer = answerSchemaFor(target, hasTools, 'cohere', notes)
  if (!answer) return {}
  return { response_format: { type: 'json_object', ...(answer.schema && { json_schema: answer.schema }) } }
}

function toolFields(tools: readonly ToolSpec[], encoding: Encoding, drop: Drop): JsonObject {
  const { capabilities, quirks, options } = encoding.target
  if (tools.length === 0) return {}
  if (!capabilities.tools) {
    drop('tools', 'the model supports no tools')
    return {}
  }
  if (options.parallelTools === false) drop('parallel tools', 'the wire has no field for it')
  const { offered, choice } = chooseTools(options.toolChoice, tools, encoding, drop)
  const dialect = toolDialects[quirks.toolSchema ?? 'cohere']
  return {
    tools: offered.map((tool) => {
      const { description, schema } = fitTool(tool, dialect, `tools[${tools.indexOf(tool)}]`, encoding.notes)
      const name = encoding.names.toWire(tool.name)
      const fn = { name, ...(description !== undefined && { description }), parameters: schema }
      return { type: 'function', function: fn }
    }),
    ...(choice !== undefined && { tool_choice: choice }),
  }
}

interface Chosen {
  offered: readonly ToolSpec[]
  choice?: string
}

/** The only way to choose a tool is to offer no other (CO-5). */
function chooseTools(
  choice: Options['toolChoice'],
  tools: readonly ToolSpec[],
  encoding: Encoding,
  drop: Drop,
): Chosen {
  const { capabilities, quirks } = encoding.target
  if (choice === undefined || choice === 'auto') return { offered: tools }
  if (quirks.noToolChoice || (!capabilities.forcedTool && choice !== 'none')) {
    drop('tool choice', 'the model does not support it')
    return { offered: tools }
  }
  if (choice === 'none') return { offered: tools, choice: 'NONE' }
  if (choice === 'required') return { offered: tools, choice: 'REQUIRED' }
  const named = tools.filter((tool) => tool.name === choice.tool)
  if (named.length > 0 && named.length < tools.length) {
    const why = 'a call of one tool can only be forced by offering no other'
    drop(`${tools.length - named.length} tools`, why, 'CO-5')
  }
  return { offered: named.length > 0 ? named : tools, choice: 'REQUIRED' }
}
