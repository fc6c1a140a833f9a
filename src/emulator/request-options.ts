// What a request body asks for beside an answer: may it call tools, must it, how long may it be, shall it reason.

import { isObject, type Json, type JsonObject } from '../core/json.ts'

export interface RequestOptions {
  toolChoice: 'auto' | 'none' | 'required' | { tool: string }
  parallelTools: boolean
  /** free: neither asked for nor forbidden. */
  reasoning: 'on' | 'off' | 'free'
  /** The JSON Schema that the answer must fit; `{}`: any JSON. */
  answerSchema?: JsonObject
  maxOutput?: number
  /** Texts that end the answer where they would come. */
  stop?: string[]
}

export function requestOptionsOf(protocol: string, provider: string, body: JsonObject): RequestOptions {
  const schema = schemaOf(body)
  const maxOutput = maxOutputOf(body)
  const stop = stopOf(body)
  return {
    toolChoice: toolChoiceOf(body),
    parallelTools: !(
      body.parallel_tool_calls === false ||
      (isObject(body.tool_choice) && body.tool_choice.disable_parallel_tool_use === true)
    ),
    reasoning: reasoningOf(protocol, provider, body),
    ...(schema && { answerSchema: schema }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(stop.length > 0 && { stop }),
  }
}

function toolChoiceOf(body: JsonObject): RequestOptions['toolChoice'] {
  const gemini = at(body, 'toolConfig', 'functionCallingConfig')
  if (isObject(gemini)) {
    const names = gemini.allowedFunctionNames
    if (gemini.mode === 'ANY') {
      return Array.isArray(names) && typeof names[0] === 'string' ? { tool: names[0] } : 'required'
    }
    return gemini.mode === 'NONE' ? 'none' : 'auto'
  }
  const choice = body.tool_choice ?? at(body, 'generation_config', 'tool_choice')
  const mode = isObject(choice) ? choice.type : choice
  const name = at(choice, 'function', 'name') ?? at(choice, 'name')
  if (typeof name === 'string') return { tool: name }
  if (mode === 'any' || mode === 'required') return 'required'
  return mode === 'none' ? 'none' : 'auto'
}

function reasoningOf(protocol: string, provider: string, body: JsonObject): RequestOptions['reasoning'] {
  switch (protocol) {
    case 'anthropic-messages': {
      const type = at(body, 'thinking', 'type')
      return type === undefined || type === 'disabled' ? 'off' : 'on'
    }
    case 'openai-responses':
      return byEffort(at(body, 'reasoning', 'effort'))
    case 'gemini-generate': {
      const config = at(body, 'generationConfig', 'thinkingConfig')
      if (!isObject(config)) return 'free'
      if (config.thinkingBudget === 0) return 'off'
      return config.includeThoughts === true || config.thinkingLevel !== undefined ? 'on' : 'free'
    }
    case 'gemini-interactions':
      return at(body, 'generation_config', 'thinking_level') === undefined ? 'free' : 'on'
    case 'ollama-chat':
      return body.think === undefined ? 'free' : body.think === false ? 'off' : 'on'
    default: {
      const type = at(body, 'thinking', 'type')
      if (type !== undefined) return type === 'disabled' ? 'off' : 'on'
      // DeepSeek V4 reasons unless it is told not to (checked 2026-11).
      return provider === 'deepseek' && body.reasoning_effort !== 'none' ? 'on' : byEffort(body.reasoning_effort)
    }
  }
}

function byEffort(effort: Json | undefined): RequestOptions['reasoning'] {
  return typeof effort !== 'string' ? 'free' : effort === 'none' ? 'off' : 'on'
}

function schemaOf(body: JsonObject): JsonObject | undefined {
  const format = body.response_format ?? at(body, 'text', 'format') ?? at(body, 'output_config', 'format')
  const schema =
    at(format, 'json_schema', 'schema') ??
    at(format, 'json_schema', 'schema_definition') ??
    at(format, 'schema') ??
    at(body, 'generationConfig', 'responseJsonSchema') ??
    at(body, 'generationConfig', 'responseSchema') ??
    body.format
  if (isObject(schema)) return schema
  const type = isObject(format) ? format.type : body.format
  const anyJson = type === 'json_object' || type === 'json'
  return anyJson || at(body, 'generationConfig', 'responseMimeType') === 'application/json' ? {} : undefined
}

function maxOutputOf(body: JsonObject): number | undefined {
  const found = [
    body.max_completion_tokens,
    body.max_output_tokens,
    body.max_tokens,
    at(body, 'generationConfig', 'maxOutputTokens'),
    at(body, 'generation_config', 'max_output_tokens'),
    at(body, 'options', 'num_predict'),
  ].find((value) => typeof value === 'number' && value > 0)
  return typeof found === 'number' ? found : undefined
}

/** One sequence or a list of them, under the name that each wire has for it. */
function stopOf(body: JsonObject): string[] {
  const given =
    body.stop ??
    body.stop_sequences ??
    at(body, 'generationConfig', 'stopSequences') ??
    at(body, 'generation_config', 'stop_sequences') ??
    at(body, 'options', 'stop')
  const list = Array.isArray(given) ? given : [given]
  return list.filter((one): one is string => typeof one === 'string' && one !== '')
}

function at(value: Json | undefined, ...path: string[]): Json | undefined {
  let found = value
  for (const key of path) found = isObject(found) ? found[key] : undefined
  return found ?? undefined
}
