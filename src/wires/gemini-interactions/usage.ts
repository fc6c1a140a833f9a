// Tokens on this wire: the input includes the cached part, but not what server tools added to the prompt, and thoughts
// are counted separately from the output (checked 2026-11: the four add up to the total).

import type { Json, JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'

export function readUsage(raw: JsonObject): Usage {
  const thoughts = count(raw.total_thought_tokens)
  return {
    input: count(raw.total_input_tokens) + count(raw.total_tool_use_tokens),
    output: count(raw.total_output_tokens) + thoughts,
    cacheRead: count(raw.total_cached_tokens),
    cacheWrite: 0,
    reasoning: thoughts,
    raw,
  }
}

export function writeUsage(usage: Usage): JsonObject {
  return {
    total_tokens: usage.input + usage.output,
    total_input_tokens: usage.input,
    total_cached_tokens: usage.cacheRead,
    total_output_tokens: usage.output - usage.reasoning,
    total_tool_use_tokens: 0,
    total_thought_tokens: usage.reasoning,
  }
}

function count(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}
