// Tokens on this wire: the prompt count includes the cached part, but not what server tools added to the prompt, and
// thoughts are counted separately from the candidates (checked 2026-11: the four add up to the total).

import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { numberIn } from '../shared/json-fields.ts'

export function readUsage(raw: JsonObject): Usage {
  const thoughts = numberIn(raw.thoughtsTokenCount)
  return {
    input: numberIn(raw.promptTokenCount) + numberIn(raw.toolUsePromptTokenCount),
    output: numberIn(raw.candidatesTokenCount) + thoughts,
    cacheRead: numberIn(raw.cachedContentTokenCount),
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
