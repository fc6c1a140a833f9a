// The body of a client's request as what a run needs: the conversation, the tools that the client runs, and the options.

import type { ToolSpec } from '../../core/context.ts'
import { badInput } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { textOf, type Message } from '../../core/message.ts'
import { efforts, type Effort, type Options } from '../../settings/options.ts'
import { loadService, loadTranscript } from '../../wires/list.ts'
import type { RequestOptions } from '../../wires/shared/request-options.ts'
import type { DoorWire } from './door.ts'

export interface DoorRequest {
  /** Without the system messages that the list begins with. */
  messages: Message[]
  system: string
  tools: ToolSpec[]
  options: Options
  stream: boolean
  /** Chat: a last chunk with the usage is wanted. */
  includeUsage: boolean
  previousResponseId?: string
  /** The session that the client names. It never decides alone: agents of one session share it. */
  session?: string
}

export async function readRequest(
  wire: DoorWire,
  provider: string,
  body: JsonObject,
  headers: Headers,
): Promise<DoorRequest> {
  refuseUnsupported(wire, body)
  const { messages: all, system = [], tools = [] } = (await loadTranscript(wire)).read(body)
  const first = all.findIndex((message) => message.role !== 'system')
  const leading = first < 0 ? all : all.slice(0, first)
  const session = sessionOf(body, headers)
  const streamOptions = body.stream_options
  return {
    messages: all.slice(leading.length),
    system: [textOf(system), ...leading.map((message) => textOf(message.parts))].filter(Boolean).join('\n\n'),
    tools,
    options: optionsOf(body, (await loadService(wire)).options(body, provider)),
    stream: body.stream === true,
    includeUsage: isObject(streamOptions) && streamOptions.include_usage === true,
    ...(typeof body.previous_response_id === 'string' && { previousResponseId: body.previous_response_id }),
    ...(session !== undefined && { session }),
  }
}

function refuseUnsupported(wire: DoorWire, body: JsonObject): void {
  if (typeof body.n === 'number' && body.n > 1) throw badInput('n must be 1: one answer is given for a request.')
  const candidates = at(body, 'generationConfig', 'candidateCount')
  if (typeof candidates === 'number' && candidates > 1) throw badInput('generationConfig.candidateCount must be 1.')
  if (body.background === true) throw badInput('background is not supported: wait for the answer, or stream it.')
  if (wire === 'openai-responses' && body.conversation !== undefined && body.conversation !== null) {
    throw badInput('conversation is not supported: use previous_response_id.')
  }
}

function optionsOf(body: JsonObject, requested: RequestOptions): Options {
  const { toolChoice, parallelTools, answerSchema, maxOutput, stop } = requested
  const config = isObject(body.generationConfig) ? body.generationConfig : {}
  const temperature = body.temperature ?? config.temperature
  const topP = body.top_p ?? config.topP
  const effort = effortOf(body)
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

/** How much the model is to reason, as each wire says it. */
function effortOf(body: JsonObject): Effort | undefined {
  const thinking = at(body, 'thinking', 'type')
  if (thinking === 'disabled') return 'none'
  const config = at(body, 'generationConfig', 'thinkingConfig')
  const named =
    body.reasoning_effort ??
    at(body, 'reasoning', 'effort') ??
    at(body, 'output_config', 'effort') ??
    at(config, 'thinkingLevel')
  const word = typeof named === 'string' ? named.toLowerCase() : undefined
  const known = efforts.find((effort) => effort === word)
  if (known !== undefined) return known
  const budget = at(body, 'thinking', 'budget_tokens') ?? at(config, 'thinkingBudget')
  if (typeof budget === 'number') return budget === 0 ? 'none' : byBudget(budget)
  return thinking === 'enabled' || thinking === 'adaptive' ? 'medium' : undefined
}

function byBudget(tokens: number): Effort {
  if (tokens < 0) return 'medium'
  return tokens < 4096 ? 'low' : tokens < 16_384 ? 'medium' : 'high'
}

function sessionOf(body: JsonObject, headers: Headers): string | undefined {
  const user = at(body, 'metadata', 'user_id')
  const [, session] = typeof user === 'string' ? (/session[_"]?[:_]?"?([0-9a-f-]{36})/.exec(user) ?? []) : []
  const key = typeof body.prompt_cache_key === 'string' ? body.prompt_cache_key : undefined
  const named = ['x-synapse-conversation', 'x-claude-code-session-id', 'session-id', 'session_id', 'x-session-id']
  return named.map((name) => headers.get(name)).find((value) => value !== null && value !== '') ?? key ?? session
}

function at(value: Json | undefined, ...path: string[]): Json | undefined {
  let found = value
  for (const key of path) found = isObject(found) ? found[key] : undefined
  return found ?? undefined
}
