// What the AI SDK requests besides the prompt, as our options. Anything without an equivalent becomes a warning.

import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider'
import type { Note, ToolSpec } from '../core/context.ts'
import type { JsonObject } from '../core/json.ts'
import type { Options } from '../settings/options.ts'
import { checkOptions } from '../settings/check.ts'
import { ourKey } from './read-prompt.ts'

export interface Wanted {
  options: Options
  tools: ToolSpec[]
  warnings: SharedV4Warning[]
}

export function readOptions(call: LanguageModelV4CallOptions): Wanted {
  const { maxOutputTokens, temperature, topP, stopSequences, toolChoice, responseFormat, reasoning } = call
  const { topK, seed, presencePenalty, frequencyPenalty } = call
  const warnings: SharedV4Warning[] = []
  const tools: ToolSpec[] = []
  for (const tool of call.tools ?? []) {
    if (tool.type === 'function') {
      const { name, description, inputSchema } = tool
      tools.push({ name, ...(description !== undefined && { description }), input: schemaOf(inputSchema) })
    } else {
      warnings.push({ type: 'unsupported', feature: `the provider's own tool ${tool.id}` })
    }
  }
  const requested: Options = {
    ...(maxOutputTokens !== undefined && { maxOutput: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(seed !== undefined && { seed }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(stopSequences && stopSequences.length > 0 && { stop: stopSequences }),
    // The SDK sends `auto` even if there is nothing to choose from.
    ...(toolChoice &&
      tools.length > 0 && { toolChoice: toolChoice.type === 'tool' ? { tool: toolChoice.toolName } : toolChoice.type }),
    ...(reasoning && reasoning !== 'provider-default' && { effort: reasoning }),
    ...(responseFormat?.type === 'json' && { answerSchema: schemaOf(responseFormat.schema ?? { type: 'object' }) }),
  }
  // Our own options can be passed unchanged, under our name.
  const synapseOptions = call.providerOptions?.[ourKey] as Options | undefined
  if (synapseOptions) checkOptions(synapseOptions)
  return { options: { ...requested, ...synapseOptions }, tools, warnings }
}

/** Notes about differences from the prompt, in the form that the SDK shows. */
export function warningsOf(notes: readonly Note[]): SharedV4Warning[] {
  return notes.map(({ kind, what, why }) => ({ type: 'other', message: `${kind} ${what}: ${why}` }))
}

function schemaOf(schema: object): JsonObject {
  const { $schema: _, ...rest } = JSON.parse(JSON.stringify(schema)) as JsonObject
  return rest
}
