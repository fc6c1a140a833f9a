// What does not pass through: keys, headers about a host, and models that a key may not use.

import assert from 'node:assert/strict'
import test from 'node:test'
import OpenAI from 'openai'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { serving, type ServingOptions } from '../server/serving.ts'
import { watching } from './watching.ts'

test('the key of the server stays here', async (t) => {
  const store = openMemoryStore()
  const { key } = await createKey(store, { name: 'a', owner: 'a' })
  const { url, seen } = await watching(t, { store, requireKeys: true })
  const openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
  await openai.responses.create({ model: 'gpt-5.6', input: 'Hi' })
  assert.doesNotMatch(JSON.stringify([...(seen[0]?.headers ?? [])]), new RegExp(key))
})

test('headers about the host of the provider are not returned, and a page is an error', async (t) => {
  const about = {
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
    'alt-svc': 'h3=":443"',
    'access-control-allow-origin': '*',
    'content-security-policy': 'none',
    'set-cookie': 'a=b',
  }
  let type = 'application/json'
  const between: ServingOptions['between'] = (next) => async (input, init) => {
    const answer = await next(input, init)
    const headers = { ...about, 'content-type': type, 'x-request-id': 'req_1' }
    return new Response(type === 'text/html' ? '<p>Sign in</p>' : answer.body, { status: answer.status, headers })
  }
  const { url } = await serving(t, { between })
  const ask = () =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hi' }] }),
    })
  const { headers } = await ask()
  assert.equal(headers.get('x-request-id'), 'req_1')
  for (const [name, value] of Object.entries(about)) assert.notEqual(headers.get(name), value, name)
  type = 'text/html'
  const refused = await ask()
  assert.equal(refused.status, 502)
  assert.match(await refused.text(), /"error":\{"message":"The reply contains something that is not JSON/)
})

test('a name in the path leads to no other model or path of the provider', async (t) => {
  const store = openMemoryStore()
  const { key } = await createKey(store, { models: ['google/gemini-3-flash*'] })
  const { url, seen } = await watching(t, { store, requireKeys: true })
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const paths = ['\\..\\gemini-3-pro-preview', '?a=', '#', ':countTokens?a=']
  for (const name of paths.map((rest) => `google/gemini-3-flash${rest}`)) {
    await fetch(`${url}/v1beta/models/${encodeURIComponent(name)}:generateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': key },
      body: JSON.stringify({ contents }),
    })
  }
  const model = /^\/google\/v1beta\/models\/gemini-3-flash(?:%[0-9A-F]{2}|[\w.=-])+:(?:streamG|g)enerateContent$/
  assert.equal(seen.length, paths.length)
  for (const { url: asked } of seen) assert.match(new URL(asked).pathname, model)
})

test('a key that may use some models names no others in fields of the provider', async (t) => {
  const store = openMemoryStore()
  const { key } = await createKey(store, { models: ['openrouter/openai/*', 'anthropic/claude-haiku*'] })
  const { url, seen } = await watching(t, { store, requireKeys: true })
  const messages = [{ role: 'user', content: 'Hi' }]
  const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5' }
  const [opus, chat] = ['anthropic/claude-opus-5', { model: 'openrouter/openai/gpt-5.6', messages }]
  const toClaude = { model: 'claude-haiku-4-5', max_tokens: 100, messages }
  const bodies: [string, object][] = [
    ['/v1/chat/completions', { ...chat, models: [opus] }],
    ['/v1/chat/completions', { ...chat, MODEL: opus }],
    ['/v1/chat/completions', { ...chat, plugins: [{ id: 'auto-router', allowed_models: [opus] }] }],
    ['/v1/chat/completions', { ...chat, plugins: [{ id: 'fusion', settings: { model: opus } }] }],
    ['/v1/messages', { ...toClaude, tools: [advisor] }],
    ['/v1/messages', { ...toClaude, fallbacks: [{ model: 'claude-opus-5' }] }],
  ]
  const headers = { 'content-type': 'application/json', 'x-api-key': key }
  const ask = async (path: string, body: string) =>
    assert.equal((await fetch(url + path, { method: 'POST', headers, body })).status, 200)
  for (const [path, body] of bodies) await ask(path, JSON.stringify(body))
  // Of a name that is there twice some providers use the first value, and some the last one.
  await ask('/v1/messages', `{"model":"claude-opus-5",${JSON.stringify(toClaude).slice(1)}`)
  assert.equal(seen.length, bodies.length + 1)
  for (const { body } of seen) assert.doesNotMatch(body, /claude-opus/)
  const car = { type: 'object', properties: { model: { type: 'string' } } }
  const tools = [{ name: 'find_car', description: 'Finds cars.', input_schema: car }]
  const unchanged = JSON.stringify({ ...toClaude, tools, metadata: { user_id: 'a' } }, undefined, 1)
  await ask('/v1/messages', unchanged)
  assert.equal(seen.at(-1)?.body, unchanged, 'a property of a schema names no model')
})

test('a request with its model in a path of a cloud reaches a provider at the path of that provider', async (t) => {
  const { api, seen } = await watching(t)
  const body = { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }
  const cloud = '/v1/projects/p/locations/l/publishers/anthropic'
  for (const [path, version] of [
    ['/model/claude-opus-5/invoke', 'bedrock-2023-05-31'],
    [`${cloud}/models/claude-opus-5:rawPredict`, 'vertex-2023-10-16'],
  ] as const) {
    seen.length = 0
    const { status, text } = await api('POST', `/anthropic${path}`, { anthropic_version: version, ...body })
    assert.equal(status, 200, text)
    assert.deepEqual(
      seen.map(({ url }) => new URL(url).pathname),
      ['/anthropic/v1/messages'],
    )
  }
})
