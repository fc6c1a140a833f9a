// What earlier requests say about the prompt cache: warm, expired, or another prefix.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry, Exchange, Overlay } from '../../src/core/log.ts'
import type { Message } from '../../src/core/message.ts'
import { noUsage } from '../../src/core/usage.ts'
import { asideRule, readCacheHistory, type CacheHistoryQuery } from '../../src/context/cache-history.ts'
import { forecastNote, readForecast, readSaved } from '../../src/context/forecast.ts'

const began = Date.parse('2026-11-15T12:00:00Z')
const at = (seconds: number) => new Date(began + seconds * 1000).toISOString()
const lifetimeMs = 300_000
const forecast = { estimate: 1000, cached: 800, head: 'h', ttl: '5m', whole: 0, wholeCached: 0 } as const

function entry(id: string, message: Message, seconds: number): Entry {
  return { id, conversationId: 'c', parentId: null, depth: 0, message, at: at(seconds) }
}

const asked = (id: string, seconds: number) => entry(id, { role: 'user', parts: [] }, seconds)
const answered = (id: string, seconds: number, model = 'm') =>
  entry(
    id,
    {
      role: 'assistant',
      parts: [],
      native: [],
      origin: { provider: 'p', protocol: 'w', model },
      stop: { reason: 'done' },
    },
    seconds,
  )

function sent(change: Partial<Exchange> = {}): Exchange {
  return {
    id: 'x',
    conversationId: 'c',
    basedOn: 'u1',
    provider: 'p',
    protocol: 'w',
    model: 'm',
    bodySha256: '',
    notes: [forecastNote(forecast, undefined)],
    outcome: 'done',
    attempts: 1,
    startedAt: at(0),
    usage: { ...noUsage, input: 1000, cacheRead: 800 },
    ...change,
  }
}

const entries = [asked('u1', 0), answered('a1', 5), asked('u2', 10)]
const read = (change: Partial<CacheHistoryQuery> = {}) =>
  readCacheHistory({
    entries,
    exchanges: [sent()],
    overlays: [],
    provider: 'p',
    model: 'm',
    head: 'h',
    cacheFor: () => ({ lifetimeMs, minimum: 500 }),
    ...change,
  })

test('the cache is warm after a request to the same model, and cold before the first', () => {
  const { cold, requests, ratio, last } = read()
  assert.deepEqual([cold, requests, ratio, last?.id], [undefined, 1, 1, 'x'])
  assert.deepEqual(read({ model: 'other' }).cold, 'first request')
  assert.equal(read({ model: 'other' }).requests, 0)
  assert.equal(read({ provider: 'q' }).cold, 'first request')
})

test('the cache has expired when its lifetime has passed since the last request, not a millisecond before', () => {
  const after = (ms: number) => [...entries.slice(0, 2), asked('u2', ms / 1000)]
  assert.equal(read({ entries: after(lifetimeMs - 1) }).cold, undefined)
  assert.equal(read({ entries: after(lifetimeMs) }).cold, 'the cache has expired')
  assert.equal(read({ exchanges: [], entries: after(5000 + lifetimeMs - 1) }).cold, undefined, 'since the reply')
  assert.equal(read({ exchanges: [], entries: after(5000 + lifetimeMs) }).cold, 'the cache has expired')
})

test('another head, or a fold since then, changes the prefix; an earlier fold and other overlays do not', () => {
  const overlay = (kind: string, seconds: number): Overlay => {
    return { id: 'o', conversationId: 'c', entryId: 'a1', kind, data: {}, at: at(seconds), undone: false }
  }
  assert.equal(read({ head: 'other' }).cold, 'something before has changed')
  for (const kind of ['fold', 'cut', 'compaction', 'plain']) {
    assert.equal(read({ overlays: [overlay(kind, 7)] }).cold, 'something before has changed', kind)
    assert.equal(read({ overlays: [overlay(kind, -1)] }).cold, undefined, kind)
  }
  assert.equal(read({ overlays: [overlay('title', 7)] }).cold, undefined)
})

