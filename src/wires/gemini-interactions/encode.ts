// A context as the body of an interaction. Google stores the steps of an interaction on request, and nothing else: the
// system prompt, the tools and the configuration are sent with every request, even in a chain.

import type { Context, Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ServerTool } from '../../settings/options.ts'
import { declarations, knownEffort, seedField, thinkingLevels, toolChoice } from '../google/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { originsIn } from '../shared/body-bytes.ts'
import { mergeExtra } from '../shared/options.ts'
import type { Encoding } from '../shared/pieces.ts'
import { encodeSampling } from '../shared/sampling.ts'
import { textsIn } from '../shared/json-fields.ts'
import { systemTexts } from '../shared/text.ts'
import type { DeclaredServerTool, Encoded, Target } from '../wire.ts'
import { encodeSteps, encodingFor } from './encode-messages.ts'

export function encode(context: Context, target: Target): Encoded {
  const encoding = encodingFor(context, target)
  const { notes } = encoding
  const chain = chainOf(context, target, notes)
  const system = systemTexts(context, notes)
  const tools = declarations(context, encoding, (about, schema) => ({ type: 'function', ...about, parameters: schema }))
  const config = generationConfig(context, encoding)
  const answer = answerSchemaFor(target, tools.length > 0, 'gemini', notes)
  const input = encodeSteps(context, encoding, chain ? { from: chain.covers } : 'whole')
  const body: JsonObject = {
    model: target.model,
    ...(chain && { previous_interaction_id: chain.id }),
    ...(system.length > 0 && { system_instruction: system.join('\n\n') }),
    ...(tools.length > 0 && { tools }),
    input,
    ...(Object.keys(config).length > 0 && { generation_config: config }),
    ...(answer && {
      response_format: {
        type: 'text',
        mime_type: 'application/json',
        ...(answer.schema && { schema: answer.schema }),
      },
    }),
    // The API stores by default.
    store: target.options.store ?? chain !== undefined,
    ...(target.options.stream && { stream: true }),
  }
  return {
    path: '/interactions',
    body: mergeExtra(body, target.options.extra),
    notes,
    toolNames: encoding.names.changed,
    origins: originsIn('input', input),
  }
}

/** A chain only continues if it is stored: without storage everything is sent. */
function chainOf({ state }: Context, target: Target, notes: Note[]): { id: string; covers: number } | undefined {
  if (state?.kind !== 'interaction') return undefined
  if (target.options.store !== false) return state
  notes.push({ kind: 'dropped', what: 'the state at the provider', why: 'nothing may be stored there' })
  return undefined
}

function generationConfig(context: Context, encoding: Encoding): JsonObject {
  const { target, notes } = encoding
  const { maxOutput, temperature, topP, stop, effort, parallelTools } = target.options
  if ((temperature !== undefined || topP !== undefined) && !target.capabilities.sampling) {
    const what = 'temperature and top_p'
    notes.push({ kind: 'dropped', what, why: 'the model does not support sampling options', rule: 'G-14' })
  }
  if (parallelTools === false) {
    notes.push({ kind: 'dropped', what: 'one tool call at a time', why: 'the wire has no field for it' })
  }
  const level = effort === undefined ? undefined : knownEffort(effort, target, notes)
  const choice = choiceOf(context, encoding)
  return {
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
    ...(temperature !== undefined && target.capabilities.sampling && { temperature }),
    ...(topP !== undefined && target.capabilities.sampling && { top_p: topP }),
    ...encodeSampling(target, { seed: seedField }, notes),
    ...(stop !== undefined && stop.length > 0 && { stop_sequences: stop }),
    ...(level !== undefined && { thinking_level: thinkingLevels[level] }),
    ...(level !== undefined && effort !== 'none' && { thinking_summaries: 'auto' }),
    ...(choice !== undefined && { tool_choice: choice }),
  }
}

function choiceOf(context: Context, encoding: Encoding): JsonObject | string | undefined {
  const choice = toolChoice(context, encoding)
  if (typeof choice === 'object') return { allowed_tools: { mode: 'any', tools: [choice.tool] } }
  return choice === 'required' ? 'any' : choice
}

// Tools that Google runs itself, as declared in a request of the Interactions API. Forms checked 2026-11 (@google/genai
// 2.32).

export function declareServerTool(tool: ServerTool, provider: string): DeclaredServerTool | undefined {
  if (provider !== 'google') return undefined
  switch (tool.kind) {
    case 'web-search':
      return tool.domains ? undefined : { tool: { type: 'google_search' } }
    case 'code-execution':
      return { tool: { type: 'code_execution' } }
    case 'file-search':
      return { tool: { type: 'file_search', file_search_store_names: [...tool.stores] } }
    case 'mcp': {
      const headers = tool.authorization !== undefined && { headers: { authorization: `Bearer ${tool.authorization}` } }
      const allowed = tool.only && { allowed_tools: [{ mode: 'auto', tools: [...tool.only] }] }
      return { tool: { type: 'mcp_server', name: tool.name, url: tool.url, ...headers, ...allowed } }
    }
  }
}

export function readServerTool(tool: JsonObject): ServerTool | undefined {
  switch (tool.type) {
    case 'google_search':
      return { kind: 'web-search' }
    case 'code_execution':
      return { kind: 'code-execution' }
    case 'file_search':
      return { kind: 'file-search', stores: textsIn(tool.file_search_store_names) ?? [] }
    default:
      return undefined
  }
}
