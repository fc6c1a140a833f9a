// A context as the body of generateContent. The model is in the path and the key in a header: neither is in the body,
// and the key is never in the URL, where logs would record it.

import type { Context, Note } from '../../core/context.ts'
import { badInput } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Effort, ServerTool } from '../../settings/options.ts'
import { geminiVersion } from '../google/models.ts'
import { declarations, knownEffort, seedField, thinkingLevels, toolChoice } from '../google/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { originsIn } from '../shared/body-bytes.ts'
import { mergeExtra } from '../shared/options.ts'
import type { Encoding } from '../shared/pieces.ts'
import { penaltyRange } from '../shared/ranges.ts'
import { encodeSampling } from '../shared/sampling.ts'
import { textsIn, valueAt } from '../shared/json-fields.ts'
import { systemTexts } from '../shared/text.ts'
import type { DeclaredServerTool, Encoded, Target } from '../wire.ts'
import { encodeContents, encodingFor } from './encode-messages.ts'

export function encode(context: Context, target: Target): Encoded {
  const encoding = encodingFor(context, target)
  const { notes } = encoding
  const system = systemTexts(context, notes)
  const tools = declarations(context, encoding, (about, schema) => ({
    ...about,
    // `parameters` is an OpenAPI subset that refuses unknown keywords (G-12); this one is JSON Schema.
    parametersJsonSchema: schema,
  }))
  const config = generationConfig(tools.length > 0, target, notes)
  const choice = toolConfig(context, encoding)
  const contents = encodeContents(context, encoding, 'whole')
  const body: JsonObject = {
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    contents,
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools }] }),
    ...(choice && { toolConfig: { functionCallingConfig: choice } }),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
  }
  noteTheRest(target, notes)
  return {
    path: pathOf(target),
    body: mergeExtra(body, target.options.extra),
    notes,
    toolNames: encoding.names.changed,
    origins: originsIn('contents', contents),
  }
}

function pathOf(target: Target): string {
  const name = target.model.includes('/') ? target.model : `models/${target.model}`
  const segments = name.split('/')
  // The only segments that no encoding makes safe: they would lead to another path of the host.
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw badInput(`"${target.model}" is not the name of a model: "." and ".." cannot be parts of one.`)
  const path = segments.map(encodeURIComponent).join('/')
  return target.options.stream ? `/${path}:streamGenerateContent?alt=sse` : `/${path}:generateContent`
}

function toolConfig(context: Context, encoding: Encoding): JsonObject | undefined {
  const choice = toolChoice(context, encoding)
  if (choice === undefined) return undefined
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.tool] }
  return { mode: choice === 'required' ? 'ANY' : choice.toUpperCase() }
}

function generationConfig(hasTools: boolean, target: Target, notes: Note[]): JsonObject {
  const { maxOutput, temperature, topP, stop, effort } = target.options
  const sampled = temperature !== undefined || topP !== undefined
  if (sampled && !target.capabilities.sampling) {
    const what = 'temperature and topP'
    notes.push({ kind: 'dropped', what, why: 'the model does not support sampling options', rule: 'G-14' })
  }
  const answer = answerSchemaFor(target, hasTools, 'gemini', notes)
  const thinking = effort === undefined ? undefined : thinkingConfig(effort, target, notes)
  return {
    ...(maxOutput !== undefined && { maxOutputTokens: maxOutput }),
    ...(temperature !== undefined && target.capabilities.sampling && { temperature }),
    ...(topP !== undefined && target.capabilities.sampling && { topP }),
    ...encodeSampling(target, samplingFields, notes),
    ...(stop !== undefined && stop.length > 0 && { stopSequences: stop }),
    ...(thinking && { thinkingConfig: thinking }),
    ...(answer && {
      responseMimeType: 'application/json',
      ...(answer.schema && { responseJsonSchema: answer.schema }),
    }),
  }
}

const samplingFields = {
  topK: 'topK',
  seed: seedField,
  presencePenalty: { name: 'presencePenalty', ...penaltyRange },
  frequencyPenalty: { name: 'frequencyPenalty', ...penaltyRange },
}

/** The thinking budget for models before Gemini 3, which refuse a level; all of them accept up to 24,576. */
const budgets: Record<Effort, number> = {
  none: 0,
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
}

/** Level and budget together are refused (G-14), so a model gets the one that its generation supports. */
function thinkingConfig(requested: Effort, target: Target, notes: Note[]): JsonObject | undefined {
  const effort = knownEffort(requested, target, notes)
  if (effort === undefined) return undefined
  const version = geminiVersion(target.model)
  const old = version !== undefined && version < 300
  return {
    ...(requested !== 'none' && { includeThoughts: true }),
    ...(old ? { thinkingBudget: budgets[effort] } : { thinkingLevel: thinkingLevels[effort] }),
  }
}

function noteTheRest({ options }: Target, notes: Note[]): void {
  if (options.parallelTools === false) {
    notes.push({ kind: 'dropped', what: 'one tool call at a time', why: 'the wire has no field for it' })
  }
  if (options.store === true) {
    notes.push({ kind: 'dropped', what: 'the request to store the reply', why: 'the wire has no state' })
  }
}

// Tools that Google runs itself, as declared in a request of generateContent. Forms checked 2026-11 (@google/genai
// 2.32).

export function declareServerTool(tool: ServerTool, provider: string): DeclaredServerTool | undefined {
  if (provider !== 'google') return undefined
  switch (tool.kind) {
    case 'web-search':
      return tool.domains ? undefined : { tool: { googleSearch: {} } }
    case 'code-execution':
      return { tool: { codeExecution: {} } }
    case 'file-search':
      return { tool: { fileSearch: { fileSearchStoreNames: [...tool.stores] } } }
    case 'mcp':
      return undefined
  }
}

export function readServerTool(tool: JsonObject): ServerTool | undefined {
  if (tool.googleSearch !== undefined) return { kind: 'web-search' }
  if (tool.codeExecution !== undefined) return { kind: 'code-execution' }
  const stores = textsIn(valueAt(tool, 'fileSearch', 'fileSearchStoreNames'))
  return stores && { kind: 'file-search', stores }
}
