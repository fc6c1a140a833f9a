// The price of reading from and writing to a prompt cache, relative to uncached input, and the lifetime of a cache.
// Only ratios matter here, so no price list is needed if the provider's own rule is known.

import type { Options } from '../settings/options.ts'
import type { Price } from '../providers/price.ts'
import type { Caching } from '../providers/provider.ts'

export interface CachePrice {
  read: number
  write: number
  /** Shorter prompts are not cached. */
  minimum: number
  lifetimeMs: number
  /** See `Caching`. */
  units?: boolean
}

export interface Billing {
  caching: Caching
  price?: Price
  /** A local server: reading costs only time, and a prefix is cached as long as the server runs. */
  isLocal?: boolean
}

const hour = 3_600_000
/** Assumed where a provider does not say (checked 2026-11: 5 to 10 idle minutes are usual). */
const defaultLifetimeMs = 10 * 60_000
const defaultMinimum = 1024

export function cachePriceOf({ caching, price, isLocal }: Billing, ttl: Options['cacheTtl']): CachePrice {
  const minimum = caching.minimum ?? (isLocal ? 0 : defaultMinimum)
  const lifetimeMs = ttl === '1h' && caching.kind === 'marks' ? hour : (caching.lifetimeMs ?? defaultLifetimeMs)
  if (caching.kind === 'none') return { read: 1, write: 1, minimum: 0, lifetimeMs: 0 }
  if (isLocal || price?.input === 0) return { read: 0, write: 1, minimum, lifetimeMs: isLocal ? Infinity : lifetimeMs }
  if (!price) return { read: 0.1, write: caching.kind === 'marks' ? 1.25 : 1, minimum, lifetimeMs }
  const written = (ttl === '1h' ? price.cacheWriteLong : undefined) ?? price.cacheWrite ?? price.input
  const read = (price.cacheRead ?? price.input) / price.input
  return { read, write: written / price.input, minimum, lifetimeMs, ...(caching.units && { units: true }) }
}

export interface Gaps {
  /** Requests so far. */
  requests: number
  /** Of them, how many came more than five minutes and at most an hour after the one before. */
  within: number
  /** How many came later than that. */
  beyond: number
}

/**
 * Whether cache marks should last an hour: if pauses of five minutes to an hour cost more than the longer lifetime. Tool
 * loops have no such pauses, so for them it never does.
 */
export function cacheTtlFor(billing: Billing, gaps: Gaps, view: number, added: number): '5m' | '1h' {
  const short = cachePriceOf(billing, '5m')
  const long = cachePriceOf(billing, '1h')
  if (billing.caching.kind !== 'marks' || !billing.price?.cacheWriteLong) return '5m'
  // One pause is not a pattern.
  if (gaps.requests === 0 || gaps.within < 2) return '5m'
  const within = gaps.within / gaps.requests
  const beyond = gaps.beyond / gaps.requests
  const saved = within * (short.write - short.read) * view
  return saved > (long.write - short.write) * (added + beyond * view) ? '1h' : '5m'
}
