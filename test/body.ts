// Reading a body in a test, whatever the wire calls its parts.

import type { Json, JsonObject } from '../src/core/json.ts'

/** The messages of a body without cache marks, which move from request to request and count for nothing else. */
export function messagesOf(body: JsonObject): Json[] {
  const list = body['messages'] ?? body['input'] ?? body['contents']
  return Array.isArray(list) ? list.map(unmarked) : []
}

function unmarked(value: Json): Json {
  if (Array.isArray(value)) return value.map(unmarked)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => key !== 'cache_control' && key !== 'prompt_cache_breakpoint')
  return Object.fromEntries(kept.map(([key, inner]) => [key, unmarked(inner as Json)]))
}
