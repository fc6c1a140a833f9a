// The price and the lifetime of a cache.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cachePriceOf, cacheTtlFor } from '../../src/context/price-ratio.ts'

test('the price of a cache follows from the price list, the kind of cache and the lifetime', () => {
  const marks = { kind: 'marks', minimum: 5 } as const
  const price = { input: 10, output: 1, cacheRead: 1, cacheWrite: 12, cacheWriteLong: 20 }
  const rest = { minimum: 5, lifetimeMs: 600_000 }
  assert.deepEqual(cachePriceOf({ caching: marks, price }, undefined), { read: 0.1, write: 1.2, ...rest })
  assert.deepEqual(cachePriceOf({ caching: marks, price }, '1h'), {
    read: 0.1,
    write: 2,
    ...rest,
    lifetimeMs: 3_600_000,
  })
  assert.deepEqual(cachePriceOf({ caching: marks, price: { input: 10, output: 1 } }, '1h').write, 1)
  assert.deepEqual(cachePriceOf({ caching: marks, price: { input: 10, output: 1 } }, '1h').read, 1)
  assert.deepEqual(cachePriceOf({ caching: marks }, undefined), { read: 0.1, write: 1.25, ...rest })
  const prefix = { kind: 'prefix' } as const
  assert.deepEqual(cachePriceOf({ caching: prefix }, '1h'), { read: 0.1, write: 1, minimum: 1024, lifetimeMs: 600_000 })
  assert.deepEqual(cachePriceOf({ caching: prefix, isLocal: true }, undefined).minimum, 0)
  assert.deepEqual(cachePriceOf({ caching: { ...prefix, lifetimeMs: 7 }, price: { input: 0, output: 0 } }, undefined), {
    read: 0,
    write: 1,
    minimum: 1024,
    lifetimeMs: 7,
  })
  assert.equal(cachePriceOf({ caching: { ...prefix, units: true }, price }, undefined).units, true)
  assert.equal('units' in cachePriceOf({ caching: prefix, price }, undefined), false)
  const gaps = { requests: 4, within: 2, beyond: 0 }
  assert.equal(cacheTtlFor({ caching: marks, price }, gaps, 1000, 100), '1h')
  assert.equal(cacheTtlFor({ caching: prefix, price }, gaps, 1000, 100), '5m')
  assert.equal(cacheTtlFor({ caching: marks }, gaps, 1000, 100), '5m')
  const { cacheWriteLong: _, ...short } = price
  assert.equal(cacheTtlFor({ caching: marks, price: short }, gaps, 1000, 100), '5m')
  assert.equal(cacheTtlFor({ caching: marks, price }, { ...gaps, within: 1 }, 1000, 100), '5m')
  assert.equal(cacheTtlFor({ caching: marks, price }, { ...gaps, requests: 0 }, 1000, 100), '5m')
  // Of two requests in four after a pause, 1.1 of 1,000 tokens is lost each time: 550 for each request. An hour costs 0.8
  // more for what is added, and for 1,000 after each longer pause, of which there is one in four: as much at 437.5.
  const often = { requests: 4, within: 2, beyond: 1 }
  assert.equal(cacheTtlFor({ caching: marks, price }, often, 1000, 437), '1h')
  assert.equal(cacheTtlFor({ caching: marks, price }, often, 1000, 438), '5m')
  assert.equal(cacheTtlFor({ caching: marks, price }, { ...often, beyond: 3 }, 1000, 0), '5m')
})
