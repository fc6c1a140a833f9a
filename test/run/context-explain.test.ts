// The next request, explained before it is sent.

import assert from 'node:assert/strict'
import test from 'node:test'
import { clockTool, talk, type TalkSettings } from './talking.ts'

const settings: TalkSettings = {
  model: 'anthropic/claude-opus-5',
  tools: [clockTool],
  system: 'Be exact. '.repeat(300),
  result: () => 'noon '.repeat(800),
  policy: { preset: 'economy', maxToolTurns: 2 },
}

test('the next request is explained before it is sent, and nothing is recorded', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 5; i++) await chat.say('What time is it?')
  chat.clock.now += 10 * 60_000
  const message = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello.' }] }
  chat.history.push(await chat.store.append('local', chat.conversationId, { message }))
  const before = [await chat.overlays(), await chat.exchanges()]
  const { explained, cold } = await chat.look()
  assert.equal(cold, 'the cache has expired')
  assert.equal(explained.messages.filter(({ fate }) => fate === 'folded').length, 6, 'three turns of two messages')
  assert.equal(explained.messages.length, chat.history.length)
  assert.ok(explained.price !== undefined && explained.price > 0)
  assert.equal(explained.cached, 0)
  assert.ok(explained.differsAt !== undefined && explained.differsAt > 0)
  assert.deepEqual([await chat.overlays(), await chat.exchanges()], before)
})

test('inspect shows exactly what is sent', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 4; i++) await chat.say('What time is it?')
  const message = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello.' }] }
  chat.history.push(await chat.store.append('local', chat.conversationId, { message }))
  const { request, explained } = await chat.look()
  const shown = JSON.stringify(request.body)
  chat.history.pop()
  await chat.store.setHead('local', chat.conversationId, { entryId: chat.history.at(-1)?.id ?? null })
  const { usage } = await chat.say('Hello.')
  assert.equal(JSON.stringify(chat.bodies().at(-1)), shown)
  assert.ok(Math.abs(explained.cached - (usage?.cacheRead ?? 0)) < 600)
  assert.ok(Math.abs(explained.tokens - (usage?.input ?? 0)) < (usage?.input ?? 0) * 0.05)
})

test('the request for another provider is shown with everything folded that may be', async () => {
  const chat = await talk(settings)
  for (let i = 0; i < 4; i++) await chat.say('What time is it?')
  const { explained, cold } = await chat.look({ model: 'openai/gpt-5.6' })
  assert.equal(cold, 'first request')
  assert.equal(explained.messages.filter(({ fate }) => fate === 'folded').length, 4)
  assert.equal(explained.differsAt, undefined)
})

test('a summary that would be made is not requested to explain the next request', async () => {
  const compaction = { every: 1, keep: 1, native: false }
  const chat = await talk({ ...settings, policy: { preset: 'full', compaction } })
  await chat.say('One.', { policy: 'full' })
  await chat.say('Two.', { policy: 'full' })
  const message = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Three.' }] }
  chat.history.push(await chat.store.append('local', chat.conversationId, { message }))
  const { length } = chat.bodies()
  const { explained } = await chat.look()
  assert.equal(chat.bodies().length, length)
  assert.deepEqual(await chat.overlays(), [])
  assert.ok(explained.messages.every(({ fate }) => fate === 'sent'))
  chat.history.pop()
  await chat.store.setHead('local', chat.conversationId, { entryId: chat.history.at(-1)?.id ?? null })
  await chat.say('Three.')
  assert.equal(chat.bodies().length, length + 2, 'the summary and the answer')
})

test('a summary that is due but would replace nothing is not made', async () => {
  const chat = await talk({ ...settings, policy: { preset: 'full', compaction: { every: 1, keep: 20 } } })
  for (const text of ['One.', 'Two.', 'Three.']) assert.equal((await chat.say(text)).outcome, 'done')
  assert.equal(chat.bodies().length, 3)
  assert.deepEqual(await chat.overlays(), [])
})
