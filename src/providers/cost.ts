// Tokens to dollars. `usage.input` is the whole prompt; what was read from and written to a cache are shares of it with
// prices of their own.

import { isObject } from '../core/json.ts'
import type { Usage } from '../core/usage.ts'
import { ratesFor, type Price } from './price.ts'

/** Undefined where the price is not known. `cacheTtl` is what was asked for, where the provider does not tell. */
export function costOf(usage: Usage, price: Price | undefined, cacheTtl?: '5m' | '1h'): number | undefined {
  if (usage.offline) return 0
  const billed = billedCost(usage)
  if (billed !== undefined) return billed
  if (!price) return undefined
  const { input, output, cacheRead, cacheWrite, cacheWriteLong } = ratesFor(price, usage.input)
  const write = cacheWrite ?? input
  const long = Math.min(usage.cacheWrite, longWrites(usage) ?? (cacheTtl === '1h' ? usage.cacheWrite : 0))
  const fresh = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite)
  const millionths =
    fresh * input +
    usage.cacheRead * (cacheRead ?? input) +
    (usage.cacheWrite - long) * write +
    long * (cacheWriteLong ?? write) +
    usage.output * output
  return millionths / 1_000_000
}

/** What was written for an hour, which costs more: Anthropic tells (checked 2026-11). */
function longWrites({ raw }: Usage): number | undefined {
  const written = isObject(raw) && isObject(raw.cache_creation) ? raw.cache_creation : {}
  const long = written.ephemeral_1h_input_tokens
  return typeof long === 'number' ? long : undefined
}

/**
 * What a provider says that it has billed (checked 2026-11): OpenRouter in dollars, without what the owner of the
 * upstream key pays there, and xAI in ticks, with the tools that it ran.
 */
function billedCost({ raw }: Usage): number | undefined {
  if (!isObject(raw)) return undefined
  if (typeof raw.cost_in_usd_ticks === 'number') return raw.cost_in_usd_ticks / 1e10
  if (typeof raw.cost !== 'number') return undefined
  const details = raw.is_byok === true && isObject(raw.cost_details) ? raw.cost_details : {}
  const upstream = details.upstream_inference_cost
  return raw.cost + (typeof upstream === 'number' ? upstream : 0)
}
