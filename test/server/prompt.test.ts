// The prompt as a local model sees it, through the server.

import assert from 'node:assert/strict'
import test from 'node:test'
import { isObject, type JsonObject } from '../../src/core/json.ts'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { besides, fakeLlama } from '../llama/fake.ts'
import { noLlama, startLlama } from '../llama/server.ts'
import { apiAt, newConversation, serving, str } from './serving.ts'

const model = 'llama.cpp/tiny'

test('the prompt of the next request is what the server of the model makes of it, and nothing is generated', async (t) => {
  const llama = await fakeLlama(t, (messages) => `<|start|>${JSON.stringify(messages)}<|assistant|>`)
  const { api } = await besides(t, llama.url)
  const id = await newConversation(api, { settings: { model, system: 'Be brief.' } })
  const { status, body } = await api('POST', `/api/conversations/${id}/prompt`, { text: '<b>Hello</b>' })
  assert.equal(status, 200)
  assert.equal(body['model'], model)
  assert.match(str(body['prompt']), /^<\|start\|>.*Be brief\..*<b>Hello<\/b>.*<\|assistant\|>$/)
  assert.deepEqual(llama.asked, ['GET /props', 'POST /apply-template'])
  const entries = await api('GET', `/api/conversations/${id}/entries`)
  assert.deepEqual(entries.body['items'], [])
})

test('a prepared request says whether its server shows the prompt', async (t) => {
  const targets = [{ model }, { model, protocol: 'openai-responses' }, { model: 'anthropic/claude-opus-5' }]
  const shows = async ({ api }: Awaited<ReturnType<typeof besides>>) => {
    const id = await newConversation(api)
    const { body } = await api('POST', `/api/conversations/${id}/prepare`, { text: 'Hello', targets })
    return (body['items'] as JsonObject[]).map((item) => item['showsPrompt'])
  }
  assert.deepEqual(await shows(await besides(t, 'http://127.0.0.1:9')), [true, undefined, undefined])
  assert.deepEqual(await shows(await serving(t)), [undefined, undefined, undefined], 'the emulator has no template')
})

test('where there is no prompt to show, one sentence says why', async (t) => {
  const llama = await fakeLlama(t, () => {
    throw new Error('refused')
  })
  const { api } = await besides(t, llama.url)
  const id = await newConversation(api)
  const ask = async (settings: JsonObject) => {
    const { status, body } = await api('POST', `/api/conversations/${id}/prompt`, { text: 'Hello', settings })
    return [status, isObject(body['error']) ? body['error'].message : undefined]
  }
  assert.deepEqual(await ask({ model }), [
    502,
    'llama.cpp did not render the prompt; check that its server is running and that its chat template takes this history.',
  ])
  assert.deepEqual(await ask({ model, protocol: 'openai-responses' }), [
    400,
    'llama.cpp does not show the prompt that it makes of a request on openai-responses; llama.cpp does on openai-chat.',
  ])
})

test('a key for other models does not get the prompt, and the model server is not queried', async (t) => {
  const llama = await fakeLlama(t, () => 'secret')
  const store = openMemoryStore()
  const { key } = await createKey(store, { owner: 'alice', models: ['openai/*'] })
  const { url } = await besides(t, llama.url, { store, requireKeys: true })
  const api = apiAt(url, { authorization: `Bearer ${key}` })
  const id = await newConversation(api)
  const { status } = await api('POST', `/api/conversations/${id}/prompt`, { text: 'Hello', settings: { model } })
  assert.equal(status, 403)
  assert.equal(llama.asked.includes('POST /apply-template'), false)
})

test('a real llama.cpp server shows the prompt with the marks of its template', { skip: noLlama }, async (t) => {
  await using llama = await startLlama()
  const { api } = await besides(t, llama.url)
  const id = await newConversation(api, { settings: { model, system: 'Be brief.' } })
  const { status, text, body } = await api('POST', `/api/conversations/${id}/prompt`, { text: 'What is tea?' })
  assert.equal(status, 200, text)
  const prompt = str(body['prompt'])
  assert.match(prompt, /Be brief\.[^]*What is tea\?/)
  assert.ok(prompt.length > 'Be brief.What is tea?'.length + 10, prompt)
})
