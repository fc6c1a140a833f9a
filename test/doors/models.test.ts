// Which model answers a client: aliases and routes of the configuration, defaults and limits of its key.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/core/json.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { createKey, type NewKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { createEmulator } from '../../src/testing.ts'
import { serving, type Serving, type ServingOptions } from '../server/serving.ts'

const mistral = 'mistral/mistral-large-latest'
const messages = [{ role: 'user' as const, content: 'Hello' }]

const long = Array.from({ length: 60 }, (_, i) =>
  i % 2 === 0 ? { role: 'user' as const, content: `q${i}` } : { role: 'assistant' as const, content: `a${i}` },
)

/** How many messages the last request to a provider had. */
function sentIn({ requests }: Serving['emulator']): number {
  const { messages: sent } = (requests.at(-1)?.body ?? {}) as { messages?: unknown[] }
  return sent?.length ?? 0
}

async function opened(t: TestContext, options: ServingOptions = {}, apiKey = 'placeholder') {
  const server = await serving(t, options)
  const openai = new OpenAI({ apiKey, baseURL: `${server.url}/v1`, maxRetries: 0 })
  const ask = (model: string) => openai.chat.completions.create({ model, messages })
  /** Which provider was asked last. */
  const answered = () => server.emulator.requests.at(-1)?.path.split('/')[1]
  return { ...server, openai, ask, answered }
}

async function withKey(t: TestContext, key: NewKey, options: ServingOptions = {}) {
  const store = openMemoryStore()
  const made = await createKey(store, key)
  return opened(t, { store, requireKeys: true, ...options }, made.key)
}

describe('names of the configuration', () => {
  test('a key sees only those whose model it may use', async (t) => {
    const aliases = { quick: mistral, best: 'anthropic/claude-opus-5' }
    const routes = [
      { match: 'small', model: 'quick' },
      { match: 'large', model: 'best' },
    ]
    const { openai } = await withKey(t, { models: ['mistral/*'] }, { aliases, routes })
    const names = new Set((await openai.models.list()).data.map(({ id }) => id))
    assert.deepEqual(
      ['quick', 'best', 'small', 'large'].filter((name) => names.has(name)),
      ['quick', 'small'],
    )
  })

  test('an alias is listed and answered, even if it is the name of another model', async (t) => {
    const { openai, ask, answered } = await opened(t, {
      aliases: { quick: mistral, 'gpt-5.6': 'anthropic/claude-opus-5' },
    })
    await ask('quick')
    assert.equal(answered(), 'mistral')
    await ask('gpt-5.6')
    assert.equal(answered(), 'anthropic')
    await assert.rejects(ask('constructor'), OpenAI.NotFoundError)
    const names = (await openai.models.list()).data.map(({ id }) => id)
    assert.ok(names.includes('quick'))
    assert.equal(names.filter((name) => name === 'gpt-5.6').length, 1)
  })

  test('the first matching route answers, and its fallback before any output', async (t) => {
    const routes = [
      { match: 'gpt-*', model: 'anthropic/claude-opus-5', fallback: [mistral] },
      { match: '*', model: 'google/gemini-3-flash-preview' },
    ]
    const { ask, answered, emulator } = await opened(t, { routes })
    await ask('gpt-5.6')
    assert.equal(answered(), 'anthropic')
    await ask('anything')
    assert.equal(answered(), 'google')
    await ask('openai/gpt-5.6')
    assert.equal(answered(), 'openai')
    emulator.order({ status: 401 }, 1)
    await ask('gpt-5.6')
    assert.equal(answered(), 'mistral')
  })
})

test('a request without a model is answered by the default model, and refused if there is none', async (t) => {
  for (const model of [mistral, 'openai/gpt-5.6', undefined]) {
    const { api, answered, emulator } = await opened(t, model === undefined ? {} : { doorModel: { model } })
    const requests: [path: string, body: JsonObject][] = [
      ['/v1/responses', { input: 'Hello' }],
      ['/v1/chat/completions', { model: '', messages }],
      ['/v1/messages', { model: null, messages, max_tokens: 100 }],
    ]
    for (const [path, body] of requests) {
      const { status, text } = await api('POST', path, body)
      assert.equal(status, model === undefined ? 400 : 200, `${path}: ${text}`)
      if (model === undefined) assert.match(text, /model is missing: send one, such as/)
      else assert.deepEqual([answered(), emulator.requests.at(-1)?.status], [model.split('/')[0], 200])
    }
    const { status, text } = await api('POST', '/v1/responses', { model: 5, input: 'Hello' })
    assert.equal(status, 400)
    assert.match(text, /model must be a string/)
  }
})

