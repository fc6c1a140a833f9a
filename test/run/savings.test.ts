// What folding and cutting have saved.

import assert from 'node:assert/strict'
import test from 'node:test'
import { noUsage } from '../../src/core/usage.ts'
import { estimateHead } from '../../src/context/assemble.ts'
import { sizesOf } from '../../src/context/count.ts'
import { readForecast } from '../../src/context/forecast.ts'
import { recallSpec } from '../../src/run/tools/recall.ts'
import { savedBy } from '../../src/run/request/exchange.ts'
import { leftOut, usageOf } from '../../src/run/usage.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import type { Store } from '../../src/store/store.ts'
import { createEmulator } from '../../src/testing.ts'
import { clockTool, talk, type Talk } from './talking.ts'

const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
const about = { cached: 0, head: '0123456789ab', ttl: '5m' as const }

test('savings are priced against the whole history with the same cache', () => {
  const forecast = { ...about, estimate: 1000, whole: 11_000, wholeCached: 10_500 }
  const usage = { ...noUsage, input: 2000, cacheRead: 1000, cacheWrite: 1000 }
  // Twice as many tokens as we count: 21,000 read and 1,000 written, against 1,000 read and 1,000 written.
  assert.equal(savedBy(forecast, usage, price)?.toFixed(6), ((20_000 * 0.3) / 1_000_000).toFixed(6))
})

test('if nothing is written to the cache, what is not read from it is paid in full; output costs the same', () => {
  const forecast = { ...about, estimate: 1000, whole: 3000, wholeCached: 2000 }
  const usage = { ...noUsage, input: 1000, output: 500 }
  // 1,000 in full and 2,000 read, against 1,000 in full.
  assert.equal(savedBy(forecast, usage, price)?.toFixed(6), ((2000 * 0.3) / 1_000_000).toFixed(6))
})

test('without omissions, an estimate, a price or a bill nothing is reported', () => {
  const forecast = { ...about, estimate: 1000, whole: 1000, wholeCached: 0 }
  const usage = { ...noUsage, input: 1000 }
  assert.equal(savedBy(forecast, usage, price), undefined)
  assert.equal(savedBy({ ...forecast, whole: 5000 }, usage, undefined), undefined)
  assert.equal(savedBy({ ...forecast, whole: 5000, estimate: 0 }, usage, price), undefined)
  assert.equal(savedBy({ ...forecast, whole: 5000 }, { ...usage, offline: true }, price), undefined)
  assert.ok((savedBy({ ...forecast, whole: 1001 }, usage, price) ?? 0) > 0)
})

test('each request stores the size of the whole history', async () => {
  const chat = await talk({
    model: 'anthropic/claude-opus-5',
    policy: { maxToolTurns: 1, step: 1 },
    tools: [clockTool],
    result: () => 'noon '.repeat(400),
  })
  for (let i = 0; i < 3; i++) await chat.say('What time is it?')
  const [last] = await chat.exchanges()
  const whole = Number(/whole history has (\d+)/.exec(last?.notes.map((note) => note.what).join('\n') ?? '')?.[1])
  const estimate = Number(/an estimate of (\d+)/.exec(last?.notes.map((note) => note.what).join('\n') ?? '')?.[1])
  assert.ok(whole > estimate, `${whole} against ${estimate}`)
})

test('the size of the whole history continues from the last request, and equals a full count', async () => {
  const chat = await talk({
    model: 'anthropic/claude-opus-5',
    policy: { maxToolTurns: 1, step: 1 },
    tools: [clockTool],
    result: () => 'noon '.repeat(400),
  })
  for (let i = 0; i < 4; i++) await chat.say('What time is it?')
  const [last] = await chat.exchanges()
  const sent = chat.history.slice(0, chat.history.findIndex((entry) => entry.id === last?.basedOn) + 1)
  const counted = sizesOf(sent.map((entry) => entry.message)).reduce((sum, size) => sum + size, 0)
  const head = estimateHead([], [clockTool, recallSpec])
  assert.equal(last && readForecast(last)?.whole, head + counted)
})

test('what should be cached is forecast the same by a process that has not sent the last request', async () => {
  const chat = await talk({
    model: 'anthropic/claude-opus-5',
    policy: { maxToolTurns: 1, step: 1 },
    tools: [clockTool],
    result: () => 'noon '.repeat(1200),
  })
  for (let i = 0; i < 3; i++) await chat.say('What time is it?')
  const { explained } = await chat.look()
  chat.history.splice(0, Infinity, ...structuredClone(chat.history))
  const { explained: anew } = await chat.look()
  assert.ok(explained.cached > 0)
  assert.equal(anew.cached, explained.cached)
})

