// Ollama's other endpoints at the door, with its official client: one prompt without roles, what a model can do, and what
// programs ask before they send a request.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Ollama } from 'ollama'
import type { JsonObject } from '../../src/core/json.ts'
import { createKey } from '../../src/server/keys.ts'
import { answerKey, trackDelivery } from '../../src/server/doors/undelivered.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { gate, serving } from '../server/serving.ts'

const claude = 'anthropic/claude-opus-5'
const mistral = 'mistral/mistral-large-latest'
const local = 'ollama/llama3.2'

const headers = { 'content-type': 'application/json' }

/** One black pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

describe('generate', () => {
  for (const model of [claude, 'openai/gpt-5.6', 'google/gemini-3-flash-preview', mistral, local]) {
    test(`answers a prompt, whole and streamed, over ${model}`, async (t) => {
      const { url, store, emulator } = await serving(t)
      const ollama = new Ollama({ host: `${url}/ollama` })
      const whole = await ollama.generate({ model, prompt: 'What is 17 + 25?', system: 'Be brief.' })
      assert.match(whole.response ?? '', /17 \+ 25 = 42/)
      assert.deepEqual([whole.done, whole.done_reason], [true, 'stop'])
      assert.ok(whole.prompt_eval_count > 0 && whole.eval_count > 0)
      const pieces = []
      for await (const piece of await ollama.generate({ model, prompt: 'What is 1 + 2?', stream: true }))
        pieces.push(piece)
      assert.match(pieces.map(({ response }) => response).join(''), /1 \+ 2 = 3/)
      assert.deepEqual(
        pieces.map(({ done }) => done),
        [...pieces.slice(1).map(() => false), true],
      )
      assert.ok((pieces.at(-1)?.eval_count ?? 0) > 0)
      const { items } = await store.conversations('local')
      assert.deepEqual(
        items.map(({ title, entries }) => [title, entries]),
        [
          ['What is 1 + 2?', 2],
          ['What is 17 + 25?', 2],
        ],
      )
      assert.ok(emulator.requests.every(({ status }) => status === 200))
    })
  }

  test('says how long an answer took', async (t) => {
    const { url } = await serving(t)
    const ollama = new Ollama({ host: `${url}/ollama` })
    const began = performance.now()
    const whole = await ollama.generate({ model: claude, prompt: 'Hi' })
    assert.ok(whole.total_duration > 0 && whole.eval_duration > 0)
    assert.ok(whole.total_duration < (performance.now() - began) * 1e6)
    let last
    for await (const piece of await ollama.generate({ model: claude, prompt: 'Hi', stream: true })) last = piece
    assert.ok(last && last.prompt_eval_duration > 0 && last.eval_duration > 0)
    assert.equal(last.prompt_eval_duration + last.eval_duration, last.total_duration)
  })

  test('has thinking, pictures, options and a schema', async (t) => {
    const { url, emulator } = await serving(t)
    const ollama = new Ollama({ host: `${url}/ollama` })
    const format = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] }
    const thought = await ollama.generate({ model: claude, prompt: 'Hi', think: true })
    assert.match(thought.thinking ?? '', /The last question is "Hi"/)
    const ask = { model: mistral, prompt: 'How old?', images: [pixel], format, options: { num_predict: 50 } }
    assert.equal(typeof (JSON.parse((await ollama.generate(ask)).response ?? '') as JsonObject).age, 'number')
    const sent = JSON.stringify(emulator.requests.at(-1)?.body)
    assert.match(sent, /"max_tokens":50/)
    assert.ok(sent.includes(pixel) && sent.includes('"age"'))
  })

  test('continues the conversation of a context, on another provider, with its instructions', async (t) => {
    const { url, store, emulator } = await serving(t)
    const ollama = new Ollama({ host: `${url}/ollama` })
    const first = await ollama.generate({ model: claude, prompt: 'I like tea.', system: 'Be brief.' })
    const next = { model: mistral, prompt: 'What did I say first?', context: first.context }
    const second = await ollama.generate(next)
    assert.match(second.response ?? '', /I like tea/)
    assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /Be brief/)
    const third = await ollama.generate({ ...next, model: local, context: second.context })
    assert.match(third.response ?? '', /I like tea/)
    const branch = await ollama.generate({ ...next, prompt: 'How many messages are in this request?' })
    assert.match(branch.response ?? '', /2 from you, 1 from me/)
    const { items } = await store.conversations('local')
    assert.deepEqual(
      items.map(({ title }) => title),
      ['I like tea.'],
    )
  })

  test('does not continue the conversation of another owner, and notes that a context is left out', async (t) => {
    const store = openMemoryStore()
    const [ada, bob] = await Promise.all(
      ['ada', 'bob'].map(async (owner) => (await createKey(store, { owner, name: owner, access: 'write' })).key),
    )
    const { api } = await serving(t, { store, requireKeys: true })
    const ask = async (key: string | undefined, body: JsonObject) => {
      const headers = { authorization: `Bearer ${key}` }
      return api('POST', '/ollama/api/generate', { model: claude, stream: false, ...body }, headers)
    }
    const { body } = await ask(ada, { prompt: 'I like tea.' })
    const context = body.context ?? []
    const theirs = await ask(bob, { prompt: 'What did I say first?', context })
    assert.doesNotMatch(theirs.text, /tea/)
    assert.equal(theirs.headers.get('x-synapse-notes'), '1')
    const own = await ask(ada, { prompt: 'What did I say first?', context })
    assert.match(own.text, /tea/)
    assert.equal(own.headers.get('x-synapse-notes'), '0')
    const foreign = await ask(ada, { prompt: 'What did I say first?', context: [1, 2, 3] })
    assert.doesNotMatch(foreign.text, /tea/)
    assert.equal(foreign.headers.get('x-synapse-notes'), '1')
  })

  test('an empty prompt loads or unloads the model, without a request to its provider', async (t) => {
    const { url, store, emulator } = await serving(t)
    const ollama = new Ollama({ host: `${url}/ollama` })
    const loaded = await ollama.generate({ model: claude, prompt: '', system: 'Be brief.' })
    assert.deepEqual([loaded.response, loaded.done, loaded.done_reason], ['', true, 'load'])
    const unloaded = await ollama.generate({ model: claude, prompt: '', keep_alive: 0 })
    assert.equal(unloaded.done_reason, 'unload')
    const pieces = []
    for await (const piece of await ollama.generate({ model: claude, prompt: '', stream: true })) pieces.push(piece)
    assert.deepEqual(
      pieces.map(({ done_reason: reason }) => reason),
      ['load'],
    )
    const chat = await ollama.chat({ model: claude, messages: [], keep_alive: '0s' })
    assert.deepEqual([chat.message, chat.done_reason], [{ role: 'assistant', content: '' }, 'unload'])
    assert.equal((await ollama.chat({ model: claude })).done_reason, 'load')
    await assert.rejects(ollama.generate({ model: 'none', prompt: '' }), { status_code: 404 })
    assert.deepEqual([emulator.requests.length, (await store.conversations('local')).items], [0, []])
  })

  test('what only an Ollama server can do passes through to one, unchanged', async (t) => {
    const { url, store, emulator, api } = await serving(t)
    const ollama = new Ollama({ host: `${url}/ollama` })
    const ask = { prompt: 'What is 1 + 1?', suffix: '}', template: '{{ .Prompt }}' }
    for (const stream of [true, false] as const) {
      const body = { model: local, ...ask, stream }
      assert.match((await api('POST', '/ollama/api/generate', body)).text, /"response":/)
      const { path, body: sent } = emulator.requests.at(-1) ?? {}
      assert.deepEqual([path, sent], ['/ollama/api/generate', { ...body, model: 'llama3.2' }])
    }
    const [conversation] = (await store.conversations('local')).items
    const { items } = await store.exchanges('local', conversation?.id ?? '')
    const [exchange] = items
    assert.ok((exchange?.usage?.output ?? 0) > 0)
    assert.doesNotMatch(JSON.stringify(exchange?.usage?.raw), /context|response/)
    const [, reply] = await store.history('local', conversation?.head ?? '')
    assert.match(JSON.stringify(reply?.message.parts), /1 \+ 1 = 2/)
    await assert.rejects(ollama.generate({ model: claude, ...ask }), {
      status_code: 400,
      message: `${claude} does not support insert`,
    })
  })

  test('a template and raw prompts are left out of what is translated, each with a note', async (t) => {
    const { api, emulator } = await serving(t)
    const ask = { model: claude, prompt: 'Hi', stream: false }
    for (const field of [{ raw: true }, { template: '{{ .Prompt }}' }]) {
      const { status, headers } = await api('POST', '/ollama/api/generate', { ...ask, ...field })
      assert.deepEqual([status, headers.get('x-synapse-notes')], [200, '1'])
    }
    assert.doesNotMatch(JSON.stringify(emulator.requests.map(({ body }) => body)), /Prompt|raw/)
  })

  test('values of a wrong type are refused in the words of the API', async (t) => {
    const { api, emulator } = await serving(t)
    const refusals: [JsonObject, RegExp][] = [
      [{ prompt: 5 }, /^json: cannot unmarshal number into Go struct field GenerateRequest\.prompt of type string$/],
      [{ prompt: 'x', images: 'y' }, /GenerateRequest\.images of type \[\]api\.ImageData$/],
      [{ prompt: 'x', context: 'y' }, /GenerateRequest\.context of type \[\]int$/],
      [{ prompt: 'x', raw: true, system: 'y' }, /^raw mode does not support template, system, or context$/],
    ]
    for (const [body, words] of refusals) {
      const answer = await api('POST', '/ollama/api/generate', { model: claude, ...body })
      assert.equal(answer.status, 400)
      assert.match(String(answer.body.error), words)
    }
    assert.equal(emulator.requests.length, 0)
  })

  test('an aborted stream stops the request to the provider', async (t) => {
    const { between, held } = gate(6)
    const { url, store } = await serving(t, { between })
    const ollama = new Ollama({ host: `${url}/ollama` })
    const stream = await ollama.generate({ model: claude, prompt: 'Please count to 50.', stream: true })
    const reading = (async () => {
      for await (const { response } of stream) if (response === '') break
    })()
    await held
    ollama.abort()
    await assert.rejects(reading, { name: 'AbortError' })
    const [conversation] = (await store.conversations('local')).items
    const outcome = async () => (await store.exchanges('local', conversation?.id ?? '')).items[0]?.outcome
    while ((await outcome()) !== 'cancelled') await setImmediate()
  })

  test('an answer that did not arrive is returned to the same request in the same form', async (t) => {
    const { url, store, emulator } = await serving(t)
    const body = JSON.stringify({ model: claude, prompt: 'What is 2 + 2?' })
    const ask = () => fetch(`${url}/ollama/api/generate`, { method: 'POST', headers, body }).then((it) => it.text())
    const first = await ask()
    const [conversation] = (await store.conversations('local')).items
    const { id: conversationId = '', head: entryId } = conversation ?? {}
    const [exchange] = (await store.exchanges('local', conversationId)).items
    const digest = (before: string) => hash('sha256', before + body, 'base64url')
    const key = answerKey('/ollama/api/generate', { digest })
    while (await store.record('local', 'door-answer', key)) await setImmediate()
    const lost = trackDelivery(store, 'local', key)
    const place = { conversationId, entryId: entryId ?? '', exchangeId: exchange?.id ?? '', replyId: '' }
    await store.putRecords([lost.record(place)])
    lost.lost()
    const again = await ask()
    assert.equal(textIn(again), textIn(first))
    assert.match(again, /"context":\[\d/)
    assert.equal(emulator.requests.length, 1)
  })
})

function textIn(lines: string): string {
  const chunks = lines.trim().split('\n')
  return chunks.map((line) => (JSON.parse(line) as JsonObject).response).join('')
}

describe('show', () => {
  test('describes what a model of any provider supports', async (t) => {
    const { url } = await serving(t)
    const ollama = new Ollama({ host: `${url}/ollama` })
    const about = await ollama.show({ model: claude })
    assert.deepEqual(about.capabilities, ['completion', 'tools', 'vision', 'thinking'])
    assert.deepEqual([about.details.family, about.details.parent_model], ['anthropic', claude])
    const info = about.model_info as unknown as Record<string, unknown>
    assert.equal(info['general.architecture'], 'anthropic')
    assert.equal(info['anthropic.context_length'], 1_000_000)
    const plain = await ollama.show({ model: 'openai/gpt-3.5-turbo' })
    assert.deepEqual(plain.capabilities, ['completion', 'tools'])
  })

  test('describes the model that a name is an alias of', async (t) => {
    const { url } = await serving(t, { aliases: { fast: mistral } })
    const { details, model_info: info } = await new Ollama({ host: `${url}/ollama` }).show({ model: 'fast' })
    assert.equal(details.parent_model, mistral)
    assert.equal((info as unknown as Record<string, unknown>)['general.basename'], 'fast')
  })

  test('an unknown model is not found, in the words of the API, and a name is required', async (t) => {
    const { url, api } = await serving(t)
    const ollama = new Ollama({ host: `${url}/ollama` })
    await assert.rejects(ollama.show({ model: 'none' }), { status_code: 404, message: /^model 'none' not found/ })
    assert.deepEqual((await api('POST', '/ollama/api/show', { name: claude })).status, 200)
    const { status, body } = await api('POST', '/ollama/api/show', {})
    assert.deepEqual([status, body], [400, { error: 'model is required' }])
  })

  test('a key sees only its own models', async (t) => {
    const store = openMemoryStore()
    const { key } = await createKey(store, { owner: 'ada', name: 'ada', access: 'read', models: ['mistral/*'] })
    const { api } = await serving(t, { store, requireKeys: true })
    const show = (model: string, headers = {}) => api('POST', '/ollama/api/show', { model }, headers)
    const authorization = `Bearer ${key}`
    assert.equal((await show(mistral, { authorization })).status, 200)
    assert.equal((await show(claude, { authorization })).status, 403)
    assert.equal((await show(mistral)).status, 401)
  })
})

test('a program that has the server itself as its host finds everything', async (t) => {
  const { url } = await serving(t)
  const ollama = new Ollama({ host: url })
  assert.match((await ollama.generate({ model: claude, prompt: 'What is 1 + 1?' })).response ?? '', /1 \+ 1 = 2/)
  assert.equal((await ollama.show({ model: claude })).details.family, 'anthropic')
  assert.deepEqual(await ollama.ps(), { models: [] })
})

// The steps of the provider for Ollama in VS Code (checked 2026-11).
test('an editor that checks the version, lists the models and asks about each of them can use one', async (t) => {
  const { api } = await serving(t, { doorModel: { model: mistral } })
  for (const base of ['', '/ollama']) {
    const { body: about } = await api('GET', `${base}/api/version`)
    assert.match(String(about.version), /^0\.(?:[7-9]|[1-9]\d)\.\d+$/, 'at least 0.6.4')
    const { models } = (await api('GET', `${base}/api/tags`)).body as { models?: { model: string; digest: string }[] }
    const listed = models?.find(({ model }) => model === claude)
    assert.match(listed?.digest ?? '', /^[0-9a-f]{64}$/)
    assert.equal(new Set(models?.map(({ digest }) => digest)).size, models?.length)
    const { body: shown } = await api('POST', `${base}/api/show`, { model: claude })
    assert.ok(Array.isArray(shown.capabilities) && shown.capabilities.includes('tools'))
    const ask = { model: claude, messages: [{ role: 'user', content: 'What is 1 + 1?' }] }
    assert.match((await api('POST', `${base}/v1/chat/completions`, ask)).text, /1 \+ 1 = 2/)
  }
})

describe('a body without its content type', () => {
  const chat = JSON.stringify({ model: claude, messages: [{ role: 'user', content: 'What is 1 + 1?' }], stream: false })
  // `curl -d` sends this type.
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'curl/8.5.0' }
  const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:60.0) Gecko/20100101 Firefox/60.0'
  const send = (url: string, type: Record<string, string>, body: string) =>
    fetch(url, { method: 'POST', headers: { 'content-type': '', ...type }, body })

  test('is read, as by Ollama', async (t) => {
    const { url } = await serving(t)
    const prompt = JSON.stringify({ model: claude, prompt: 'What is 1 + 1?', stream: false })
    for (const base of ['', '/ollama']) {
      for (const type of [form, {}, { 'content-type': 'text/plain;charset=UTF-8' }] as Record<string, string>[]) {
        assert.match(await (await send(`${url}${base}/api/chat`, type, chat)).text(), /1 \+ 1 = 2/)
        assert.match(await (await send(`${url}${base}/api/generate`, type, prompt)).text(), /1 \+ 1 = 2/)
        assert.equal((await send(`${url}${base}/api/show`, type, JSON.stringify({ model: claude }))).status, 200)
      }
    }
  })

  test('is refused from a page, also in a browser that says nothing about its origin', async (t) => {
    const { url, emulator } = await serving(t)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const plain = { 'content-type': 'text/plain' }
    for (const path of ['/api/chat', '/ollama/api/chat']) {
      for (const type of [form, plain]) {
        const status = async (more: Record<string, string>) =>
          (await send(url + path, { ...type, ...more }, chat)).status
        assert.equal(await status({ origin: 'https://evil.example' }), 403)
        assert.equal(await status({ origin: 'null' }), 403)
        assert.equal(await status({ 'sec-fetch-site': 'cross-site' }), 403)
        assert.equal(await status({ 'sec-fetch-site': 'same-site' }), 403)
        assert.equal(await status({ 'user-agent': browser }), 415)
        assert.equal(await status({ origin: url }), 415)
        assert.equal(await status({ 'sec-fetch-site': 'same-origin' }), 415)
      }
    }
    assert.equal(emulator.requests.length, 0)
  })

  test('is refused by the other APIs, which require the type', async (t) => {
    const { url } = await serving(t)
    for (const path of [
      '/v1/chat/completions',
      '/ollama/v1/chat/completions',
      '/mistral/v1/chat/completions',
      '/v1/messages',
    ])
      assert.equal((await send(url + path, form, chat)).status, 415, path)
  })
})

test('what is not offered is refused in the form of the API', async (t) => {
  const { url } = await serving(t)
  for (const host of [url, `${url}/ollama`]) {
    const ollama = new Ollama({ host })
    await assert.rejects(ollama.pull({ model: 'llama3.2' }), /^ResponseError: There is nothing at .*\/api\/pull/)
    await assert.rejects(ollama.embed({ model: 'llama3.2', input: 'x' }), /^ResponseError: There is nothing at/)
    await assert.rejects(ollama.delete({ model: 'llama3.2' }), /^ResponseError: There is nothing at/)
  }
})