test('less than a tenth of what was expected from the cache means that it is cold', () => {
  const found = (cacheRead: number, cacheWrite = 0, expected = 800) =>
    read({
      exchanges: [
        sent({
          notes: [forecastNote({ ...forecast, cached: expected }, undefined)],
          usage: { ...noUsage, input: 1000, cacheRead, cacheWrite },
        }),
      ],
    }).cold
  assert.equal(found(79), 'the last read found nothing')
  assert.equal(found(80), undefined)
  assert.equal(found(0, 80), undefined, 'what it wrote is there now')
  assert.equal(found(40, 40), undefined)
  assert.equal(found(0, 0, 499), undefined, 'less than the provider caches at all')
  assert.equal(found(0, 0, 500), 'the last read found nothing')
  const free = (cached: number) =>
    read({
      exchanges: [sent({ notes: [forecastNote({ ...forecast, cached }, undefined)], usage: { ...noUsage, input: 9 } })],
      cacheFor: () => ({ lifetimeMs, minimum: 0 }),
    }).cold
  assert.deepEqual([free(0), free(1)], [undefined, 'the last read found nothing'])
})

test('the last request is one of this path, with usage, that was part of the conversation', () => {
  for (const change of [
    { basedOn: 'elsewhere' },
    { usage: undefined },
    { model: 'other' },
    { provider: 'other' },
    { notes: [{ kind: 'added', what: 'x', why: 'y', rule: asideRule } as const] },
  ]) {
    assert.equal(read({ exchanges: [sent(change as Partial<Exchange>), sent({ id: 'older' })] }).last?.id, 'older')
  }
})

test('the count of a provider is compared with ours, within a half and four times', () => {
  const ratio = (input: number, estimate: number) =>
    read({
      exchanges: [
        sent({
          notes: [forecastNote({ ...forecast, estimate }, undefined)],
          usage: { ...noUsage, input, cacheRead: 800 },
        }),
      ],
    }).ratio
  assert.deepEqual([ratio(1500, 1000), ratio(9000, 1000), ratio(100, 1000)], [1.5, 4, 0.5])
  assert.deepEqual([ratio(0, 1000), ratio(1000, 0)], [1, 1])
  assert.equal(ratio(1, 1), 1)
})

test('pauses of the user are counted from five minutes and from an hour, and tool steps are none', () => {
  const gapsAfter = (...seconds: number[]) => {
    const path: Entry[] = [asked('u', 0)]
    let now = 0
    for (const [i, pause] of seconds.entries()) path.push(answered(`a${i}`, now), asked(`u${i}`, (now += pause)))
    return read({ entries: path }).gaps
  }
  assert.deepEqual(gapsAfter(300, 300.001, 3600, 3600.001), { requests: 4, within: 2, beyond: 1 })
  const steps = [asked('u', 0), answered('a', 0), entry('t', { role: 'tool', parts: [] }, 9000), answered('b', 9000)]
  assert.deepEqual(read({ entries: steps }).gaps, { requests: 2, within: 0, beyond: 0 })
  assert.equal(read({ entries: steps }).requests, 2)
  const twice = [asked('u', 0), answered('a', 0), asked('v', 400), asked('w', 9000)]
  assert.deepEqual(read({ entries: twice }).gaps, { requests: 1, within: 1, beyond: 0 }, 'a pause counts once')
})

test('a forecast is read as it was written, the newest one, and one of old records from its text', () => {
  const full = { ...forecast, ttl: '1h', whole: 5000, wholeCached: 4000 } as const
  const note = forecastNote(full, { ...noUsage, input: 7 }, -0.5)
  assert.deepEqual(readForecast({ notes: [forecastNote(forecast, undefined), note] }), full)
  assert.equal(readSaved({ notes: [note] }), -0.5)
  const { data: _data, ...old } = note
  assert.deepEqual(readForecast({ notes: [old] }), full)
  assert.equal(readSaved({ notes: [old] }), -0.5)
  assert.equal(readForecast({ notes: [] }), undefined)
  assert.equal(readForecast({ notes: [{ ...old, why: 'something else' }] }), undefined)
  assert.equal(readForecast({ notes: [{ ...old, what: 'something else' }] }), undefined)
  assert.equal(readForecast({ notes: [{ ...note, data: {} }] }), undefined)
  assert.equal(readSaved({ notes: [] }), 0)
})
