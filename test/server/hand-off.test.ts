// A conversation on the server that the model hands to another agent of the configuration.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { openToolbox } from '../../src/agents/toolbox.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { newFolder } from '../config/folder.ts'
import { newConversation, readEvents, runIn, say, serving, type ServingOptions } from './serving.ts'

const request = 'use the tool hand_off_to_bob with {}'

async function withAgents(t: TestContext, options: ServingOptions = {}) {
  const folder = newFolder(t, {
    'synapse.yaml': 'model: openai/gpt-5.6\n',
    'agents/alice.yaml': 'name: alice\nmodel: openai\nsystem: You are Alice.\nhandoffs: [bob]\n',
    'agents/bob.yaml': 'name: bob\nmodel: mistral\nsystem: You are Bob.\nhandoffs: [alice]\ntools: [./tools.mjs]\n',
    'agents/tools.mjs': `export const greet = { name: 'greet', input: { type: 'object' }, run: () => 'Good day' }\n`,
  })
  const config = loadConfig({ file: join(folder, 'synapse.yaml') })
  const toolbox = () => openToolbox({ config })
  return { ...(await serving(t, { toolbox, ...options })), toolbox }
}

test('the other agent answers from then on, in the same run and after it', async (t) => {
  const server = await withAgents(t)
  const id = await newConversation(server.api, { settings: { agent: 'alice', system: 'You are Alice the Great.' } })
  await say(server, id, request)
  const [first, second] = server.emulator.requests.map((one) => JSON.stringify(one))
  assert.match(first ?? '', /openai.*Alice the Great/)
  assert.match(second ?? '', /mistral.*You are Bob.*"greet"/)
  const { settings } = (await server.api('GET', `/api/conversations/${id}`)).body
  const { origin: _, ...kept } = settings as JsonObject
  // What the agent's file says is read there.
  assert.deepEqual(kept, { agent: 'bob', model: 'mistral' })
  await say(server, id, 'What are your instructions?')
  const last = JSON.stringify((await server.api('GET', `/api/conversations/${id}/entries`)).body)
  assert.match(last, /My instructions are: .*You are Bob/)
  // And back again.
  await say(server, id, 'use the tool hand_off_to_alice with {}')
  assert.match(JSON.stringify(server.emulator.requests.at(-1)?.body), /You are Alice\./)
})

test('a run that was handed over continues with the other agent after a restart', async (t) => {
  const store = openMemoryStore()
  const asked = Promise.withResolvers<void>()
  const first = await withAgents(t, {
    store,
    between: (fetch) => async (input, init) => {
      if (!String(input).includes('mistral')) return fetch(input, init)
      asked.resolve()
      return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('stopped'))))
    },
  })
  const id = await newConversation(first.api, { settings: { agent: 'alice' } })
  const runId = runIn(await first.api('POST', `/api/conversations/${id}/messages`, { text: request }))
  await asked.promise
  await first.server.stop(0)
  // The same files, at the same place.
  const second = await serving(t, { store, toolbox: first.toolbox })
  const events = await readEvents(`${second.url}/api/runs/${runId}/events`)
  assert.equal(events.at(-1)?.data['outcome'], 'done')
  assert.match(JSON.stringify(second.emulator.requests[0]), /mistral.*You are Bob/)
})

test('a key for some models only starts no run that can be handed to another one', async (t) => {
  const store = openMemoryStore()
  const { key } = await createKey(store, { owner: 'alice', models: ['openai/*'] })
  const server = await withAgents(t, { requireKeys: true, store })
  const headers = { authorization: `Bearer ${key}` }
  const body = { settings: { agent: 'alice' } }
  const { status, text } = await server.api('POST', '/api/conversations', body, headers)
  assert.equal(status, 403, text)
  assert.match(text, /mistral/)
})
