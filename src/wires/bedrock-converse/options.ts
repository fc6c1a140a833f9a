// How a reply is requested. Options without a field of Converse go into the model's fields.

import type { Context, Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { nearestEffort } from '../shared/options.ts'
import type { Encoding } from '../shared/pieces.ts'
import { inRange } from '../shared/ranges.ts'
import { encodeSampling } from '../shared/sampling.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import type { Target } from '../wire.ts'
import { inside } from './types.ts'

export function encodeOptions(hasTools: boolean, target: Target, notes: Note[]): JsonObject {
  const reasoning = reasoningFields(target, notes)
  const config = inferenceConfig(target, reasoning?.withoutLimit === true, notes)
  const schema = answerSchemaFor(target, hasTools, 'anthropic', notes)?.schema
  return {
    ...(Object.keys(config).length > 0 && { inferenceConfig: config }),
    ...(reasoning && { additionalModelRequestFields: reasoning.fields }),
    ...(schema && {
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'answer', schema: JSON.stringify(schema) } },
        },
      },
    }),
  }
}

function inferenceConfig(target: Target, withoutLimit: boolean, notes: Note[]): JsonObject {
  const { options, capabilities } = target
  const { maxOutput, temperature, topP } = options
  const stop = options.stop?.filter((sequence) => sequence !== '') ?? []
  const sampling: JsonObject = encodeSampling(target, {}, notes)
  if (!capabilities.sampling) {
    if (temperature !== undefined || topP !== undefined) {
      notes.push({ kind: 'dropped', what: 'temperature and topP', why: 'the model does not support them' })
    }
  } else if (temperature !== undefined) {
    sampling.temperature = inRange('temperature', temperature, notes, 1)
    if (topP !== undefined) {
      notes.push({
        kind: 'dropped',
        what: 'topP',
        why: 'newer models do not accept it with temperature',
        rule: 'BM-10',
      })
    }
  } else if (topP !== undefined) sampling.topP = inRange('top_p', topP, notes)
  const limit = capabilities.maxOutput
  const tokens = maxOutput !== undefined && limit !== undefined ? Math.min(maxOutput, limit) : maxOutput
  if (tokens !== maxOutput) {
    notes.push({ kind: 'changed', what: `maxTokens to ${tokens}`, why: "that is the model's limit" })
  }
  if (withoutLimit && tokens !== undefined) {
    notes.push({
      kind: 'dropped',
      what: 'maxTokens',
      why: 'it cannot be combined with the highest effort',
      rule: 'BM-6',
    })
  }
  return {
    ...(tokens !== undefined && !withoutLimit && { maxTokens: tokens }),
    ...sampling,
    ...(stop.length > 0 && { stopSequences: stop }),
  }
}

interface Reasoning {
  fields: JsonObject
  withoutLimit?: boolean
}

function reasoningFields({ options, capabilities }: Target, notes: Note[]): Reasoning | undefined {
  const { effort } = options
  if (effort === undefined) return undefined
  const nearest = nearestEffort(effort, capabilities.efforts)
  if (nearest === undefined || capabilities.effortField === undefined) {
    notes.push({ kind: 'dropped', what: `effort ${effort}`, why: 'the model does not support it on this wire' })
    return undefined
  }
  if (nearest !== effort) {
    notes.push({ kind: 'changed', what: `effort from ${effort} to ${nearest}`, why: 'the model supports no other' })
  }
  switch (capabilities.effortField) {
    case 'reasoning_effort':
      return { fields: { reasoning_effort: nearest } }
    case 'output_config':
      return { fields: { thinking: { type: 'adaptive' }, output_config: { effort: nearest } } }
    case 'reasoningConfig':
      if (nearest === 'none') return { fields: { reasoningConfig: { type: 'disabled' } } }
      return {
        fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: nearest } },
        withoutLimit: nearest === 'high',
      }
  }
}

// Tools in the form of Converse. A history with calls needs them even if none is offered any more, and no tool choice
// forbids a call.

/** `ran`: server tools in the history. */
export function encodeTools(context: Context, ran: ReadonlySet<string>, encoding: Encoding): JsonObject | undefined {
  const { target, notes } = encoding
  const { capabilities, quirks } = target
  if (!capabilities.tools) {
    if (context.tools.length > 0) notes.push({ kind: 'dropped', what: 'tools', why: 'the model supports none' })
    return undefined
  }
  const offered = context.tools.slice(0, capabilities.maxTools)
  if (offered.length < context.tools.length) {
    const what = `${context.tools.length - offered.length} tools after the first ${offered.length}`
    notes.push({ kind: 'dropped', what, why: 'the model supports no more' })
  }
  const dialect = toolDialects[quirks.toolSchema ?? 'anthropic']
  const tools = offered.map((tool, index) => {
    const { description, schema } = fitTool(tool, dialect, `tools[${index}]`, notes)
    return spec(encoding.names.toWire(tool.name), schema, description || undefined)
  })
  if (tools.length === 0) tools.push(...calledTools(context, encoding))
  for (const name of ran) {
    tools.push({ systemTool: { name } })
    const why = 'the service ran it before, and a history with tool turns is refused without its tools'
    notes.push({ kind: 'added', what: `tool ${name}`, why, rule: 'BC-5' })
  }
  if (tools.length === 0) return undefined
  const choice = toolChoice(tools, context.tools.length > 0, encoding)
  return { tools, ...(choice && { toolChoice: choice }) }
}

function spec(name: string, json: JsonObject, description?: string): JsonObject {
  return { toolSpec: { name, ...(description !== undefined && { description }), inputSchema: { json } } }
}

function calledTools(context: Context, { names, notes }: Encoding): JsonObject[] {
  const called = new Set<string>()
  for (const { role, parts } of context.messages) {
    if (role !== 'assistant') continue
    for (const part of parts) if (part.type === 'tool-call') called.add(part.name)
  }
  if (called.size === 0) return []
  const why = 'a history with tool turns is refused without tools; the wire has no way to forbid calls of them'
  notes.push({ kind: 'added', what: `tools ${[...called].join(', ')}`, why, rule: 'BC-5' })
  return [...called].map((name) => spec(names.toWire(name), { type: 'object' }))
}

function toolChoice(tools: readonly JsonObject[], offered: boolean, encoding: Encoding): JsonObject | undefined {
  const { options, capabilities } = encoding.target
  const requested = options.toolChoice
  if (!offered || requested === undefined) return undefined
  if (requested === 'none') {
    const why = 'the wire has no way to forbid calls'
    encoding.notes.push({ kind: 'dropped', what: 'tool choice "none"', why, rule: 'BC-5' })
    return undefined
  }
  if (requested === 'auto') return { auto: {} }
  const name = typeof requested === 'object' ? encoding.names.toWire(requested.tool) : undefined
  const isDeclared = name === undefined || tools.some((tool) => inside(tool, 'toolSpec')?.name === name)
  if (capabilities.forcedTool && isDeclared) return name === undefined ? { any: {} } : { tool: { name } }
  const why = isDeclared ? 'the model cannot be forced to call a tool' : 'there is no tool of this name'
  encoding.notes.push({ kind: 'changed', what: `tool choice ${JSON.stringify(requested)} to auto`, why, rule: 'BM-8' })
  return { auto: {} }
}
