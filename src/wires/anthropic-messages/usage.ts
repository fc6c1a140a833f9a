// Tokens of one reply. The API counts cache reads and writes separately from `input_tokens`, and reports running
// totals: a later number replaces an earlier one, unless it is 0, which hosts with the same API write for what they
// have already reported.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { numberIn } from '../shared/json-fields.ts'

/** The later of two reports; a number that the later one omits, or sets to null or 0, stays. */
export function laterUsage(earlier: JsonObject | undefined, later: Json | undefined): JsonObject | undefined {
  if (!isObject(later)) return earlier
  const merged: JsonObject = { ...earlier }
  for (const [key, value] of Object.entries(later)) {
    if ((value !== null && value !== undefined && value !== 0) || !(key in merged)) merged[key] = value
  }
  return merged
}

export function readUsage(raw: JsonObject): Usage {
  const total = countsIn(raw)
  // A compaction runs on the same model, but its tokens are only in `iterations` (checked 2026-11).
  for (const iteration of Array.isArray(raw.iterations) ? raw.iterations : []) {
    if (!isObject(iteration) || iteration.type !== 'compaction') continue
    const more = countsIn(iteration)
    total.input += more.input
    total.output += more.output
    total.cacheRead += more.cacheRead
    total.cacheWrite += more.cacheWrite
  }
  const details = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
  return { ...total, reasoning: numberIn(details.thinking_tokens), raw }
}

export function wireUsage(usage: Usage): JsonObject {
  return {
    input_tokens: Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite),
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
    ...(usage.reasoning > 0 && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
  }
}

function countsIn(raw: JsonObject): Omit<Usage, 'reasoning' | 'raw'> {
  const cacheRead = numberIn(raw.cache_read_input_tokens)
  const cacheWrite = numberIn(raw.cache_creation_input_tokens)
  return {
    input: numberIn(raw.input_tokens) + cacheRead + cacheWrite,
    output: numberIn(raw.output_tokens),
    cacheRead,
    cacheWrite,
  }
}
