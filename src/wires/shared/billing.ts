// What a provider's usage numbers say about its bill, besides the tokens.

import { isObject, type Json } from '../../core/json.ts'
import { objectIn, valueAt } from './json-fields.ts'

/**
 * What a provider reports as billed (checked 2026-11): OpenRouter in dollars, without what the owner of the upstream
 * key pays there, and xAI in ticks, including its server tools.
 */
export function billedIn(raw: Json | undefined): number | undefined {
  if (!isObject(raw)) return undefined
  if (typeof raw.cost_in_usd_ticks === 'number') return raw.cost_in_usd_ticks / 1e10
  if (typeof raw.cost !== 'number') return undefined
  const details = raw.is_byok === true && isObject(raw.cost_details) ? raw.cost_details : {}
  const upstream = details.upstream_inference_cost
  return raw.cost + (typeof upstream === 'number' ? upstream : 0)
}

/** Cache writes with a lifetime of an hour, which cost more: Anthropic reports them (checked 2026-11). */
export function longWritesIn(raw: Json | undefined): number | undefined {
  const creation = objectIn(valueAt(raw, 'cache_creation'))
  const long = creation.ephemeral_1h_input_tokens
  return typeof long === 'number' ? long : undefined
}

/** The billed tokens, if they differ from what the model read and wrote: Cohere reports them (checked 2026-11). */
export function billedTokensIn(raw: Json | undefined): { input: number; output: number } | undefined {
  const billed = isObject(raw) ? raw.billed_units : undefined
  if (!isObject(billed)) return undefined
  const { input_tokens: input, output_tokens: output } = billed
  return { input: typeof input === 'number' ? input : 0, output: typeof output === 'number' ? output : 0 }
}