test('what should be cached is forecast from the last request of the same model and branch, whichever came last', async () => {
  const [model, other] = ['anthropic/claude-opus-5', 'openai/gpt-5.6']
  for (const [what, prepare] of Object.entries<(chat: Talk) => Promise<unknown>>({
    'another model in between': (chat) => chat.say('Hello.', { model: other }),
    'another request of another model': async (chat) => {
      await chat.say('Hello.', { model: other })
      await chat.say('Hello again.', { model })
      await chat.say('And again.', { model: other })
    },
    'an earlier place': (chat) => chat.fork(chat.history.length - 4),
    'another branch': async (chat) => {
      await chat.fork(chat.history.length - 4)
      await chat.say('Another way.')
    },
    'another system prompt': (chat) => chat.say('Hello.', { system: 'Be brief.' }),
  })) {
    const chat = await talk({ model, tools: [clockTool], result: () => 'noon '.repeat(1200), policy: 'full' })
    for (let i = 0; i < 3; i++) await chat.say('What time is it?')
    await prepare(chat)
    for (const asked of [model, other]) {
      const known = (await chat.look({ model: asked })).explained.cached
      const history = [...chat.history]
      chat.history.splice(0, Infinity, ...structuredClone(history))
      assert.equal((await chat.look({ model: asked })).explained.cached, known, `${what}: ${asked}`)
      chat.history.splice(0, Infinity, ...history)
    }
  }
})

test('usage is the sum of all requests, by model and with those of sub-agents, the most expensive first', async () => {
  const row = (model: string, cost: number, input: number) => {
    const counts = { input, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 1 }
    return { day: '2026-11-15', provider: 'p', model, exchanges: 2, ...counts, cost, unpriced: cost === 0 ? 1 : 0 }
  }
  const rows: Record<string, object[]> = {
    c: [row('a', 1, 10), row('b', 0, 20), row('d', 0, 30)],
    child: [row('a', 2, 5)],
  }
  rows['grandchild'] = [row('e', 5, 1)]
  const children: Record<string, string[]> = { 'subagent-of:c': ['child'], 'subagent-of:child': ['grandchild'] }
  const saving = (saved: number) => ({
    provider: 'p',
    model: 'a',
    startedAt: '2026-11-15T12:00:00Z',
    notes: [{ rule: 'forecast', data: { saved } }],
  })
  const pages: Record<string, object> = {
    first: { items: [saving(0.5), saving(0)], next: 'second' },
    second: { items: [saving(0.25)] },
  }
  const store = {
    usage: async (_: string, { conversationId }: { conversationId: string }) => rows[conversationId] ?? [],
    conversations: async (_: string, { label }: { label: string }) => ({
      items: (children[label] ?? []).map((id) => ({ id })),
    }),
    exchanges: async (_: string, __: string, { cursor = 'first' }: { cursor?: string }) => pages[cursor],
    toolRuns: async () => [{ name: 'recall' }, { name: 'clock' }, { name: 'recall' }],
  } as unknown as Store
  const { models, ...total } = await usageOf(store, 'local', 'c')
  const counts = { input: 66, output: 10, cacheRead: 15, cacheWrite: 20, reasoning: 5 }
  assert.deepEqual(total, { ...counts, cost: 8, requests: 10, unpriced: 2, saved: 0.75, recalls: 2 })
  assert.deepEqual(
    models.map(({ model, cost, input, requests, unpriced }) => [model, cost, input, requests, unpriced]),
    [
      ['e', 5, 1, 2, 0],
      ['a', 3, 15, 4, 0],
      ['d', 0, 30, 2, 1],
      ['b', 0, 20, 2, 1],
    ],
  )
  const { rows: saved } = await leftOut(store, 'local', 'c')
  assert.deepEqual(
    saved.map((one) => [one.day, one.saved]),
    [
      ['2026-11-15', 0.5],
      ['2026-11-15', 0.25],
    ],
  )
})

test('a conversation says how often something was recalled', async () => {
  const synapse = await openSynapse({ offline: createEmulator(), env: {} })
  const chat = await synapse.start({ model: 'anthropic/claude-opus-5', policy: { maxMessages: 4 } })
  for (let i = 0; i < 4; i++) await chat.send(`Count to ${i + 1}.`).ended
  await chat.send('use the tool recall with {"query":"Count"}').ended
  const { recalls, saved } = await chat.usage()
  assert.equal(recalls, 1)
  // Too short for a cache: what was not sent was not paid.
  assert.ok(saved > 0, `${saved}`)
})
