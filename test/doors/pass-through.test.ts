// The same wire at both ends: bytes go through as they are, in both directions, and are logged and metered.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { readOrigins } from '../../src/context/origins.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { passThrough } from '../../src/server/doors/pass-through.ts'
import { serving, type Serving, type ServingOptions } from '../server/serving.ts'

interface Seen {
  url: string
  headers: Headers
  body: string
  answer: Promise<string>
}

/** A server that shows what goes to the provider and what comes back. */
async function watching(t: TestContext, options: ServingOptions = {}): Promise<Serving & { seen: Seen[] }> {
  const seen: Seen[] = []
  const between = (fetch: typeof globalThis.fetch) => async (url: string | URL | Request, init?: RequestInit) => {
    const answer = await fetch(url, init)
    const [mine, theirs] = answer.body?.tee() ?? []
    const body = typeof init?.body === 'string' ? init.body : Buffer.from(init?.body as Uint8Array).toString()
    seen.push({
      url: String(url),
      headers: new Headers(init?.headers),
      body,
      answer: mine ? new Response(mine).text() : Promise.resolve(''),
    })
    const headers = new Headers(answer.headers)
    headers.set('x-of-the-provider', 'yes')
    return new Response(theirs ?? null, { status: answer.status, headers })
  }
  return { ...(await serving(t, { between, ...options })), seen }
}

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

test('a streamed chat that does not ask for its usage is metered, and the client gets its stream without it', async (t) => {
  const { url, seen, store } = await watching(t)
  const text =
    '{ "model": "openai/gpt-4.1", "stream": true,  "messages": [{"role":"user", "content":"Hi"}], "top_p": 1.0 }\n'
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: text })
  const got = await answer.text()
  const [sent] = seen
  const added = ',"stream_options":{"include_usage":true}'
  assert.equal(sent?.body, text.replace('openai/', '').replace(' }\n', ` ${added}}\n`))
  const events = (await sent.answer).split(/(?<=\n\n)/)
  const usage = events.filter((event) => /"choices":\[\]/.test(event))
  assert.equal(usage.length, 1, 'the provider has sent it')
  assert.equal(got, events.filter((event) => !usage.includes(event)).join(''))
  const exchange = await store.exchange('local', answer.headers.get('x-synapse-exchange') ?? '')
  assert.ok((exchange?.usage?.input ?? 0) > 0)
  assert.deepEqual(
    exchange?.notes.filter(({ at }) => at === '$.stream_options').map(({ kind, what }) => [kind, what]),
    [['added', 'stream_options {"include_usage":true}']],
  )
})

test('a provider that always sends the usage is not asked for it, and the client gets it as it would without a server', async (t) => {
  const { url, seen } = await watching(t)
  const body = '{"model":"openrouter/openai/gpt-5.6","stream":true,"messages":[{"role":"user","content":"Hi"}]}'
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  const got = await answer.text()
  assert.equal(seen[0]?.body, body.replace('openrouter/', ''))
  assert.match(got, /"finish_reason":"stop"\}\],"usage":\{/)
  assert.doesNotMatch(got, /"choices":\[\]/, 'it is in the chunk with the finish reason, as in recorded streams')
  assert.equal(got, await seen[0]?.answer)
})

