// Keys whose conversations are not stored.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import OpenAI from 'openai'
import { createKey, spentBy, type Keep } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { serving } from '../server/serving.ts'

const model = 'anthropic/claude-opus-5'

async function serverFor(t: TestContext, keep: Keep, budget = 1) {
  const store = openMemoryStore()
  const { key, about } = await createKey(store, { owner: 'ann', keep, budget })
  const server = await serving(t, { store, requireKeys: true, offline: false })
  return { ...server, keyId: about.id, openai: new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 }) }
}

test('with native nothing is stored, and conversations continue as long as the server runs', async (t) => {
  const { openai, store, emulator, api } = await serverFor(t, 'native')
  const first = await openai.responses.create({ model, input: 'My name is Ada.', reasoning: { effort: 'high' } })
  const next = { model, input: 'What is my name?', previous_response_id: first.id }
  assert.match((await openai.responses.create(next)).output_text, /Ada/)
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /"signature":"/)
  assert.equal((await openai.responses.retrieve(first.id)).id, first.id)
  assert.deepEqual((await store.conversations('ann')).items, [])
  assert.equal((await api('GET', '/ready')).status, 200)
})

test('with native, the hundred most recent conversations of an owner are continued', async (t) => {
  const { openai } = await serverFor(t, 'native')
  const ids: string[] = []
  for (let i = 0; i < 102; i++) ids.push((await openai.responses.create({ model, input: `Question ${i}` })).id)
  await assert.rejects(openai.responses.retrieve(ids[0] ?? ''), { status: 404 })
  assert.equal((await openai.responses.retrieve(ids[2] ?? '')).id, ids[2])
})

test('with native, a conversation is continued for an hour', async (t) => {
  const { openai } = await serverFor(t, 'native')
  const { id } = await openai.responses.create({ model, input: 'My name is Ada.' })
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 59 * 60_000 })
  assert.equal((await openai.responses.retrieve(id)).id, id)
  t.mock.timers.tick(2 * 60_000)
  await assert.rejects(openai.responses.retrieve(id), { status: 404 })
})

test('with none, nothing can be written in the background', async (t) => {
  const { openai, emulator } = await serverFor(t, 'none')
  const request = { model, input: 'Hello', background: true }
  await assert.rejects(openai.responses.create(request), /background is not possible with this key/)
  assert.equal(emulator.requests.length, 0)
})

test('with none, even the next request starts without the conversation', async (t) => {
  const { openai, store } = await serverFor(t, 'none')
  const first = await openai.responses.create({ model, input: 'My name is Ada.' })
  await assert.rejects(openai.responses.create({ model, input: 'And?', previous_response_id: first.id }), /not found/)
  assert.deepEqual((await store.conversations('ann')).items, [])
})

test('the spending of such a key is stored, and its budget applies', async (t) => {
  const { openai, store, keyId } = await serverFor(t, 'none', 0.000001)
  await openai.responses.create({ model, input: 'Hello' })
  assert.ok((await spentBy(store, keyId)) > 0)
  await assert.rejects(openai.responses.create({ model, input: 'Hello' }), { code: 'insufficient_quota' })
})
