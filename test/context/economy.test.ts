// When to fold, by the prices of a prompt cache.

import assert from 'node:assert/strict'
import test from 'node:test'
import { decideFold, type EconomyState } from '../../src/context/economy.ts'
import { cachePriceOf, cacheTtlFor, type Billing } from '../../src/context/price-ratio.ts'

const base: EconomyState = {
  read: 0.1,
  write: 1.25,
  items: [{ saves: 1000, at: 2000, since: 0 }],
  size: 20_000,
  limit: 200_000,
  cacheMin: 1024,
  cold: false,
  requests: 5,
  cachedEnd: 10_000,
  floorAt: 5000,
}

test('nothing is folded if nothing may be left out', () => {
  assert.deepEqual(decideFold({ ...base, items: [] }), { fold: false, why: 'nothing to fold' })
})

test('everything that may be left out is folded when it costs nothing: cold, uncached, undiscounted, or over the limit', () => {
  const items = [1, 2, 3].map((i) => ({ saves: 500, at: 1000 * i, since: i }))
  const cases: [Partial<EconomyState>, string][] = [
    [{ cold: true }, 'the cache is cold'],
    [{ size: 900 }, 'nothing is cached at this size'],
    [{ read: 1, write: 1 }, 'the price has no cache discount'],
    [{ limit: 10_000 }, 'over the limit'],
  ]
  for (const [change, why] of cases) {
    const decision = decideFold({ ...base, items, ...change })
    assert.ok(decision.fold && decision.from === 0 && decision.why === why, why)
  }
})

test('a prefix that costs nothing to keep is never folded', () => {
  assert.equal(decideFold({ ...base, read: 0, write: 1, requests: 1000 }).fold, false)
})

/** Each request makes `added` tokens removable; `kept` tokens stay after them. Gives the requests between two folds. */
function rhythm(read: number, write: number, kept: number, added: number): number[] {
  const folds: number[] = []
  let first = 0
  for (let requests = 1; requests < 400; requests++) {
    const items = Array.from({ length: requests - first }, (_, i) => ({
      saves: added,
      at: 1000 + i * added,
      since: first + i + 1,
    }))
    const cachedEnd = 1000 + items.length * added + kept
    const floorAt = cachedEnd - kept
    const decision = decideFold({ ...base, read, write, items, requests, cachedEnd, floorAt, size: cachedEnd })
    if (!decision.fold) continue
    assert.equal(decision.from, 0)
    folds.push(requests)
    first = requests
  }
  return folds.map((at, i) => at - (folds[i - 1] ?? 0)).slice(1)
}

test('the time between folds follows the square root of kept over added tokens', () => {
  for (const [read, write, kept, added] of [
    [0.1, 1.25, 5000, 1000],
    [0.1, 1.25, 20_000, 1000],
    [0.5, 1, 5000, 1000],
    [1 / 30, 1, 5000, 1000],
  ] as const) {
    const wanted = Math.sqrt((2 * (write - read) * kept) / (read * added))
    const gaps = rhythm(read, write, kept, added)
    assert.ok(gaps.length > 3)
    for (const gap of gaps) assert.ok(Math.abs(gap - wanted) <= 2, `${gap}, and ${wanted.toFixed(1)} by the law`)
  }
})

test('a cut that would not pay back within as many requests as there were is not made', () => {
  const decision = decideFold({
    ...base,
    items: [{ saves: 200, at: 1000, since: 0 }],
    cachedEnd: 100_000,
    requests: 20,
  })
  assert.deepEqual(decision, { fold: false, why: 'would not pay back' })
})

const anthropic: Billing = {
  caching: { kind: 'marks', minimum: 1024, lifetimeMs: 300_000 },
  price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25, cacheWriteLong: 10 },
}

test('prices of a cache are relative to input, and differ by how long it is to live', () => {
  assert.deepEqual(cachePriceOf(anthropic, '5m'), { read: 0.1, write: 1.25, minimum: 1024, lifetimeMs: 300_000 })
  assert.deepEqual(cachePriceOf(anthropic, '1h'), { read: 0.1, write: 2, minimum: 1024, lifetimeMs: 3_600_000 })
  const none = cachePriceOf({ caching: { kind: 'none' }, price: { input: 1, output: 1 } }, undefined)
  assert.deepEqual([none.read, none.write], [1, 1])
  const home = cachePriceOf({ caching: { kind: 'prefix' }, isLocal: true }, undefined)
  assert.deepEqual([home.read, home.lifetimeMs], [0, Infinity])
})

test('an hour is requested when pauses cost more than the longer lifetime', () => {
  const ttl = (within: number, beyond: number, requests: number) =>
    cacheTtlFor(anthropic, { requests, within, beyond }, 50_000, 1000)
  assert.equal(ttl(0, 0, 20), '5m')
  assert.equal(ttl(1, 0, 5), '5m', 'one pause is no habit')
  assert.equal(ttl(4, 0, 20), '1h')
  const even = { ...anthropic, price: { input: 1, output: 1, cacheRead: 0, cacheWrite: 1, cacheWriteLong: 2 } }
  const gaps = { requests: 4, within: 2, beyond: 0 }
  assert.equal(cacheTtlFor(even, gaps, 1000, 500), '5m', 'what costs the same')
  assert.equal(cacheTtlFor(even, gaps, 1000, 499), '1h')
  assert.equal(ttl(2, 18, 20), '5m', 'what is cold after an hour too is written dearly for nothing')
})
