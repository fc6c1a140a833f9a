// Tokens to dollars. `usage.input` is the whole prompt; cache reads and writes are shares of it with their own prices.

import type { Usage } from '../core/usage.ts'
import { billedIn, billedTokensIn, longWritesIn } from '../wires/shared/billing.ts'
import { ratesFor, type Price } from './price.ts'

/** Undefined if the price is unknown. `cacheTtl` is the requested time to live, if the provider does not report it. */
export function costOf(usage: Usage, price: Price | undefined, cacheTtl?: '5m' | '1h'): number | undefined {
  if (usage.offline) return 0
  const billed = billedIn(usage.raw)
  if (billed !== undefined) return billed
  if (!price) return undefined
  const { input, output, cacheRead, cacheWrite, cacheWriteLong } = ratesFor(price, usage.input)
  const paid = billedTokensIn(usage.raw)
  if (paid) return (paid.input * input + paid.output * output) / 1_000_000
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
