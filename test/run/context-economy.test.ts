// The economy policy over many requests: when it folds, and what the cache reports.

import assert from 'node:assert/strict'
import test from 'node:test'
import { readForecast } from '../../src/context/forecast.ts'
import { clockTool, talk, type TalkSettings } from './talking.ts'

const long = 'noon '.repeat(800)
const settings: TalkSettings = {
  model: 'anthropic/claude-opus-5',
  tools: [clockTool],
  system: 'Be exact. '.repeat(200),
  result: () => long,
  policy: { preset: 'economy', maxToolTurns: 3 },
}

/** How many of the results in a body are whole. */
function wholeResults(body: unknown): number {
  return JSON.stringify(body).split(long).length - 1
}

test('a warm cache is appended to until the rent has reached the price of rewriting, then folded down to the floor', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 24; i++) await chat.say('What time is it?')
  const folds = await chat.overlays('fold')
  assert.ok(folds.length >= 1 && folds.length <= 4, `${folds.length} folds in 24 tool turns`)
  const [first] = folds
  assert.match(JSON.stringify(first?.data['why']), /rent has reached/)
  assert.ok(Number(first?.data['rent']) >= Number(first?.data['rewriting']) && Number(first?.data['gain']) > 0)
  assert.deepEqual([first?.data['provider'], first?.data['model']], ['anthropic', 'claude-opus-5'])
  const counts = chat.bodies().map(wholeResults)
  const lowest = counts.slice(10).reduce((least, count) => Math.min(least, count))
  assert.ok(lowest === 3 || lowest === 4, `a fold goes down to the floor, not to ${lowest}`)
})

test('every request between two folds begins with the whole request before it', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 20; i++) await chat.say('What time is it?')
  const reads = (await chat.exchanges()).toReversed().map(({ usage }) => ({ read: usage?.cacheRead ?? 0, all: usage }))
  const missed = reads.slice(2).filter(({ read, all }) => read < (all?.input ?? 0) / 2)
  assert.equal(missed.length, (await chat.overlays('fold')).length, 'only a fold makes the cache lose something')
})

test('the expected cache hit is stored with the reported one, and comes true', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 12; i++) await chat.say('What time is it?')
  for (const exchange of (await chat.exchanges()).slice(0, -2)) {
    const forecast = readForecast(exchange)
    const read = exchange.usage?.cacheRead ?? 0
    assert.ok(forecast)
    assert.ok(Math.abs(forecast.cached - read) <= 600 + read * 0.02, `${forecast.cached} expected, ${read} read`)
  }
})

test('when the cache has expired, everything that may be left out is folded, because it costs nothing', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 5; i++) await chat.say('What time is it?')
  assert.equal((await chat.overlays('fold')).length, 0)
  chat.clock.now += 6 * 60_000
  await chat.say('Hello again.')
  const [fold] = await chat.overlays('fold')
  assert.match(JSON.stringify(fold?.data['why']), /cache is cold/)
  assert.equal(fold?.data['belief'], 'the cache has expired')
  assert.equal(wholeResults(chat.bodies().at(-1)), 3)
})

test('another model is cold, and the first one coming back sees that its prefix has changed', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 5; i++) await chat.say('What time is it?')
  await chat.say('Hello.', { model: 'openai/gpt-5.6' })
  await chat.say('Hello.')
  const beliefs = (await chat.overlays('fold')).map(({ data }) => [data['provider'], data['belief']])
  assert.deepEqual(beliefs[0], ['openai', 'first request'])
  assert.equal(wholeResults(chat.bodies().at(-1)), 3, 'the fold counts for every model')
})

test('a changed system prompt makes the cache cold', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 5; i++) await chat.say('What time is it?')
  await chat.say('Hello.', { system: 'Be brief.' })
  assert.equal((await chat.overlays('fold'))[0]?.data['belief'], 'something before has changed')
})

/** What the cache of the model should have of the next request, and why not. */
async function expected(chat: Awaited<ReturnType<typeof talk>>, given: Partial<TalkSettings> = {}) {
  const message = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'And now?' }] }
  const { length } = chat.history
  chat.history.push(await chat.store.append('local', chat.conversationId, { message }))
  const { explained, cold } = await chat.look(given)
  await chat.fork(length)
  return { cached: explained.cached, cold }
}

