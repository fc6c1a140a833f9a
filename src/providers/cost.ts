// Tokens to dollars. `usage.input` is the whole prompt; what was read from and written to a cache are shares of it with
// prices of their own.

import type { Usage } from '../core/usage.ts'
import { billedIn, longWritesIn } from '../wires/shared/billing.ts'
import { ratesFor, type Price } from './price.ts'

/** Undefined where the price is not known. `cacheTtl` is what was asked for, where the provider does not tell. */
export function costOf(usage: Usage, price: Price | undefined, cacheTtl?: '5m' | '1h'): number | undefined {
  if (usage.offline) return 0
  const billed = billedIn(usage.raw)
  if (billed !== undefined) return billed
  if (!price) return undefined
  const { input, output, cacheRead, cacheWrite, cacheWriteLong } = ratesFor(price, usage.input)
  const write = cacheWrite ?? input
  const long = Math.min(usage.cacheWrite, longWritesIn(usage.raw) ?? (cacheTtl === '1h' ? usage.cacheWrite : 0))
  const fresh = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite)
  const millionths =
    fresh * input +
    usage.cacheRead * (cacheRead ?? input) +
    (usage.cacheWrite - long) * write +
    long * (cacheWriteLong ?? write) +
    usage.output * output
  return millionths / 1_000_000
}
