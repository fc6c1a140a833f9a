// Tokens to dollars. `usage.input` is the whole prompt; what was read from and written to a cache are shares of it with
// prices of their own.

import { isObject } from '../core/json.ts'
import type { Usage } from '../core/usage.ts'
import { ratesFor, type Price } from './price.ts'

/** Undefined where the price is not known. `cacheTtl` is what was asked for: an hour costs more to write. */
export function costOf(usage: Usage, price: Price | undefined, cacheTtl?: '5m' | '1h'): number | undefined {
  if (usage.offline) return 0
  const billed = billedCost(usage)
  if (billed !== undefined) return billed
  if (!price) return undefined
  const { input, output, cacheRead, cacheWrite, cacheWriteLong } = ratesFor(price, usage.input)
  const write = (cacheTtl === '1h' ? cacheWriteLong : undefined) ?? cacheWrite ?? input
  const fresh = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite)
  const millionths =
    fresh * input + usage.cacheRead * (cacheRead ?? input) + usage.cacheWrite * write + usage.output * output
  return millionths / 1_000_000
}

/** OpenRouter says what it has billed, in dollars (checked 2026-11). */
function billedCost({ raw }: Usage): number | undefined {
  return isObject(raw) && typeof raw.cost === 'number' ? raw.cost : undefined
}
