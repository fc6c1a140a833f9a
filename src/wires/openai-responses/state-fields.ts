// The fields of a response object that repeat the request: each as given, or its default.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { requestDefaults } from './emulate.ts'

export function requestFields(body: JsonObject): JsonObject {
  const echoed = Object.entries(requestDefaults).map(([name, value]) => [name, body[name] ?? value])
  const reasoning = isObject(body.reasoning) ? body.reasoning : {}
  const text = isObject(body.text) ? body.text : {}
  return {
    ...Object.fromEntries(echoed),
    reasoning: { effort: null, summary: null, ...reasoning },
    text: { verbosity: 'medium', ...text, format: formatOf(text.format) },
    tools: Array.isArray(body.tools) ? body.tools.map(toolOf) : [],
    // `auto` may be requested, but is never the value that was used.
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
