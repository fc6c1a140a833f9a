// The finer numbers of usage that some providers report beside the common ones: which lifetime was written to the cache,
// what DeepSeek calls a hit and a miss.

import { isObject, type JsonObject } from '../core/json.ts'
import type { Charge } from './cache.ts'

export function withUsageFields(whole: JsonObject, protocol: string, provider: string, charge: Charge): JsonObject {
  if (!isObject(whole.usage)) return whole
  const { usage } = whole
  const { written, read, input } = charge
  if (protocol === 'anthropic-messages') {
    const cache_creation = {
      ephemeral_5m_input_tokens: written['5m'] ?? 0,
      ephemeral_1h_input_tokens: written['1h'] ?? 0,
    }
    return { ...whole, usage: { ...usage, cache_creation } }
  }
  if (protocol === 'openai-responses' && Object.keys(written).length > 0 && isObject(usage.input_tokens_details)) {
    const cache_write_tokens_details = { ttl_30m_tokens: written['30m'] ?? 0, ttl_12h_tokens: written['12h'] ?? 0 }
    const input_tokens_details = { ...usage.input_tokens_details, cache_write_tokens_details }
    return { ...whole, usage: { ...usage, input_tokens_details } }
  }
  if (provider === 'deepseek' && protocol === 'openai-chat') {
    return { ...whole, usage: { ...usage, prompt_cache_hit_tokens: read, prompt_cache_miss_tokens: input - read } }
  }
  return whole
}
