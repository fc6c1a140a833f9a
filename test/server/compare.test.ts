// The same question to several models over HTTP.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { newConversation, parseEvent, say, serving } from './serving.ts'

test('a comparison streams the events of each model, and ends with where each answer is', async (t) => {
  const server = await serving(t)
  const { api } = server
  const id = await newConversation(api)
  await say(server, id, 'My name is Ada.')
  const models = ['openai/gpt-5.6', 'google/gemini-3.8-flash']
  const { status, text } = await api('POST', `/api/conversations/${id}/compare`, { text: 'What time is it?', models })
  assert.equal(status, 200)
  const events = text
    .split('\n\n')
    .filter(Boolean)
    .map((raw) => parseEvent(raw).data)
  assert.deepEqual(events[0]?.['models'], models)
  assert.equal(events.at(-1)?.['type'], 'ended')
  const answered = events.filter((event) => event['type'] === 'answered')
  assert.deepEqual(
    answered.map((event) => event['outcome']),
    ['done', 'done'],
  )
  for (const event of answered) {
    const { body: entry } = await api('GET', `/api/entries/${String(event['leaf'])}`)
    const { provider } = (entry['message'] as JsonObject)['origin'] as JsonObject
    assert.ok(models[Number(event['index'])]?.startsWith(`${String(provider)}/`))
  }
  const chosen = answered.find((event) => event['index'] === 1)?.['leaf']
  const { body } = await api('PATCH', `/api/conversations/${id}`, { head: chosen ?? '' })
  assert.equal(body['head'], chosen)
  assert.equal(await say(server, id, 'Hello.').then(() => 'taken'), 'taken', 'the conversation is free again')
})

test('nothing is written for an unavailable model, or while a run is active', async (t) => {
  const { api, store } = await serving(t)
  const id = await newConversation(api)
  const compare = (models: string[]) => api('POST', `/api/conversations/${id}/compare`, { text: 'Hello?', models })
  assert.equal((await compare(['openai/gpt-5.6', 'nowhere/x'])).status, 400)
  assert.equal((await compare([])).status, 400)
  assert.equal((await store.conversation('local', id))?.entries, 0)
  await store.takeLease('local', id, { holder: 'another:1', ttlMs: 60_000 })
  assert.equal((await compare(['openai/gpt-5.6'])).status, 409)
  assert.equal((await store.conversation('local', id))?.entries, 0)
})
