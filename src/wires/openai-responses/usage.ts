// Tokens as the Responses wire counts them: cached and written tokens are shares of `input_tokens`. At xAI the cached
// ones can exceed the input; then the input does not include them.

import { isObject, type Json } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { numberIn, objectIn } from './types.ts'

export function readUsage(raw: Json | undefined): Usage | undefined {
  if (!isObject(raw)) return undefined
  const details = objectIn(raw, 'input_tokens_details') ?? {}
  const cacheRead = numberIn(details, 'cached_tokens') ?? 0
  const cacheWrite = numberIn(details, 'cache_write_tokens') ?? 0
  const input = numberIn(raw, 'input_tokens') ?? 0
  return {
    input: cacheRead > input ? input + cacheRead : input,
    output: numberIn(raw, 'output_tokens') ?? 0,
    cacheRead,
    cacheWrite,
    reasoning: numberIn(objectIn(raw, 'output_tokens_details') ?? {}, 'reasoning_tokens') ?? 0,
    raw,
  }
}

export function writeUsage(usage: Usage): Json {
  return {
    input_tokens: usage.input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
    },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
}