test("options of a stream that are the client's own are not changed: the request is written from the log", async (t) => {
  const { url, seen, store } = await watching(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const stream = await openai.chat.completions.create({
    model: 'gpt-4.1',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
    stream_options: { include_usage: false },
  })
  for await (const { usage } of stream) assert.equal(usage ?? null, null)
  assert.doesNotMatch(seen[0]?.body ?? '', /"include_usage":false/)
  const [conversation] = (await store.conversations('local')).items
  const [exchange] = (await store.exchanges('local', conversation?.id ?? '')).items
  assert.ok((exchange?.usage?.input ?? 0) > 0)
})

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

test('a conversation passes through as long as its replies did, and is translated after another provider answered', async (t) => {
  const { url, seen, store } = await watching(t)
  const anthropic = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = []
  const say = async (model: string, content: string) => {
    messages.push({ role: 'user', content })
    const thinking = { type: 'adaptive' as const }
    const reply = await anthropic.messages.create({ model, messages, max_tokens: 4000, thinking })
    messages.push({ role: 'assistant', content: reply.content })
    return reply
  }
  const first = await say('claude-opus-5', 'What is 1 + 1?')
  const block = first.content.find(({ type }) => type === 'thinking')
  assert.ok(block?.type === 'thinking' && block.signature.length > 0, 'the signature of the provider')
  await say('claude-opus-5', 'What is 2 + 2?')
  assert.deepEqual((JSON.parse(seen[1]?.body ?? '{}') as { messages: unknown }).messages, messages.slice(0, 3))
  await say('openai/gpt-5.6', 'What is 3 + 3?')
  await say('claude-opus-5', 'What is 4 + 4?')
  assert.ok(seen.every(({ url: to }, i) => to.includes(i === 2 ? 'openai' : 'anthropic')))
  const { items } = await store.conversations('local')
  assert.equal(items.length, 1)
  assert.equal(items[0]?.entries, 8)
  const refused = (await store.exchanges('local', items[0]?.id ?? '')).items.filter(({ outcome }) => outcome !== 'done')
  assert.deepEqual(refused, [])
})

test('a tool loop passes through with the ids of the provider', async (t) => {
  const { url, seen, store } = await watching(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } }
  const tools = [{ type: 'function' as const, name: 'add', description: 'Adds.', parameters, strict: false }]
  const first = await openai.responses.create({ model: 'gpt-5.6', input: 'What is 17 + 25?', tools })
  const call = first.output.find(({ type }) => type === 'function_call')
  assert.ok(call?.type === 'function_call')
  const output = { type: 'function_call_output' as const, call_id: call.call_id, output: '42' }
  const second = await openai.responses.create({
    model: 'gpt-5.6',
    previous_response_id: first.id,
    input: [output],
    tools,
  })
  assert.match(second.output_text, /42/)
  assert.equal((JSON.parse(seen[1]?.body ?? '{}') as JsonObject).previous_response_id, first.id)
  const stored = await openai.responses.retrieve(second.id)
  assert.equal(stored.output_text, second.output_text)
  const [conversation] = (await store.conversations('local')).items
  const path = await store.history('local', conversation?.head ?? '')
  assert.deepEqual(
    path.map(({ message }) => message.role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
  // The same on another provider: the log has what the provider of the first reply has.
  const third = await openai.responses.create({
    model: 'mistral/mistral-large-latest',
    previous_response_id: second.id,
    input: 'What did I say first?',
  })
  assert.match(third.output_text, /17 \+ 25/)
})

test('a response that passed through is retrieved with the names and ids that the client has received', async (t) => {
  const { url } = await watching(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } }
  const tools = [{ type: 'function' as const, name: 'add', description: 'Adds.', parameters, strict: false }]
  const body = { model: 'openai/gpt-5.6', input: 'What is 17 + 25?', tools }
  const { id, model, output } = await openai.responses.create(body)
  const again = await openai.responses.retrieve(id)
  assert.deepEqual([again.model, again.output], [model, output])
  const streamed = []
  for await (const event of await openai.responses.retrieve(id, { stream: true })) streamed.push(event)
  const done = streamed.find(({ type }) => type === 'response.function_call_arguments.done')
  assert.ok(done && 'name' in done && done.name === 'add', 'every event has the fields of the API')
})

test('a reference to an item passes through to the provider that sent it, and is replaced for any other', async (t) => {
  const { url, seen } = await watching(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const ask = async (model: string, input: OpenAI.Responses.ResponseInput) => {
    const { output } = await openai.responses.create({ model, input })
    return { id: output.at(-1)?.id ?? '', sent: seen.at(-1)?.body ?? '' }
  }
  const hello = { role: 'user' as const, content: 'Hi' }
  const first = await ask('gpt-5.6', [hello])
  const input = [hello, { type: 'item_reference' as const, id: first.id }, hello]
  const second = await ask('gpt-5.6', input)
  assert.deepEqual(JSON.parse(second.sent), { model: 'gpt-5.6', input })
  const other = await ask('anthropic/claude-opus-5', input)
  assert.match(other.sent, /offline emulator/)
  const last = await ask('gpt-5.6', [...input, { type: 'item_reference', id: other.id }, hello])
  assert.doesNotMatch(last.sent, /item_reference/, 'the last item is not one of the provider')
})

test('a provider that stores nothing gets the conversation in place of the id of a response', async (t) => {
  const { url, seen } = await watching(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const model = 'ollama/qwen3'
  const first = await openai.responses.create({ model, input: 'My name is Ada.' })
  const question = { model, previous_response_id: first.id, input: 'What is my name?' }
  assert.match((await openai.responses.create(question)).output_text, /Ada/)
  assert.doesNotMatch(seen[1]?.body ?? '', /previous_response_id/)
})

test('a prompt that is stored at the provider is sent there, and refused for any other', async (t) => {
  const { url, seen } = await watching(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const prompt = { id: 'pmpt_1' }
  const ask = (model: string, more = {}) => openai.responses.create({ model, prompt, ...more })
  await ask('gpt-5.6', { input: 'Hi' })
  assert.match(seen[0]?.body ?? '', /"prompt":\{"id":"pmpt_1"\}/)
  const { id } = await ask('gpt-5.6')
  assert.deepEqual(JSON.parse(seen[1]?.body ?? ''), { model: 'gpt-5.6', prompt }, 'the input is in the template')
  await openai.responses.create({ model: 'gpt-5.6', input: 'Go on.', previous_response_id: id })
  for (const model of ['anthropic/claude-opus-5', 'ollama/qwen3']) {
    for (const more of [{ input: 'Hi' }, {}]) {
      await assert.rejects(ask(model, more), { status: 400, message: /prompt names a template that only openai has/ })
    }
  }
  assert.equal(seen.length, 3, 'nothing is asked without it')
})

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
  const bodies: [string, object][] = [
    ['/v1/chat/completions', { model: 'openrouter/openai/gpt-5.6', models: ['anthropic/claude-opus-5'], messages }],
    ['/v1/chat/completions', { model: 'openrouter/openai/gpt-5.6', MODEL: 'anthropic/claude-opus-5', messages }],
    ['/v1/messages', { model: 'anthropic/claude-haiku-4-5', max_tokens: 100, tools: [advisor], messages }],
  ]
  for (const [path, body] of bodies) {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(answer.status, 200)
  }
  assert.equal(seen.length, bodies.length)
  for (const { body } of seen) assert.doesNotMatch(body, /claude-opus/)
})

test('where a policy is set, requests are written by it', async (t) => {
  const { url, seen } = await watching(t, { defaultPolicy: 'economy' })
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  await openai.responses.create({ model: 'gpt-5.6', input: 'Hi' })
  assert.notEqual(seen[0]?.body, '{"model":"gpt-5.6","input":"Hi"}')
})

test('settings that only some providers have pass through, and are noted when a translation leaves them out', async (t) => {
  const { api, store, seen } = await watching(t)
  const settings = { logit_bias: { 50256: -100 }, seed: 7, logprobs: true, presence_penalty: 0.5 }
  const notesFor = async (model: string) => {
    const { headers } = await api('POST', '/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      ...settings,
    })
    const exchange = await store.exchange('local', headers.get('x-synapse-exchange') ?? '')
    return exchange?.notes.filter(({ kind }) => kind === 'dropped').map(({ what }) => what)
  }
  assert.deepEqual(await notesFor('openai/gpt-4.1'), [])
  assert.match(seen[0]?.body ?? '', /"seed":7/)
  const left = await notesFor('anthropic/claude-opus-5')
  assert.deepEqual(left?.toSorted(), ['logit_bias', 'logprobs', 'presencePenalty', 'seed'])
  assert.deepEqual((await notesFor('mistral/mistral-large-latest'))?.toSorted(), ['logit_bias', 'logprobs'])
  const { random_seed: seed, presence_penalty: penalty } = JSON.parse(seen.at(-1)?.body ?? '') as JsonObject
  assert.deepEqual({ seed, penalty }, { seed: 7, penalty: 0.5 })
})

test("Anthropic's context management passes through to Anthropic, and is noted when another provider answers", async (t) => {
  const { api, store, seen } = await watching(t)
  const notesFor = async (model: string) => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const context_management = { edits: [{ type: 'clear_tool_uses_20250919' }] }
    const beta = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-management-2025-06-27' }
    const { headers } = await api(
      'POST',
      '/v1/messages',
      { model, max_tokens: 100, messages, context_management },
      beta,
    )
    const exchange = await store.exchange('local', headers.get('x-synapse-exchange') ?? '')
    return exchange?.notes.filter(({ at }) => at === '$.context_management').length
  }
  assert.equal(await notesFor('anthropic/claude-opus-5'), 0)
  assert.match(seen[0]?.body ?? '', /"context_management"/)
  assert.equal(await notesFor('openai/gpt-5.6'), 1)
})

