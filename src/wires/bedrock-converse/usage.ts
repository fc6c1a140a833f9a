// Tokens of one reply: cache reads and writes are counted separately from `inputTokens`.

import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { numberIn } from '../shared/json-fields.ts'

export function readUsage(raw: JsonObject): Usage {
  const cacheRead = numberIn(raw.cacheReadInputTokens)
  const cacheWrite = numberIn(raw.cacheWriteInputTokens)
  return {
    input: numberIn(raw.inputTokens) + cacheRead + cacheWrite,
    output: numberIn(raw.outputTokens),
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