test('system and tools are the beginning of a request: any change of them makes the cache cold', async () => {
  const chat = await talk({ ...settings, policy: 'full' })
  for (let i = 0; i < 2; i++) await chat.say('What time is it?')
  const { cached, cold } = await expected(chat)
  assert.ok(cached > 1000)
  assert.equal(cold, undefined)
  const other = { ...clockTool, name: 'date' }
  for (const change of [
    { system: 'Be exact, ' + 'please. '.repeat(200) },
    { system: '' },
    { tools: [{ ...clockTool, description: 'Tells the time.' }] },
    { tools: [{ ...clockTool, input: { type: 'object' } }] },
    { tools: [{ ...clockTool, name: 'watch' }] },
    { tools: [clockTool, other] },
    { tools: [] },
  ]) {
    const changed = await expected(chat, change)
    assert.deepEqual(changed, { cached: 0, cold: 'something before has changed' }, JSON.stringify(change))
    assert.equal((await expected(chat)).cached, cached, 'and unchanged it is warm')
  }
  // The same tool as another object is the same tool.
  assert.equal((await expected(chat, { tools: [{ ...clockTool }] })).cached, cached)
})

test('the last request of a model is found among those of others, and no failed one or one of another branch', async () => {
  const chat = await talk({ ...settings, policy: 'full' })
  for (let i = 0; i < 2; i++) await chat.say('What time is it?')
  const { cached } = await expected(chat)
  const { length } = chat.history
  for (const others of [1, 4, 12]) {
    for (let i = 0; i < others; i++) await chat.say('Hello.', { model: 'openai/gpt-5.6' })
    assert.deepEqual(await expected(chat), { cached, cold: undefined }, `${others} requests to another model later`)
    assert.equal((await expected(chat, { model: 'anthropic/claude-sonnet-5' })).cold, 'first request')
  }
  await chat.fork(length)
  chat.emulator.order({ status: 401 })
  await chat.say('Hello.')
  await chat.fork(length)
  assert.equal((await expected(chat)).cached, cached, 'after one that failed')
  await chat.say('Another way.')
  await chat.fork(length)
  assert.equal((await expected(chat)).cached, cached, 'after one on another branch')
})

test('a cache that is too small, expired or as expensive as no cache is expected to have nothing', async () => {
  const cachedOf = async (given: Partial<TalkSettings>, laterMs = 0) => {
    const chat = await talk({ ...settings, policy: 'full', ...given })
    for (let i = 0; i < 2; i++) await chat.say('What time is it?')
    chat.clock.now += laterMs
    return (await expected(chat)).cached
  }
  assert.ok((await cachedOf({})) > 1000)
  assert.equal(await cachedOf({}, 10 * 60_000), 0)
  assert.equal(await cachedOf({ system: 'Be exact.', result: () => 'noon' }), 0)
  assert.equal(await cachedOf({ model: 'together/meta-llama/Llama-3.3-70B-Instruct-Turbo' }), 0)
})

test('what the cache would have of the whole history is what the last request would have left in it', async () => {
  const wholes = async (given: Partial<TalkSettings>, pauseMs: number) => {
    const chat = await talk({ ...settings, policy: { maxToolTurns: 1, step: 1 }, ...given })
    for (let i = 0; i < 4; i++) await chat.say('What time is it?')
    chat.clock.now += pauseMs
    await chat.say('What time is it?')
    const [, second, before] = (await chat.exchanges()).map((exchange) => readForecast(exchange) ?? assert.fail())
    assert.ok(second && before && second.whole > second.estimate && before.whole > before.estimate)
    return { cached: second.wholeCached, before: before.whole }
  }
  const warm = await wholes({}, 0)
  assert.equal(warm.cached, warm.before)
  assert.equal((await wholes({}, 10 * 60_000)).cached, 0)
  assert.equal((await wholes({ model: 'together/meta-llama/Llama-3.3-70B-Instruct-Turbo' }, 0)).cached, 0)
  assert.equal((await wholes({ system: '', result: () => 'noon '.repeat(20) }, 0)).cached, 0)
})

test('an unexpected cache miss means a cold cache', async () => {
  // The emulator has no cache for a request with a unique key.
  const chat = await talk({ ...settings, model: 'mistral/mistral-medium-latest' })
  for (let i = 0; i < 6; i++) await chat.say('What time is it?', { options: { cacheKey: `key-${i}` } })
  const beliefs = (await chat.overlays('fold')).map(({ data }) => data['belief'])
  assert.ok(beliefs.includes('the last read found nothing'), JSON.stringify(beliefs))
})

test('a price without a cache discount folds at once; a local server never before its limit', async () => {
  const paid = await talk({ ...settings, model: 'together/meta-llama/Llama-3.3-70B-Instruct-Turbo' })
  for (let i = 0; i < 8; i++) await paid.say('What time is it?')
  assert.ok((await paid.overlays('fold')).length >= 4)
  const home = await talk({ ...settings, model: 'llama.cpp/a-model' })
  for (let i = 0; i < 8; i++) await home.say('What time is it?')
  assert.equal((await home.overlays('fold')).length, 0)
})

