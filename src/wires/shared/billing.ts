// What the numbers that a provider reports say about its bill, beside the tokens.

import { isObject, type Json } from '../../core/json.ts'

/**
 * What a provider says that it has billed (checked 2026-11): OpenRouter in dollars, without what the owner of the
 * upstream key pays there, and xAI in ticks, with the tools that it ran.
 */
export function billedIn(raw: Json | undefined): number | undefined {
  if (!isObject(raw)) return undefined
  if (typeof raw.cost_in_usd_ticks === 'number') return raw.cost_in_usd_ticks / 1e10
  if (typeof raw.cost !== 'number') return undefined
  const details = raw.is_byok === true && isObject(raw.cost_details) ? raw.cost_details : {}
  const upstream = details.upstream_inference_cost
  return raw.cost + (typeof upstream === 'number' ? upstream : 0)
}

/** The cache writes that were made for an hour, which cost more: Anthropic tells (checked 2026-11). */
export function longWritesIn(raw: Json | undefined): number | undefined {
  const written = isObject(raw) && isObject(raw.cache_creation) ? raw.cache_creation : {}
  const long = written.ephemeral_1h_input_tokens
  return typeof long === 'number' ? long : undefined
}
