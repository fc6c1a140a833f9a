// Reads the body of a request: the conversation, the system prompt, the tools and the options. For servers that accept
// requests of one wire and answer them through another.

import type { Note, ToolSpec } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { textOf, type Message, type Part } from '../core/message.ts'
import { efforts, type Effort, type Options } from '../settings/options.ts'
import type { WireService } from './service.ts'
import { valueAt } from './shared/json-fields.ts'
import { callable, type RequestOptions } from './shared/request-options.ts'
import type { TranscriptFormat } from './shared/transcript.ts'

/** The content of a request body. */
export interface ReadRequest {
  /** The model in the body; some wires have it in the URL. */
  model?: string
  /** Without the leading system messages. */
  messages: Message[]
  system: string
  tools: ToolSpec[]
  options: Options
  /** Whether the reply should be streamed. */
  stream: boolean
  notes: Note[]
}

/** `provider`: the provider of the body, for what differs by host. */
export function readRequestWith(
  { transcript, service }: { transcript: TranscriptFormat; service: WireService },
  body: JsonObject,
  provider: string = service.home,
): ReadRequest {
  const { messages: read, system = [], tools: declared = [], notes: ofTranscript } = transcript.read(body)
  const requested = service.options(body, provider)
  const { tools, notes } = callable(declared, requested)
  const all = read.filter((message) => !declaresTools(message))
  const first = all.findIndex((message) => message.role !== 'system')
  const leading = first < 0 ? all : all.slice(0, first)
  return {
    ...(typeof body.model === 'string' && { model: body.model }),
    messages: all.slice(leading.length),
    system: [textOf(system), ...leading.map((message) => textOf(message.parts))].filter(Boolean).join('\n\n'),
    tools,
    options: optionsOf(body, requested),
    stream: service.streams?.(body) ?? body.stream === true,
    notes: notes.length === 0 ? ofTranscript : [...ofTranscript, ...notes],
  }
}

/** Items that declare tools are settings of the request, like the tools outside of the conversation. */
function declaresTools({ role, parts }: Message): boolean {
  const isDeclaration = (part: Part) => part.type === 'opaque' && part.kind.endsWith('/additional_tools')
  return role === 'user' && parts.length > 0 && parts.every(isDeclaration)
}

function optionsOf(body: JsonObject, requested: RequestOptions): Options {
  const { toolChoice, parallelTools, answerSchema, maxOutput, stop } = requested
  const temperature = settingIn(body, 'temperature')
  const topP = settingIn(body, 'top_p', 'topP') ?? body.p
  const effort = effortOf(isObject(body.additionalModelRequestFields) ? body.additionalModelRequestFields : body)
  return {
    ...(toolChoice !== 'auto' && { toolChoice }),
    ...(!parallelTools && { parallelTools }),
    ...(answerSchema && { answerSchema }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(stop && { stop }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    ...(effort !== undefined && { effort }),
  }
}

/** Sampling options are in the body itself, or in the wire's field for them. */
function settingIn(body: JsonObject, ...names: string[]): Json | undefined {
  const places = [body, body.generationConfig, body.generation_config, body.options, body.inferenceConfig]
  return places.flatMap((place) => names.map((name) => valueAt(place, name))).find((value) => value !== undefined)
}

/** The reasoning effort, in each wire's form. */
function effortOf(body: JsonObject): Effort | undefined {
  const thinking = valueAt(body, 'thinking', 'type')
  if (thinking === 'disabled' || body.think === false) return 'none'
  const config = valueAt(body, 'generationConfig', 'thinkingConfig')
  const named =
    body.reasoning_effort ??
    valueAt(body, 'reasoning', 'effort') ??
    valueAt(body, 'output_config', 'effort') ??
    valueAt(body, 'reasoningConfig', 'maxReasoningEffort') ??
    valueAt(config, 'thinkingLevel') ??
    valueAt(body, 'generation_config', 'thinking_level') ??
    body.think
  const word = typeof named === 'string' ? named.toLowerCase() : undefined
  const level = efforts.find((effort) => effort === word)
  if (level !== undefined) return level
  const thinks = valueAt(body, 'thinking')
  const budget =
    valueAt(thinks, 'budget_tokens') ?? valueAt(thinks, 'token_budget') ?? valueAt(config, 'thinkingBudget')
  if (typeof budget === 'number') return budget === 0 ? 'none' : byBudget(budget)
  const isWanted = thinking === 'enabled' || thinking === 'adaptive' || body.think === true
  return isWanted || valueAt(config, 'includeThoughts') === true ? 'medium' : undefined
}

function byBudget(tokens: number): Effort {
  if (tokens < 0) return 'medium'
  return tokens < 4096 ? 'low' : tokens < 16_384 ? 'medium' : 'high'
}