/** A reply of these pieces, as it passes; each is read when the test asks for it. */
async function passingReply(pieces: readonly string[], whole = false) {
  const verbatim = { provider: 'p', protocol: 'openai-chat', path: '/x', headers: {}, body: Buffer.from('{}'), whole }
  const unread = pieces.map((piece) => Buffer.from(piece))
  const reader = {
    read: async () => {
      const value = unread.shift()
      return value ? { done: false, value } : { done: true }
    },
    cancel: async () => {},
  }
  const body = { getReader: () => reader, cancel: reader.cancel }
  const answer = { status: 200, headers: new Headers(), body, text: async () => '' }
  const find = async () => ({ transport: {} })
  const passes = passThrough(verbatim, find as never, { ends: /\[DONE\]/ })
  const { transport } = await passes.endpoint('p/m', undefined)
  const heard = transport.observe?.(answer, verbatim.body)
  const sent: string[] = []
  const start = async () =>
    (await passes.reply)?.start({
      write: (piece) => void sent.push(Buffer.from(piece as Uint8Array).toString()),
      end: () => void sent.push('end'),
      fail: () => void sent.push('failed'),
    })
  return { passes, read: () => heard?.body?.getReader().read(), sent, start }
}

test('what comes before the end of a reply is sent at once, and the end when the reply is in the log', async () => {
  const { passes, read, sent, start } = await passingReply(['data: {"id":"abcd"}\n\nda', 'ta: [DONE]\n\n', '\n'])
  await read()
  assert.equal(passes.shown(), true)
  await start()
  assert.deepEqual(sent.splice(0), ['data: {"id":"abcd"}\n\nda'])
  for (let i = 0; i < 3; i++) await read()
  assert.deepEqual(sent.splice(0), ['ta: '])
  assert.equal(passes.replyId(), 'abcd')
  passes.ended()
  assert.deepEqual(sent, ['[DONE]\n\n\n', 'end'])
})

test('of a reply that is not a stream nothing is sent before it is in the log', async () => {
  const { passes, read, sent, start } = await passingReply(['{"id":"ab', 'cd"}'], true)
  for (let i = 0; i < 3; i++) await read()
  passes.shown()
  await start()
  assert.deepEqual(sent, [])
  assert.equal(passes.replyId(), 'abcd')
  passes.ended()
  assert.deepEqual(sent, ['{"id":"abcd"}', 'end'])
})
