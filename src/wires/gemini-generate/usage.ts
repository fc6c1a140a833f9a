// Tokens on this wire: the prompt count includes the cached part, but not what server tools added to the prompt, and
// thoughts are counted separately from the candidates (checked 2026-11: the four add up to the total).

import type { Json, JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'

export function readUsage(raw: JsonObject): Usage {
  const thoughts = count(raw.thoughtsTokenCount)
  return {
    input: count(raw.promptTokenCount) + count(raw.toolUsePromptTokenCount),
    output: count(raw.candidatesTokenCount) + thoughts,
    cacheRead: count(raw.cachedContentTokenCount),
    cacheWrite: 0,
    reasoning: thoughts,
    raw,
  }
}

export function writeUsage(usage: Usage): JsonObject {
  return {
    promptTokenCount: usage.input,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    candidatesTokenCount: usage.output - usage.reasoning,
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
    totalTokenCount: usage.input + usage.output,
  }
}

function count(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}