test('a bare name of a provider without a key is answered by the default model', async (t) => {
  const emulator = createEmulator()
  const env = { GEMINI_API_KEY: 'key' }
  const endpoint = await endpointFinder({ env, transport: { fetch: emulator.fetch } })
  const doorModel = { model: 'google/gemini-3-flash-preview' }
  const { ask, openai } = await opened(t, { endpoint, env, doorModel, offline: false })
  await ask('gpt-5.6')
  assert.match(emulator.requests.at(-1)?.path ?? '', /gemini-3-flash-preview/)
  await assert.rejects(ask('openai/gpt-5.6'), OpenAI.AuthenticationError)
  const names = (await openai.models.list()).data.map(({ id }) => id)
  assert.ok(names.length > 0 && names.every((name) => name.startsWith('google/')))
})

test('a bare name that no provider is known for is asked of the provider of the API, if it has a key', async (t) => {
  const emulator = createEmulator()
  const env = { OPENAI_API_KEY: 'key' }
  const endpoint = await endpointFinder({ env, transport: { fetch: emulator.fetch } })
  const { ask, url } = await opened(t, { endpoint, env, offline: false })
  const { model } = await ask('ft:gpt-4o-mini:acme::abc')
  assert.equal(model, 'ft:gpt-4o-mini:acme::abc')
  assert.equal(emulator.requests.at(-1)?.status, 200)
  const unknown = { status: 404, code: 'model_not_found', message: /is unknown\. Use provider\/model/ }
  await assert.rejects(ask('claude-opus-5'), unknown)
  await assert.rejects(ask('opanai/gpt-5.6'), unknown)
  const anthropic = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  const asking = anthropic.messages.create({ model: 'claude-new', messages, max_tokens: 10 })
  await assert.rejects(asking, Anthropic.NotFoundError)
  assert.equal(emulator.requests.length, 1)
})

test('a name without a model, or without a provider, is unknown: no key of the client could change that', async (t) => {
  const { ask, emulator } = await opened(t, { aliases: { local: 'ollama', gone: 'nothing/here' } })
  for (const [name, missing] of [
    ['ollama/', 'ollama/'],
    ['local', 'ollama'],
    ['gone', 'nothing/here'],
  ] as const) {
    const unknown = { status: 404, code: 'model_not_found', message: new RegExp(`"${missing}" is unknown`) }
    await assert.rejects(ask(name), unknown)
  }
  assert.equal(emulator.requests.length, 0)
})

for (const [provider, path] of [
  ['openai', '/v1'],
  ['ollama', '/ollama/v1'],
] as const) {
  test(`clients of OpenAI get a list in their format at ${path}, with the provider of each model`, async (t) => {
    const { url } = await opened(t)
    const { data } = await new OpenAI({ apiKey: 'any', baseURL: `${url}${path}` }).models.list()
    for (const { id, owned_by } of data) assert.equal(owned_by, id.includes('/') ? id.split('/', 1)[0] : provider)
    assert.ok(data.some(({ owned_by }) => owned_by === 'anthropic'))
  })
}

describe('a key', () => {
  test('has its own model for names that are unknown or not allowed', async (t) => {
    const { ask, answered, openai } = await withKey(t, { models: ['mistral/*'], defaultModel: mistral })
    await ask('gpt-5.6')
    assert.equal(answered(), 'mistral')
    await ask('something')
    assert.equal(answered(), 'mistral')
    await assert.rejects(ask('openai/gpt-5.6'), OpenAI.PermissionDeniedError)
    const names = (await openai.models.list()).data.map(({ id }) => id)
    assert.ok(names.length > 0 && names.every((name) => name.startsWith('mistral/')))
  })

  test('is refused a model that it may not use, even if the server has no key for that', async (t) => {
    const endpoint = await endpointFinder({ env: { MISTRAL_API_KEY: 'key' } })
    const { ask } = await withKey(t, { models: ['mistral/*'] }, { endpoint, offline: false })
    await assert.rejects(ask('openai/gpt-5.6'), { status: 403, message: /not allowed to use openai\/gpt-5\.6/ })
  })

  test('is refused beyond its rate, with the time to wait', async (t) => {
    const { ask } = await withKey(t, { perMinute: 2 })
    await ask(mistral)
    await ask(mistral)
    await assert.rejects(
      ask(mistral),
      (error) => error instanceof OpenAI.RateLimitError && Number(error.headers.get('retry-after')) > 0,
    )
  })

  test('that has expired is refused', async (t) => {
    const store = openMemoryStore()
    await createKey(store, {})
    const { key } = await createKey(store, { expiresAt: '2020-01-01T00:00:00Z' })
    const { ask } = await opened(t, { store, requireKeys: true }, key)
    await assert.rejects(ask(mistral), OpenAI.AuthenticationError)
  })

  test('says how a long history is shortened', async (t) => {
    const { openai, emulator } = await withKey(t, { policy: 'classic' })
    await openai.chat.completions.create({ model: mistral, messages: [...long, ...messages] })
    assert.ok(sentIn(emulator) < 30)
  })
})

