// What leaving out a part of the history has saved: the price of the prompt as it was, against that of the whole history
// with the same cache. An estimate: the whole was never sent, so its tokens are counted by us and corrected by what the
// provider reported of the part.

import type { Forecast } from '../context/forecast.ts'
import type { Usage } from '../core/usage.ts'
import { costOf } from '../providers/cost.ts'
import type { Price } from '../providers/price.ts'

/** In US dollars; undefined where the price is not known, and where nothing was left out. */
export function savedBy(forecast: Forecast, usage: Usage, price: Price | undefined): number | undefined {
  const { estimate, whole, wholeCached, ttl } = forecast
  if (whole <= estimate || estimate <= 0 || usage.offline) return undefined
  const ratio = usage.input / estimate
  const input = Math.round(whole * ratio)
  const cacheRead = Math.round(wholeCached * ratio)
  // What was written to a cache as it was sent would have been written then too.
  const cacheWrite = usage.cacheWrite > 0 ? input - cacheRead : 0
  const prompt = { output: 0, reasoning: 0 }
  const { raw: _, ...counted } = usage
  const asSent = costOf({ ...counted, ...prompt }, price, ttl)
  const asWhole = costOf({ ...counted, ...prompt, input, cacheRead, cacheWrite }, price, ttl)
  return asSent === undefined || asWhole === undefined ? undefined : asWhole - asSent
}
