// How often somebody may ask: a bucket for each, filled at an even rate. What has not asked for a while is forgotten, so
// that the table cannot be made to grow.

import { isIPv6 } from 'node:net'
import { SynapseError } from '../core/error.ts'

export interface Rate {
  perMinute: number
  /** How many at once. */
  burst: number
}

export interface RateLimit {
  /** Throws kind 'rate-limit' with the time to wait. */
  take(who: string): void
}

export function rateLimit({ perMinute, burst }: Rate, now: () => number = () => performance.now()): RateLimit {
  const buckets = new Map<string, { left: number; at: number }>()
  const perMs = perMinute / 60_000
  const fullAfterMs = burst / perMs
  let sweptAt = now()

  return {
    take(who) {
      const at = now()
      if (at - sweptAt > fullAfterMs) sweep(at)
      const bucket = buckets.get(who)
      const left = bucket ? Math.min(burst, bucket.left + (at - bucket.at) * perMs) : burst
      if (left < 1) {
        throw new SynapseError({
          kind: 'rate-limit',
          message: 'Too many requests. Wait a little.',
          retryAfterMs: (1 - left) / perMs,
        })
      }
      buckets.set(who, { left: left - 1, at })
    },
  }

  function sweep(at: number): void {
    sweptAt = at
    for (const [who, bucket] of buckets) if (at - bucket.at > fullAfterMs) buckets.delete(who)
  }
}

/** One who has IPv6 has a whole network of addresses: the first half of it counts. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:/i, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail = ''] = plain.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === '' ? [] : tail.split(':')
  const zeros = plain.includes('::') ? Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0') : []
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':')
}
