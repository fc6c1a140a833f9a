// Addresses: those that a host does not have, those that it has for clients of another, and WebSockets.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import test from 'node:test'
import OpenAI from 'openai'
import { createEmulator } from '../../src/testing.ts'
import { served } from './emulating.ts'

const unknown: [string, string, RegExp][] = [
  ['/openai/v1/nothing', 'application/json', /^\{"error":\{"message":"Invalid URL \(POST \/v1\/nothing\)"/],
  ['/anthropic/v1/nothing', 'application/json', /^\{"type":"error","error":\{"type":"not_found_error"/],
  ['/google/v1beta/nothing', 'text/html; charset=UTF-8', /Error 404 \(Not Found\)!!1/],
  ['/mistral/v1/nothing', 'application/json', /^\{"message":"no Route matched with those values"\}$/],
  ['/ollama/api/nothing', 'text/plain', /^404 page not found$/],
  ['/groq/openai/v1/nothing', 'application/json', /"code":"unknown_url"/],
  ['/vllm/v1/nothing', 'application/json', /^\{"detail":"Not Found"\}$/],
]

for (const [path, type, words] of unknown) {
  test(`${path} is not found, with the error of its host`, async () => {
    const response = await createEmulator().fetch(`http://127.0.0.1${path}`, { method: 'POST', body: '{}' })
    assert.equal(response.status, 404)
    assert.equal(response.headers.get('content-type'), type)
    assert.match(await response.text(), words)
  })
}

test('a client that looks for a base URL finds it', async (t) => {
  const { url } = await served(t)
  for (const path of ['/', '/anthropic', '/anthropic/', '/openai/v1', '/google/v1beta']) {
    const response = await fetch(url + path, { method: 'HEAD' })
    assert.equal(response.status, 200, path)
  }
  assert.equal((await fetch(`${url}/anthropic/v1/nothing`, { method: 'HEAD' })).status, 404)
})

test('a WebSocket is refused with 426, so that a client uses HTTP at once', async (t) => {
  const { url } = await served(t)
  const asked = request(`${url}/openai/v1/responses`, {
    headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'a' },
  })
  asked.end()
  const [response] = (await once(asked, 'response')) as [{ statusCode: number; resume(): void }]
  response.resume()
  assert.equal(response.statusCode, 426)
})

test('Google and Anthropic also answer clients of OpenAI', async (t) => {
  const { url } = await served(t)
  for (const [baseURL, model] of [
    [`${url}/google/v1beta/openai/`, 'gemini-2.5-flash'],
    [`${url}/v1beta/openai/`, 'gemini-2.5-flash'],
    [`${url}/anthropic/v1/`, 'claude-sonnet-4-5'],
  ] as const) {
    const client = new OpenAI({ apiKey: 'any', baseURL })
    const reply = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'What is 2 + 3?' }],
    })
    assert.match(reply.choices[0]?.message.content ?? '', /2 \+ 3 = 5/, baseURL)
  }
  const models = await new OpenAI({ apiKey: 'any', baseURL: `${url}/google/v1beta/openai/` }).models.list()
  assert.ok(models.data.some(({ id, object }) => id.startsWith('gemini') && object === 'model'))
})
