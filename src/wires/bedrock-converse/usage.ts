// Tokens of one reply: cache reads and writes are counted separately from `inputTokens`.

import type { Json, JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'

export function readUsage(raw: JsonObject): Usage {
  const cacheRead = count(raw.cacheReadInputTokens)
  const cacheWrite = count(raw.cacheWriteInputTokens)
  return {
    input: count(raw.inputTokens) + cacheRead + cacheWrite,
    output: count(raw.outputTokens),
    cacheRead,
    cacheWrite,
    reasoning: 0,
    raw,
  }
}

export function wireUsage({ input, output, cacheRead, cacheWrite }: Usage): JsonObject {
  return {
    inputTokens: Math.max(0, input - cacheRead - cacheWrite),
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  }
}

function count(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
