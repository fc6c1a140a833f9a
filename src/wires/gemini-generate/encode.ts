// A context as the body of generateContent. The model is in the path and the key in a header: neither is in the body,
// and the key is never in the URL, where logs would keep it.

import { badInput } from '../../core/error.ts'
import type { Context, Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Effort } from '../../settings/options.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { geminiVersion, mergeExtra, nearestEffort } from '../shared/gemini.ts'
import type { Encoded, Target } from '../wire.ts'
import { cleanText } from '../shared/text.ts'
import { toolDialects } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import { encodeContents } from './encode-contents.ts'
import { writing, type Writing } from './encode-reply.ts'

export function encode(context: Context, target: Target): Encoded {
  const write = writing(context, target)
  const { notes } = write
  const system = context.system.map((part) => cleanText(part.text, 'system', notes)).filter((text) => text !== '')
  const tools = declarations(context, write)
  const config = generationConfig(tools.length > 0, target, notes)
  const choice = toolConfig(context, write)
  const body: JsonObject = {
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    contents: encodeContents(context, write, 'whole'),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools }] }),
    ...(choice && { toolConfig: { functionCallingConfig: choice } }),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
  }
  noteTheRest(target, notes)
  return {
    path: pathOf(target),
    body: target.options.extra ? mergeExtra(body, target.options.extra) : body,
    notes,
    toolNames: write.names.changed,
  }
}

function pathOf(target: Target): string {
  const name = target.model.includes('/') ? target.model : `models/${target.model}`
  const segments = name.split('/')
  // The only segments that no encoding makes harmless: they would lead to another path of the host.
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw badInput(`"${target.model}" is not the name of a model: "." and ".." cannot be parts of one.`)
  const path = segments.map(encodeURIComponent).join('/')
  return target.options.stream ? `/${path}:streamGenerateContent?alt=sse` : `/${path}:generateContent`
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
      name: names.toWire(tool.name),
      ...(description !== undefined && { description }),
      // `parameters` is an OpenAPI subset that refuses what it does not know (G-12); this one is JSON Schema.
      parametersJsonSchema: schema,
    }
  })
}

function toolConfig(context: Context, { target, names, notes }: Writing): JsonObject | undefined {
  const { toolChoice } = target.options
  if (toolChoice === undefined) return undefined
  const drop = (why: string) => void notes.push({ kind: 'dropped', what: 'the tool choice', why })
  if (context.tools.length === 0 || !target.capabilities.tools) return drop('no tools are declared')
  if (toolChoice === 'auto') return { mode: 'AUTO' }
  if (toolChoice === 'none') return { mode: 'NONE' }
  if (!target.capabilities.forcedTool) return drop('the model cannot be made to call a tool')
  if (toolChoice === 'required') return { mode: 'ANY' }
  if (!context.tools.some((tool) => tool.name === toolChoice.tool)) return drop('the tool is not declared')
  return { mode: 'ANY', allowedFunctionNames: [names.toWire(toolChoice.tool)] }
}

function generationConfig(hasTools: boolean, target: Target, notes: Note[]): JsonObject {
  const { maxOutput, temperature, topP, stop, effort } = target.options
  const sampled = temperature !== undefined || topP !== undefined
  if (sampled && !target.capabilities.sampling) {
    const what = 'temperature and topP'
    notes.push({ kind: 'dropped', what, why: 'the model samples as it likes', rule: 'G-14' })
  }
  const answer = answerSchemaFor(target, hasTools, 'gemini', notes)
  const thinking = effort === undefined ? undefined : thinkingConfig(effort, target, notes)
  return {
    ...(maxOutput !== undefined && { maxOutputTokens: maxOutput }),
    ...(temperature !== undefined && target.capabilities.sampling && { temperature }),
    ...(topP !== undefined && target.capabilities.sampling && { topP }),
    ...(stop !== undefined && stop.length > 0 && { stopSequences: stop }),
    ...(thinking && { thinkingConfig: thinking }),
    ...(answer && {
      responseMimeType: 'application/json',
      ...(answer.schema && { responseJsonSchema: answer.schema }),
    }),
  }
}

/** Tokens of thought for models before Gemini 3, which refuse a level; 24,576 is the most that all of them take. */
const budgets: Record<Effort, number> = {
  none: 0,
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
}

/** Level and budget together are refused (G-14), so a model gets the one that its generation knows. */
function thinkingConfig(asked: Effort, target: Target, notes: Note[]): JsonObject | undefined {
  const effort = nearestEffort(asked, target.capabilities.efforts)
  if (effort === undefined) {
    notes.push({ kind: 'dropped', what: `effort ${asked}`, why: 'the model cannot be asked for it' })
    return undefined
  }
  if (effort !== asked) {
    const why = `the model knows ${target.capabilities.efforts.join(', ')}`
    notes.push({ kind: 'changed', what: `effort ${asked} to ${effort}`, why })
  }
  const version = geminiVersion(target.model)
  const old = version !== undefined && version < 300
  return {
    ...(asked !== 'none' && { includeThoughts: true }),
    ...(old ? { thinkingBudget: budgets[effort] } : { thinkingLevel: levels[effort] }),
  }
}

/** Gemini 3 cannot be told not to think: the least it knows is `minimal`, and the most is `high`. */
const levels: Record<Effort, string> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

function noteTheRest({ options }: Target, notes: Note[]): void {
  if (options.parallelTools === false) {
    notes.push({ kind: 'dropped', what: 'one tool call at a time', why: 'the wire has no word for it' })
  }
  if (options.store === true) {
    notes.push({ kind: 'dropped', what: 'the request to store the reply', why: 'the wire keeps no state' })
  }
}
