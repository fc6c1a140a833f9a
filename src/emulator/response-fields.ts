// The fields of a response object that say what was asked for: each as the request gave it, or its default.

import { isObject, type Json, type JsonObject } from '../core/json.ts'

/** Fields that are echoed as they were given, with what stands there if they were not. */
const defaults: JsonObject = {
  background: false,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  store: true,
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
}

export function requestFields(body: JsonObject): JsonObject {
  const echoed = Object.entries(defaults).map(([name, value]) => [name, body[name] ?? value])
  const reasoning = isObject(body.reasoning) ? body.reasoning : {}
  const text = isObject(body.text) ? body.text : {}
  return {
    ...Object.fromEntries(echoed),
    reasoning: { effort: null, summary: null, ...reasoning },
    text: { verbosity: 'medium', ...text, format: formatOf(text.format) },
    tools: Array.isArray(body.tools) ? body.tools.map(toolOf) : [],
    // `auto` is what may be asked for, never what was used.
    service_tier: typeof body.service_tier === 'string' && body.service_tier !== 'auto' ? body.service_tier : 'default',
  }
}

function formatOf(format: Json | undefined): JsonObject {
  if (!isObject(format)) return { type: 'text' }
  return format.type === 'json_schema' ? { description: null, strict: false, ...format } : format
}

function toolOf(tool: Json): Json {
  return isObject(tool) && tool.type === 'function'
    ? { description: null, parameters: null, strict: true, ...tool }
    : tool
}
