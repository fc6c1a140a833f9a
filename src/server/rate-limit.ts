// Rate limits: a token bucket per caller, filled at an even rate. Idle callers are forgotten, so that the table cannot
// be made to grow.

import { isIPv6 } from 'node:net'
import { SynapseError } from '../core/error.ts'

export interface Rate {
  perMinute: number
  /** The burst size. */
  burst: number
}

export interface RateLimit {
  /** Throws kind 'rate-limit' with the time to wait. `perMinute`: a separate rate, which is also the burst size. */
  take(who: string, perMinute?: number): void
}

export function rateLimit(usual: Rate, now: () => number = () => performance.now()): RateLimit {
  const buckets = new Map<string, { left: number; at: number }>()
  // A bucket with a separate rate is full after a minute.
  const fullAfterMs = Math.max(60_000, (usual.burst / usual.perMinute) * 60_000)
  let sweptAt = now()

  return {
    take(id, perMinuteOfKey) {
      const { perMinute, burst } =
        perMinuteOfKey === undefined ? usual : { perMinute: perMinuteOfKey, burst: perMinuteOfKey }
      const perMs = perMinute / 60_000
      const at = now()
      if (at - sweptAt > fullAfterMs) sweep(at)
      const bucket = buckets.get(id)
      const remaining = bucket ? Math.min(burst, bucket.left + (at - bucket.at) * perMs) : burst
      if (remaining < 1) {
        throw new SynapseError({
          kind: 'rate-limit',
          message: 'Too many requests. Try again in a moment.',
          retryAfterMs: (1 - remaining) / perMs,
        })
      }
      buckets.set(id, { left: remaining - 1, at })
    },
  }

  function sweep(at: number): void {
    sweptAt = at
    for (const [id, bucket] of buckets) if (at - bucket.at > fullAfterMs) buckets.delete(id)
  }
}

/** An IPv6 client has a whole network of addresses: the first half of the address counts. */
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
