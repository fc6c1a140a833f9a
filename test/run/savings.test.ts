import assert from 'node:assert/strict'
import test from 'node:test'
import { noUsage } from '../../src/core/usage.ts'
import { estimateHead } from '../../src/context/assemble.ts'
import { sizesOf } from '../../src/context/count.ts'
import { readForecast } from '../../src/context/forecast.ts'
import { recallSpec } from '../../src/run/recall.ts'
import { savedBy } from '../../src/run/exchange.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { createEmulator } from '../../src/testing.ts'
import { clockTool, talk } from './talking.ts'

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
