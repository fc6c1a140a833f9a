// Tokens on this wire: the input includes the cached part, but not what server tools added to the prompt, and thoughts
// are counted separately from the output (checked 2026-11: the four add up to the total).

import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { numberIn } from '../shared/json-fields.ts'

export function readUsage(raw: JsonObject): Usage {
  const thoughts = numberIn(raw.total_thought_tokens)
  return {
    input: numberIn(raw.total_input_tokens) + numberIn(raw.total_tool_use_tokens),
    output: numberIn(raw.total_output_tokens) + thoughts,
    cacheRead: numberIn(raw.total_cached_tokens),
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
