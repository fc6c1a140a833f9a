// Who may use a door, and the errors that clients get: always in the format of their API.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { catalogue } from '../../src/providers/catalogue.ts'
import { SynapseError } from '../../src/core/error.ts'
import { createKey, spentBy } from '../../src/server/keys.ts'
import type { LogLine } from '../../src/server/log.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { gate, serving, type ServingOptions } from '../server/serving.ts'

const model = 'mistral/mistral-large-latest'
const said = [{ role: 'user' as const, content: 'Hello' }]

async function clients(t: TestContext, options: ServingOptions = {}, apiKey = 'placeholder') {
  const server = await serving(t, options)
  const { url } = server
  return {
    ...server,
    openai: new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey, baseURL: url, maxRetries: 0 }),
    google: new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } }),
  }
}

/** What the key has spent, once it is more than nothing. */
async function spentSoon(store: Store, keyId: string): Promise<number> {
  for (;;) {
    const spent = await spentBy(store, keyId)
    if (spent > 0) return spent
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A provider that does not answer the first request until its client leaves. */
function firstHeld(): { between: ServingOptions['between'] & {}; asked: Promise<void> } {
  const asked = Promise.withResolvers<void>()
  let count = 0
  return {
    asked: asked.promise,
    between: (next) => async (input, init) => {
      asked.resolve()
      if (count++ === 0 && init?.signal) await once(init.signal, 'abort')
      init?.signal?.throwIfAborted()
      return next(input, init)
    },
  }
}

describe('keys', () => {
  test('a placeholder key counts as the local user, and no provider gets it', async (t) => {
    const sent: string[] = []
    const between: ServingOptions['between'] = (next) => (input, init) => {
      sent.push(JSON.stringify([...new Headers(init?.headers)]))
      return next(input, init)
    }
    const { openai, store } = await clients(t, { between }, 'sk-placeholder-of-a-client')
    await openai.chat.completions.create({ model, messages: said })
    assert.equal((await store.conversations('local')).items.length, 1)
    assert.ok(sent.length > 0 && sent.every((headers) => !headers.includes('placeholder')))
  })

  test('each client may send a key of the server in its own header', async (t) => {
    const store = openMemoryStore()
    const { key } = await createKey(store, { owner: 'ann' })
    const lines: LogLine[] = []
    const log = (line: LogLine) => lines.push(line)
    const { openai, anthropic, google, url } = await clients(t, { store, requireKeys: true, log }, key)
    await openai.chat.completions.create({ model, messages: said })
    await anthropic.messages.create({ model, messages: said, max_tokens: 100 })
    await google.models.generateContent({ model, contents: 'Hello' })
    const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] })
    const post = (path: string) =>
      fetch(`${url}${path}?key=${key}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    assert.equal((await post(`/v1beta/models/${model}:generateContent`)).status, 200)
    assert.equal((await post('/v1/chat/completions')).status, 401)
    assert.equal((await store.conversations('ann')).items.length, 4)
    assert.ok(!JSON.stringify(lines).includes(key))
  })

  test('where keys are required any other key is refused in the format of the API', async (t) => {
    const store = openMemoryStore()
    await createKey(store, {})
    const { openai, anthropic, google } = await clients(t, { store, requireKeys: true })
    await assert.rejects(openai.chat.completions.create({ model, messages: said }), OpenAI.AuthenticationError)
    await assert.rejects(
      anthropic.messages.create({ model, messages: said, max_tokens: 10 }),
      (error) => error instanceof Anthropic.AuthenticationError && /authentication_error/.test(error.message),
    )
    await assert.rejects(google.models.generateContent({ model, contents: 'Hello' }), /UNAUTHENTICATED/)
  })

  test('while the store does not answer, nobody learns where it is', async (t) => {
    const store = openMemoryStore()
    const { key } = await createKey(store, {})
    const message = 'PostgreSQL at postgres://db.internal:5432/chats cannot be reached.'
    const away = () => Promise.reject(new SynapseError({ kind: 'storage', code: 'unavailable', message }))
    const { url } = await clients(t, {
      store: Object.assign(Object.create(store), { record: away }),
      requireKeys: true,
    })
    for (const path of ['/v1/models', '/v1beta/models', '/api/conversations']) {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
      assert.equal(answer.status, 503, path)
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)
      const text = await answer.text()
      assert.match(text, /store does not answer/)
      assert.doesNotMatch(text, /db\.internal/)
    }
  })

  test('a key that may only read, or not use the model, or has spent its budget, is refused', async (t) => {
    const store = openMemoryStore()
    const reader = await createKey(store, { access: 'read' })
    const other = await createKey(store, { models: ['openai/*'] })
    const poor = await createKey(store, { budget: 0.000001 })
    const { url } = await clients(t, { store, requireKeys: true })
    const ask = (apiKey: string) =>
      new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }).chat.completions.create({ model, messages: said })
    await assert.rejects(ask(reader.key), OpenAI.PermissionDeniedError)
    await assert.rejects(ask(other.key), OpenAI.PermissionDeniedError)
    await ask(poor.key)
    await assert.rejects(ask(poor.key), { status: 429, code: 'insufficient_quota' })
  })

  test('a key that may only read gets what is stored, and changes none of it', async (t) => {
    const store = openMemoryStore()
    const [writer, reader] = [await createKey(store, {}), await createKey(store, { access: 'read' })]
    const { url } = await clients(t, { store, requireKeys: true })
    const as = ({ key }: { key: string }) => new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
    const { id: conversation } = await as(writer).conversations.create()
    const { id } = await as(writer).responses.create({ model, input: 'Hello', conversation })
    const { responses, conversations } = as(reader)
    const items = await conversations.items.list(conversation)
    const item = items.data[0]?.id ?? ''
    const refused = [
      () => responses.delete(id),
      () => responses.cancel(id),
      () => responses.compact({ model, previous_response_id: id }),
      () => conversations.create(),
      () => conversations.update(conversation, { metadata: {} }),
      () => conversations.delete(conversation),
      () => conversations.items.create(conversation, { items: said }),
      () => conversations.items.delete(item, { conversation_id: conversation }),
    ]
    for (const request of refused) await assert.rejects(request, OpenAI.PermissionDeniedError)
    assert.equal((await responses.retrieve(id)).output_text.length > 0, true)
    assert.deepEqual((await conversations.items.list(conversation)).data, items.data)
  })

  test('of requests at the same time, those after the one that used up the budget are refused, and no other', async (t) => {
    const store = openMemoryStore()
    const [single, poor] = [await createKey(store, { budget: 1 }), await createKey(store, { budget: 0.001 })]
    const { url, emulator } = await clients(t, { store, requireKeys: true, offline: false })
    const content = 'word '.repeat(1000)
    const ask = (apiKey: string, limit?: number) =>
      new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }).chat.completions.create({
        model,
        messages: [{ role: 'user', content }],
        ...(limit !== undefined && { max_tokens: limit }),
      })
    await ask(single.key)
    const cost = await spentSoon(store, single.about.id)
    const sentBefore = emulator.requests.length
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => ask(poor.key, i % 2 ? 50 : undefined)),
    )
    const refused = answers.filter((answer) => answer.status === 'rejected')
    const spent = await spentBy(store, poor.about.id)
    assert.ok(spent >= 0.001 && spent < 0.001 + cost, `${spent} ${cost}`)
    assert.equal(emulator.requests.length - sentBefore, answers.length - refused.length)
    for (const { reason } of refused) assert.match(String(reason), /429 .*used up/)
  })

  test('requests that a budget has room for do not wait for each other', async (t) => {
    const store = openMemoryStore()
    const both = Promise.withResolvers<void>()
    let sent = 0
    const between: ServingOptions['between'] = (next) => async (input, init) => {
      if (++sent === 2) both.resolve()
      await both.promise
      return next(input, init)
    }
    const { key } = await createKey(store, { budget: 1 })
    const { openai } = await clients(t, { store, requireKeys: true, between }, key)
    const ask = () => openai.chat.completions.create({ model, messages: said })
    await Promise.all([ask(), ask()])
  })

  test('a client that waits for its budget and leaves ends before the others', { timeout: 10_000 }, async (t) => {
    const store = openMemoryStore()
    const { key } = await createKey(store, { budget: 0.0001 })
    const lines: LogLine[] = []
    const { between, asked } = firstHeld()
    const { openai } = await clients(t, { store, requireKeys: true, between, log: (line) => lines.push(line) }, key)
    const [active, waiting] = [new AbortController(), new AbortController()]
    const ask = ({ signal }: AbortController) => openai.chat.completions.create({ model, messages: said }, { signal })
    const first = ask(active)
    await asked
    const others = [ask(waiting), ask(waiting)]
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal(lines.length, 0)
    waiting.abort()
    await Promise.allSettled(others)
    while (lines.length < 2) await new Promise((resolve) => setTimeout(resolve, 10))
    active.abort()
    await assert.rejects(first)
  })

  test('a summary ends when its client leaves, so that others need not wait for it', { timeout: 10_000 }, async (t) => {
    const store = openMemoryStore()
    const { key } = await createKey(store, { budget: 0.0001 })
    const { between, asked } = firstHeld()
    const { openai } = await clients(t, { store, requireKeys: true, between }, key)
    const leaving = new AbortController()
    const summary = openai.responses.compact({ model, input: 'Hello' }, { signal: leaving.signal })
    await asked
    leaving.abort()
    await assert.rejects(summary)
    await openai.chat.completions.create({ model, messages: said })
  })

  test('a store that fails after the answer fails its request alone', async (t) => {
    const store = openMemoryStore()
    const { key } = await createKey(store, { budget: 1 })
    let isAway = true
    const putRecords: Store['putRecords'] = async (records) => {
      const isSpend = records.some(({ kind }) => kind === 'spend')
      if (isAway && isSpend) throw new SynapseError({ kind: 'storage', code: 'unavailable', message: 'Away.' })
      return store.putRecords(records)
    }
    const failing = Object.assign(Object.create(store) as Store, { putRecords })
    const { openai } = await clients(t, { store: failing, requireKeys: true }, key)
    await assert.rejects(openai.chat.completions.create({ model, messages: said }), { status: 503 })
    isAway = false
    await openai.chat.completions.create({ model, messages: said })
  })

  test('a stream that its client leaves is charged by estimate, and so is an answer without its usage', async (t) => {
    const store = openMemoryStore()
    const { between, held } = gate(5)
    const leaving = await createKey(store, { budget: 1 })
    const left = await clients(t, { store, requireKeys: true, between }, leaving.key)
    const content = 'word '.repeat(1000)
    const messages = [{ role: 'user' as const, content }]
    const stream = await left.openai.chat.completions.create({ model, messages, stream: true })
    await held
    stream.controller.abort()
    const leavingCost = await spentSoon(store, leaving.about.id)
    const unmetered = await createKey(store, { budget: 1 })
    const withoutUsage: ServingOptions['between'] = (next) => async (input, init) => {
      const { usage: _, ...answer } = (await (await next(input, init)).json()) as object & { usage?: unknown }
      return Response.json(answer)
    }
    const silent = await clients(t, { store, requireKeys: true, between: withoutUsage }, unmetered.key)
    await fetch(`${silent.url}/mistral/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${unmetered.key}` },
      body: JSON.stringify({ model, messages }),
    })
    const unmeteredCost = await spentSoon(store, unmetered.about.id)
    const price = 1000 * (catalogue.models['mistral']?.['mistral-large-latest']?.price?.input ?? 0) * 1e-6
    for (const cost of [leavingCost, unmeteredCost])
      assert.ok(cost > 0.9 * price && cost < 2 * price, `${cost} ${price}`)
  })

  test('pages of other sites are refused', async (t) => {
    const { url } = await clients(t)
    const headers = { 'content-type': 'application/json', origin: 'https://example.com' }
    const body = JSON.stringify({ model, messages: said })
    assert.equal((await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).status, 403)
  })
})

describe('errors', () => {
  test('a body that is not JSON is an error of the request, not of the API', async (t) => {
    const { url } = await clients(t)
    const answer = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{}' })
    const { error } = (await answer.json()) as { error: { type: string; message: string } }
    assert.equal(answer.status, 415)
    assert.equal(error.type, 'invalid_request_error')
    assert.match(error.message, /content-type: application\/json/)
  })

  test('a name in a path that cannot be decoded is that of an unknown model', async (t) => {
    const { url } = await clients(t)
    const body = JSON.stringify({ contents: [{ parts: [{ text: 'Hello' }] }] })
    const headers = { 'content-type': 'application/json' }
    for (const path of ['/v1beta/models/%E0%A4%A:generateContent', '/anthropic/model/%E0/invoke']) {
      const answer = await fetch(url + path, { method: 'POST', headers, body })
      assert.equal(answer.status, 404, path)
      assert.match(await answer.text(), /is unknown/)
    }
    assert.equal((await fetch(`${url}/cohere/v1/models/%E0`)).status, 404)
  })

  test('the method is part of what there is nothing at', async (t) => {
    const { url } = await clients(t)
    const answer = await fetch(`${url}/v1/chat/completions`)
    assert.equal(answer.status, 404)
    assert.match(await answer.text(), /There is nothing at GET \/v1\/chat\/completions\./)
    const { openai } = await clients(t)
    await assert.rejects(openai.models.delete('gpt-5.6'), { status: 404, message: /nothing at DELETE/ })
  })

  test('an unknown model is not found', async (t) => {
    const { openai, anthropic, google } = await clients(t)
    await assert.rejects(openai.chat.completions.create({ model: 'nothing', messages: said }), {
      status: 404,
      code: 'model_not_found',
    })
    await assert.rejects(
      anthropic.messages.create({ model: 'nothing', messages: said, max_tokens: 10 }),
      Anthropic.NotFoundError,
    )
    await assert.rejects(google.models.generateContent({ model: 'nothing', contents: 'Hello' }), /NOT_FOUND/)
  })

  test('a bare name is a model of the door, and an unknown one the configured model if there is one', async (t) => {
    const { openai, store } = await clients(t, { doorModel: { model } })
    await openai.chat.completions.create({ model: 'gpt-5.6', messages: said })
    await openai.chat.completions.create({ model: 'anything', messages: [{ role: 'user', content: 'Other' }] })
    const { items } = await store.conversations('local')
    const asked = items.map(({ settings }) => String(settings['model']))
    assert.deepEqual(new Set(asked), new Set([model, 'openai/gpt-5.6']))
  })

  test('a rate limit and an overload of the provider arrive as such', async (t) => {
    const { openai, anthropic, emulator } = await clients(t)
    emulator.order({ status: 429, headers: { 'retry-after': '7' } }, 50)
    await assert.rejects(openai.chat.completions.create({ model, messages: said }), OpenAI.RateLimitError)
    emulator.reset()
    emulator.order({ status: 503 }, 50)
    await assert.rejects(anthropic.messages.create({ model, messages: said, max_tokens: 10 }), { status: 529 })
    emulator.reset()
    emulator.order({ status: 429, body: { type: 'rate_limited', message: 'Slow down.', code: '1300' } }, 8)
    const asking = openai.chat.completions.create({ model: 'mistral/mistral-large-latest', messages: said })
    await assert.rejects(asking, { status: 429, code: 'rate_limit_exceeded' })
  })

  test('a reply that is too large is an error of the server, which no client waits for', async (t) => {
    const body = `data: ${' '.repeat(9_000_000)}`
    const { openai } = await clients(t, {
      between: () => async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    })
    await assert.rejects(openai.chat.completions.create({ model, messages: said }), (error) => {
      assert.ok(error instanceof OpenAI.InternalServerError)
      assert.equal(error.status, 502)
      assert.equal(error.headers.get('retry-after'), null)
      return true
    })
  })

  test('a failure before the first piece is retried internally', async (t) => {
    const { openai, emulator } = await clients(t)
    emulator.order({ status: 503 }, 1)
    const answer = await openai.chat.completions.create({ model, messages: said })
    assert.ok(answer.choices[0]?.message.content)
  })

  test('a failure in the middle of a stream is an error event of the API', async (t) => {
    const { openai, anthropic, google, emulator } = await clients(t)
    const long = 'Please tell me a long story about the sea.'
    emulator.order({ errorAt: 3 }, 1)
    await assert.rejects(anthropic.messages.stream({ model, messages: said, max_tokens: 100 }).finalMessage())
    emulator.order({ errorAt: 3 }, 1)
    const chat = await openai.chat.completions.create({ model, messages: said, stream: true })
    await assert.rejects(async () => {
      for await (const _ of chat);
    }, OpenAI.APIError)
    emulator.order({ errorAt: 3 }, 1)
    const events = []
    for await (const event of await openai.responses.create({ model, input: long, stream: true }))
      events.push(event.type)
    assert.equal(events.at(-1), 'response.failed')
    emulator.order({ errorAt: 3 }, 1)
    const chunks = await google.models.generateContentStream({ model, contents: long })
    await assert.rejects(async () => {
      for await (const _ of chunks);
    })
  })

  test('a prompt that is too long is refused with the error that clients expect', async (t) => {
    const { openai, anthropic, google, emulator } = await clients(t)
    const input = 'word '.repeat(400_000)
    const messages = [{ role: 'user' as const, content: input }]
    await assert.rejects(openai.responses.create({ model, input }), {
      status: 400,
      code: 'context_length_exceeded',
    })
    await assert.rejects(
      anthropic.messages.create({ model, messages, max_tokens: 10 }),
      /prompt is too long: \d+ tokens > \d+ maximum/,
    )
    await assert.rejects(google.models.generateContent({ model, contents: input }), /INVALID_ARGUMENT/)
    // Counted by the provider alone: clients compare the two numbers.
    emulator.order({ status: 400, body: { error: { message: 'too long', code: 'context_length_exceeded' } } }, 8)
    const asking = anthropic.messages.create({ model: 'openai/gpt-5.6', messages: said, max_tokens: 10 })
    await assert.rejects(asking, ({ message }: Error) => {
      const [, tokens, most] = /prompt is too long: (\d+) tokens > (\d+) maximum/.exec(message) ?? []
      return Number(tokens) > Number(most)
    })
  })

  test('a conversation that is no list is refused in the words of the API', async (t) => {
    const { url } = await serving(t)
    const bodies: [path: string, field: string, words: RegExp][] = [
      [
        '/v1/chat/completions',
        'messages',
        /"Invalid type for 'messages': expected an array of objects, but got a number/,
      ],
      ['/v1/responses', 'input', /"Invalid type for 'input': expected one of a string or array of input items/],
      ['/v1/messages', 'messages', /"messages: Input should be a valid list"/],
      [`/v1beta/models/${model}:generateContent`, 'contents', /"Invalid value at 'contents\[0\]'/],
      ['/v1beta/interactions', 'input', /"Request contains an invalid argument\."/],
      ['/cohere/v2/chat', 'messages', /"invalid request: message must be at least 1 token long/],
      ['/mistral/v1/chat/completions', 'messages', /"body\.messages: Input should be a valid list"/],
      ['/ollama/api/chat', 'messages', /"json: cannot unmarshal number into Go struct field ChatRequest\.messages/],
    ]
    for (const [path, field, words] of bodies) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, [field]: 5 }),
      })
      assert.equal(response.status, 400, path)
      assert.match(await response.text(), words)
    }
    const { anthropic } = await clients(t)
    const instructed = anthropic.messages.create({ model, max_tokens: 10, system: 'Be brief.', messages: [] })
    await assert.rejects(instructed, { status: 400, message: /has no messages/ })
  })

  test('an object in place of a text, or a name that every object has, is no failure of the server', async (t) => {
    const { url } = await serving(t)
    const wrong = { toString: 1 }
    const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: wrong } }
    const bodies: [string, object][] = [
      ['/v1/messages', { role: 'user', content: [{ type: 'tool_result', tool_use_id: wrong, content: 'x' }] }],
      ['/v1/chat/completions', { role: 'user', content: [{ type: 'text', text: 'x' }, sound] }],
      ['/mistral/v1/chat/completions', { role: 'constructor', content: 'x' }],
      ['/v1/messages', { role: 'user', content: [{ type: 'constructor' }] }],
      ['/v1/messages', { role: 'assistant', content: [{ type: 'toString', x: 1 }] }],
    ]
    for (const [path, message] of bodies) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, max_tokens: 100, messages: [message] }),
      })
      assert.notEqual(response.status, 500, await response.text())
    }
  })

  test('several answers at once are refused', async (t) => {
    const { openai } = await clients(t)
    await assert.rejects(openai.chat.completions.create({ model, messages: said, n: 2 }), { status: 400 })
  })
})

test('a client that offers HTTP/2 is answered in HTTP/1.1', async (t) => {
  const { url } = await serving(t)
  const headers = { 'content-type': 'application/json', connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' }
  const body = JSON.stringify({ model, messages: said })
  const asked = request(`${url}/v1/chat/completions`, { method: 'POST', headers }).end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  assert.equal(answer.statusCode, 200)
  assert.match(await text(answer), /chat\.completion/)
})

describe('about models', () => {
  test('each API lists models in its own format', async (t) => {
    const { openai, anthropic, google, url } = await clients(t)
    const lists = [
      (await openai.models.list()).data.map(({ id }) => id),
      (await anthropic.models.list()).data.map(({ id }) => id),
      (await google.models.list()).page.map(({ name }) => name?.replace('models/', '')),
    ]
    for (const names of lists) assert.ok(names.includes('anthropic/claude-opus-5'))
    assert.ok(lists[0]?.includes('gpt-5.6') && !lists[1]?.includes('gpt-5.6') && lists[1]?.includes('claude-opus-5'))
    assert.equal((await openai.models.retrieve('openai/gpt-5.6')).id, 'openai/gpt-5.6')
    assert.equal((await fetch(`${url}/anthropic`, { method: 'HEAD' })).status, 200)
  })

  test('tokens are counted, and never as none', async (t) => {
    const { anthropic, google } = await clients(t)
    const small = await anthropic.messages.countTokens({ model, messages: said })
    const large = await anthropic.messages.countTokens({
      model,
      messages: [{ role: 'user', content: 'word '.repeat(1000) }],
    })
    assert.ok(small.input_tokens > 0 && large.input_tokens > 900)
    assert.ok(((await google.models.countTokens({ model, contents: 'Hello' })).totalTokens ?? 0) > 0)
  })
})

test('a provider whose address is set to the server itself is refused, in place of requests to itself', async (t) => {
  const env: Record<string, string> = { ANTHROPIC_API_KEY: 'real' }
  const { url, anthropic, store } = await clients(t, { endpoint: await endpointFinder({ env }), env, offline: false })
  env['ANTHROPIC_BASE_URL'] = `${url}/anthropic`
  const request = anthropic.messages.create({ model: 'claude-opus-5', max_tokens: 10, messages: said })
  await assert.rejects(request, /Anthropic is that of this server.*Start the server without ANTHROPIC_BASE_URL/s)
  assert.deepEqual((await store.conversations('local')).items, [])
})