describe('a policy of the configuration', () => {
  for (const [client, isShortened] of [
    ['codex_exec/0.169.0', false],
    ['my-program/1.0', true],
  ] as const) {
    test(`${isShortened ? 'shortens' : 'leaves alone'} the history of ${client}`, async (t) => {
      const { openai, emulator } = await opened(t, { defaultPolicy: 'classic' })
      const tools = [{ type: 'function' as const, function: { name: 'ls', parameters: { type: 'object' } } }]
      const body = { model: mistral, messages: [...long, ...messages], tools }
      await openai.chat.completions.create(body, { headers: { 'user-agent': client } })
      assert.equal(sentIn(emulator) < 30, isShortened)
    })
  }
})

describe('a policy of a route, or of the command that started the server,', () => {
  const policy = 'classic'
  for (const [place, options] of [
    ['route', { routes: [{ match: 'small', model: mistral, policy }] }],
    ['command', { doorModel: { model: mistral, always: true, policy } }],
  ] as const) {
    test(`applies to coding agents too, ${place}`, async (t) => {
      const { openai, emulator } = await opened(t, options)
      const headers = { 'user-agent': 'codex_exec/0.169.0' }
      await openai.chat.completions.create({ model: 'small', messages: [...long, ...messages] }, { headers })
      assert.ok(sentIn(emulator) < 30)
    })
  }

  test('leaves requests on the wire of their API, unless another one has all of the reasoning', async (t) => {
    const { openai, ask, emulator } = await opened(t, {
      routes: [
        { match: 'routed', model: 'openrouter/openai/gpt-5.6', policy },
        { match: 'own', model: 'openai/gpt-5.6', policy },
      ],
    })
    await openai.responses.create({ model: 'routed', input: 'Hello' })
    await ask('own')
    assert.ok(emulator.requests.every(({ path }) => path.endsWith('/responses')))
  })
})

test('an answer says its conversation, its exchange, its cost and how much was changed', async (t) => {
  const { openai, store } = await opened(t)
  const { response } = await openai.chat.completions.create({ model: mistral, messages }).withResponse()
  const header = (name: string) => response.headers.get(`x-synapse-${name}`) ?? ''
  assert.ok(await store.conversation('local', header('conversation')))
  assert.equal((await store.exchange('local', header('exchange')))?.conversationId, header('conversation'))
  assert.ok(Number(header('cost')) > 0)
  assert.match(header('notes'), /^\d+$/)
  const streamed = await openai.chat.completions.create({ model: mistral, messages, stream: true }).withResponse()
  assert.ok(await store.exchange('local', streamed.response.headers.get('x-synapse-exchange') ?? ''))
  for await (const _ of streamed.data);
})

test('what the real API refuses is repaired, or refused with its error in strict mode', async (t) => {
  const { openai } = await opened(t)
  const body = {
    model: 'gpt-5.6',
    messages: [...messages, { role: 'tool' as const, tool_call_id: 'call_1', content: 'lost' }],
  }
  await openai.chat.completions.create(body)
  await assert.rejects(openai.chat.completions.create(body, { headers: { 'x-synapse-strict': '1' } }), {
    status: 400,
    type: 'invalid_request_error',
  })
})

test("Anthropic's clients read the list in pages, in both directions, or all of it", async (t) => {
  const { url } = await opened(t)
  const anthropic = new Anthropic({ apiKey: 'any', baseURL: url })
  const whole = await anthropic.models.list()
  const all = whole.data.map(({ id }) => id)
  assert.ok(all.length >= 20 && !whole.has_more)
  const page = await anthropic.models.list({ limit: 7 })
  assert.deepEqual([page.data.length, page.has_more, page.last_id], [7, true, all[6]])
  const paged: string[] = []
  for await (const { id } of anthropic.models.list({ limit: 300 })) paged.push(id)
  assert.deepEqual(paged, all)
  const before = await anthropic.models.list({ limit: 3, before_id: `${all[5]}` })
  assert.deepEqual([before.data.map(({ id }) => id), before.has_more], [all.slice(2, 5), true])
})

/** Every field of the official type: another version of it with more of them does not compile. */
const modelFields: Record<keyof Anthropic.ModelInfo, true> = {
  capabilities: true,
  created_at: true,
  deprecated_at: true,
  display_name: true,
  id: true,
  lifecycle: true,
  line: true,
  max_input_tokens: true,
  max_tokens: true,
  retires_at: true,
  type: true,
}

test("models in Anthropic's list have all fields of its client, and are active", async (t) => {
  const { url } = await serving(t)
  const anthropic = new Anthropic({ apiKey: 'placeholder', baseURL: url, maxRetries: 0 })
  const { data } = await anthropic.models.list()
  for (const model of [...data, await anthropic.models.retrieve('openai/gpt-5.6')]) {
    assert.deepEqual(Object.keys(model).toSorted(), Object.keys(modelFields).toSorted())
    assert.equal(model.lifecycle, 'active')
  }
})