test('a fold applies to its own branch only, and undone it has no effect', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 5; i++) await chat.say('What time is it?')
  const before = chat.history.length
  chat.clock.now += 6 * 60_000
  await chat.say('Hello.')
  assert.equal(wholeResults(chat.bodies().at(-1)), 3)

  await chat.fork(before)
  const [fold] = await chat.overlays('fold')
  await chat.say('Another way.', { policy: 'full' })
  assert.equal(wholeResults(chat.bodies().at(-1)), 5, 'the other branch was not folded')

  await chat.store.setOverlayUndone('local', fold?.id ?? '', true)
  const back = await chat.store.history('local', fold?.entryId ?? '')
  chat.history.splice(0, chat.history.length, ...back)
  await chat.store.setHead('local', back[0]?.conversationId ?? '', { entryId: back.at(-1)?.id ?? null })
  await chat.say('Once more.', { policy: 'full' })
  assert.equal(wholeResults(chat.bodies().at(-1)), 5)
})

test('turns that were brought back are sent as before, and are not folded again', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 5; i++) await chat.say('What time is it?')
  chat.clock.now += 6 * 60_000
  await chat.say('Hello.')
  const [fold] = await chat.overlays('fold')
  await chat.store.setOverlayUndone('local', fold?.id ?? '', true)
  chat.clock.now += 6 * 60_000
  await chat.say('And now?')
  assert.equal(wholeResults(chat.bodies().at(-1)), 5)
  for (let i = 0; i < 4; i++) await chat.say('What time is it?')
  chat.clock.now += 2 * 3_600_000
  await chat.say('And then?')
  assert.equal(wholeResults(chat.bodies().at(-1)), 5, 'two came back, three are the newest')
  assert.equal((await chat.overlays('fold')).length, 2, 'the turns after them are folded as ever')
})

test('the log has every result in full, whatever was sent', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 12; i++) await chat.say('What time is it?')
  const kept = await chat.store.history('local', chat.history.at(-1)?.id ?? '')
  assert.equal(wholeResults(kept), 12)
})

test('a window is moved by money too: seldom, and down to its size', async () => {
  const chat = await talk({ ...settings, policy: { maxMessages: 20, rhythm: 'economy' } })
  for (let i = 0; i < 30; i++) await chat.say('What time is it?')
  const cuts = await chat.overlays('cut')
  assert.ok(cuts.length >= 2 && cuts.length <= 12, `${cuts.length} cuts in 60 requests`)
  assert.ok(chat.bodies().every((body) => JSON.stringify(body).includes('What time is it?')))
})

test('the marks come after the system prompt, where the next fold will break, and at the last two ends', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 6; i++) await chat.say('What time is it?')
  chat.clock.now += 6 * 60_000
  await chat.say('What time is it?')
  await chat.say('Hello.')
  const body = chat.bodies().at(-1)
  const messages = body?.['messages'] as { role: string; content: Record<string, unknown>[] }[]
  const marked = messages.flatMap(({ content }, i) => (content.some((block) => block['cache_control']) ? [i] : []))
  const firstCall = messages.findIndex(({ content }) => content.some((block) => block['type'] === 'tool_use'))
  assert.equal(marked.length, 3)
  assert.equal(marked[0], firstCall - 1)
  assert.equal(marked.at(-1), messages.length - 1)
  assert.match(JSON.stringify(body?.['system']), /cache_control/)
})

test('marks live for an hour if the user often pauses for longer than five minutes, otherwise for five', async () => {
  const chat = await talk({ ...settings, tools: [] })
  for (let i = 0; i < 4; i++) await chat.say('Hello.')
  assert.doesNotMatch(JSON.stringify(chat.bodies().at(-1)), /"ttl"/)
  for (let i = 0; i < 6; i++) {
    chat.clock.now += 20 * 60_000
    await chat.say('Hello.')
  }
  assert.match(JSON.stringify(chat.bodies().at(-1)), /"ttl":"1h"/)
})

test('a pinned text opens every request and is marked', async () => {
  const chat = await talk({ ...settings, policy: { preset: 'economy', pinned: 'The whole manual.' } })
  await chat.say('Hello.')
  const body = chat.bodies().at(-1)
  assert.match(JSON.stringify(body?.['system']), /^\[\{"type":"text","text":"The whole manual\."\}.*cache_control/)
})
