// The same wire at both ends: bytes go through as they are, in both directions, and are logged and metered.

import assert from 'node:assert/strict'
import test from 'node:test'
import OpenAI from 'openai'
import { readOrigins } from '../../src/context/origins.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { watching } from './watching.ts'

const cases: [string, string, string, JsonObject][] = [
  ['chat', '/v1/chat/completions', '', { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hi' }] }],
  ['responses', '/v1/responses', '', { model: 'gpt-5.6', input: 'Hi' }],
  [
    'messages',
    '/v1/messages',
    '?beta=true',
    { model: 'claude-opus-5', max_tokens: 2000, messages: [{ role: 'user', content: 'Hi' }] },
  ],
  [
    'Gemini',
    '/v1beta/models/gemini-3-flash-preview:generateContent',
    '',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
]

for (const [name, path, query, body] of cases) {
  for (const stream of [false, true]) {
    test(`${name}${stream ? ', streamed' : ''}: body, headers and answer are those of the client and the provider`, async (t) => {
      const { url, seen, store } = await watching(t)
      const isGemini = name === 'Gemini'
      const asked = {
        ...body,
        ...(stream && !isGemini && { stream: true }),
        ...(stream && name === 'chat' && { stream_options: { include_usage: true } }),
      }
      // Spaces that no program of ours would write.
      const text = JSON.stringify(asked, undefined, 3)
      const streamed = path.replace(':generateContent', ':streamGenerateContent')
      const at = stream && isGemini ? `${streamed}?alt=sse&key=placeholder` : path + query
      const headers = {
        'content-type': 'application/json',
        'x-new-feature': 'on',
        'anthropic-version': '2023-06-01',
        'x-api-key': 'placeholder',
        authorization: 'Bearer placeholder',
        'openai-organization': 'placeholder',
        'openai-project': 'placeholder',
        'x-goog-user-project': 'placeholder',
      }
      if (name !== 'messages') Reflect.deleteProperty(headers, 'anthropic-version')
      const answer = await fetch(url + at, { method: 'POST', headers, body: text })
      assert.equal(answer.status, 200)
      const got = await answer.text()
      const [sent] = seen
      assert.equal(seen.length, 1)
      assert.equal(sent?.body, text)
      assert.equal(sent?.headers.get('x-new-feature'), 'on')
      assert.doesNotMatch(JSON.stringify([sent?.url, ...(sent?.headers ?? [])]), /placeholder/)
      assert.equal(new URL(sent?.url ?? '').search, stream && isGemini ? '?alt=sse' : query)
      assert.equal(got, await sent?.answer)
      assert.equal(answer.headers.get('x-of-the-provider'), 'yes')
      const id = answer.headers.get('x-synapse-conversation') ?? ''
      const [exchange] = (await store.exchanges('local', id)).items
      assert.ok(exchange?.outcome === 'done' && (exchange.usage?.input ?? 0) > 0)
      assert.equal(Buffer.from((await store.blob('local', exchange.bodySha256)) ?? []).toString(), text)
      assert.equal(answer.headers.get('x-synapse-cost'), stream ? null : String(exchange.cost))
      // The page shows which entry an element of the body came from.
      assert.deepEqual(readOrigins(exchange)?.places, [[0]])
    })
  }
}

test('an unknown field is passed to the provider', async (t) => {
  const { url, seen } = await watching(t)
  const body = { model: 'gpt-5.6', input: 'Hi', brand_new: { a: 1 } }
  await new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 }).responses.create(body)
  assert.match(seen[0]?.body ?? '', /"brand_new":\{"a":1\}/)
  // The emulator refuses it as the provider would, so the request is written from the log without it.
  assert.equal(seen.length, 2)
  assert.doesNotMatch(seen[1]?.body ?? '', /brand_new/)
})

test('a refusal of the request itself is answered with one that is written from the log, once, and no other refusal', async (t) => {
  const { url, seen, emulator } = await watching(t)
  const body = JSON.stringify(
    { model: 'gpt-5.6', input: 'Hi', metadata: { a: 'as the client wrote it' } },
    undefined,
    3,
  )
  for (const [status, times, requests] of [
    [400, 1, 2],
    [400, 2, 2],
    [401, 1, 1],
    [403, 1, 1],
  ] as const) {
    seen.length = 0
    emulator.order({ status, body: { error: { message: 'No.', type: 'error' } } }, times)
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body })
    assert.equal(answer.status === 200, times < requests, `${status}`)
    assert.equal(seen.length, requests, `${status}`)
    assert.deepEqual(
      seen.map((sent) => sent.body === body),
      [true, false].slice(0, requests),
    )
    emulator.reset()
  }
})

test('only the name of the model is changed where it has to be', async (t) => {
  const { url, seen } = await watching(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  await openai.responses.create({ model: 'openai/gpt-5.6', input: 'Hi', metadata: { a: 'b' } })
  assert.equal(seen[0]?.body, '{"model":"gpt-5.6","input":"Hi","metadata":{"a":"b"}}')
})

test('the rest of a body keeps its spaces and numbers, wherever the model is, unless it is there twice', async (t) => {
  const { url, seen } = await watching(t)
  const send = (body: string) =>
    fetch(`${url}/v1/responses`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const rest = ', "input": "Hi", "metadata": {"n": "1"}, "top_p": 1.0 }'
  assert.equal((await send(`{ "model" : "openai/gpt-5.6"${rest}`)).status, 200)
  assert.equal(seen[0]?.body, `{ "model" : "gpt-5.6"${rest}`)
  const before = '{"metadata": {"model": "x"}, "input": "Hi", "top_p": 1.0, "model": '
  assert.equal((await send(`${before}"openai/gpt-5.6" }`)).status, 200)
  assert.equal(seen[1]?.body, `${before}"gpt-5.6" }`)
  assert.equal((await send('{"model": "none", "input": "Hi", "model": "openai/gpt-5.6"}')).status, 200)
  assert.equal(seen[2]?.body, '{"model":"gpt-5.6","input":"Hi"}')
})

test('where a policy is set, requests are written by it', async (t) => {
  const { url, seen } = await watching(t, { defaultPolicy: 'economy' })
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  await openai.responses.create({ model: 'gpt-5.6', input: 'Hi' })
  assert.notEqual(seen[0]?.body, '{"model":"gpt-5.6","input":"Hi"}')
})
