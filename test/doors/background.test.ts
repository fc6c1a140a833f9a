// Responses in the background: the request is answered at once, and the client retrieves the reply by its id.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { SynapseError } from '../../src/core/error.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { gate, serving, type ServingOptions } from '../server/serving.ts'
import { tempFolder } from '../store/temp.ts'
import { models, startProvider, startServer } from './server-process.ts'

const input = 'My name is Ada.'

/** The provider answers when `release` is called, with the status given to it. */
async function heldServer(t: TestContext, options: ServingOptions = {}) {
  const { promise: released, resolve: release } = Promise.withResolvers<number>()
  t.after(() => release(200))
  const served = await serving(t, {
    ...options,
    between: (next) => async (url, init) => {
      const status = await Promise.race([released, aborted(init?.signal)])
      return status === 200 ? next(url, init) : Response.json({ error: { message: 'No.' } }, { status })
    },
  })
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${served.url}/v1`, maxRetries: 0 })
  return { ...served, openai, release }
}

function aborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
}

/** The response once it has ended. */
async function finished(openai: OpenAI, id: string): Promise<OpenAI.Responses.Response> {
  for (;;) {
    const response = await openai.responses.retrieve(id)
    if (response.status !== 'queued' && response.status !== 'in_progress') return response
  }
}

for (const model of ['anthropic/claude-opus-5', 'mistral/mistral-large-latest', 'openai/gpt-5.6']) {
  test(`a response in the background is retrieved once it is complete, and continued, over ${model}`, async (t) => {
    const { openai, release, store } = await heldServer(t)
    const first = await openai.responses.create({ model, input, background: true })
    assert.deepEqual([first.status, first.background, first.output], ['queued', true, []])
    assert.equal(first.usage, null)
    assert.equal((await openai.responses.retrieve(first.id)).status, 'in_progress')
    await assert.rejects(openai.responses.create({ model, input, previous_response_id: first.id }), {
      status: 400,
      message: `400 ${first.id} has no reply to continue from: its status is in_progress.`,
    })
    assert.equal((await openai.responses.inputItems.list(first.id)).data.length, 1)
    release(200)
    const done = await finished(openai, first.id)
    assert.deepEqual([done.status, done.background, done.error], ['completed', true, null])
    assert.ok(done.output_text.length > 0 && (done.usage?.output_tokens ?? 0) > 0)
    assert.equal((await openai.responses.cancel(first.id)).status, 'completed', 'what has ended stays as it is')
    const next = { model, input: 'What is my name?', previous_response_id: first.id }
    assert.match((await openai.responses.create(next)).output_text, /Ada/)
    assert.equal((await store.conversations('local')).items.length, 1)
  })
}

for (const model of ['anthropic/claude-opus-5', 'openai/gpt-5.6']) {
  test(`a response that is not in the background is known by its id once it is complete, over ${model}`, async (t) => {
    const { between, open } = gate(6)
    const { url } = await serving(t, { between })
    const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
    const events = (await openai.responses.create({ model, input, stream: true }))[Symbol.asyncIterator]()
    const { value: created } = await events.next()
    assert.ok(created?.type === 'response.created')
    const { id } = created.response
    // As reported of OpenAI: what it streams is stored at its end.
    await assert.rejects(openai.responses.retrieve(id), { status: 404 })
    await assert.rejects(openai.responses.create({ model, input, previous_response_id: id }), {
      code: 'previous_response_not_found',
    })
    open()
    while (!(await events.next()).done);
    assert.equal((await openai.responses.retrieve(id)).status, 'completed')
  })
}

test('a response in the background is cancelled, also twice', async (t) => {
  const { openai, emulator } = await heldServer(t)
  const { id } = await openai.responses.create({ model: 'anthropic/claude-opus-5', input, background: true })
  for (let i = 0; i < 2; i++) {
    const { status, output, error } = await openai.responses.cancel(id)
    assert.deepEqual([status, output, error], ['cancelled', [], null])
  }
  assert.equal((await openai.responses.retrieve(id)).status, 'cancelled')
  assert.equal(emulator.requests.length, 0)
})

test('what fails in the background is a failed response with the reason', async (t) => {
  const { openai, release } = await heldServer(t)
  const { id } = await openai.responses.create({ model: 'anthropic/claude-opus-5', input, background: true })
  release(401)
  const { status, error, output } = await finished(openai, id)
  assert.deepEqual([status, error?.code, output], ['failed', 'server_error', []])
  assert.match(error?.message ?? '', /No\./)
})

test('a response that is deleted while it is written is no longer written', async (t) => {
  const { openai, emulator } = await heldServer(t)
  const { id } = await openai.responses.create({ model: 'anthropic/claude-opus-5', input, background: true })
  await openai.responses.delete(id)
  await assert.rejects(openai.responses.retrieve(id), { status: 404 })
  assert.equal(emulator.requests.length, 0)
})

test('another owner can neither retrieve nor cancel it', async (t) => {
  const store = openMemoryStore()
  const keys = await Promise.all(['ada', 'eve'].map((owner) => createKey(store, { owner })))
  const { url } = await heldServer(t, { store, requireKeys: true })
  const [ada, eve] = keys.map(({ key }) => new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 }))
  assert.ok(ada && eve)
  const { id } = await ada.responses.create({ model: 'anthropic/claude-opus-5', input, background: true })
  await assert.rejects(eve.responses.retrieve(id), { status: 404 })
  await assert.rejects(eve.responses.cancel(id), { status: 404 })
  assert.equal((await ada.responses.retrieve(id)).status, 'in_progress')
})

test('the background is refused where nothing could be retrieved later', async (t) => {
  const { openai } = await heldServer(t)
  const body = { model: 'anthropic/claude-opus-5', input, background: true }
  await assert.rejects(openai.responses.create({ ...body, store: false }), /background requires store/)
  await assert.rejects(openai.responses.create({ ...body, stream: true }), /background cannot be combined with stream/)
})

test('an interaction in the background is retrieved once it is complete, or cancelled', async (t) => {
  const { url, release } = await heldServer(t)
  const ai = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: url } })
  const body = { model: 'anthropic/claude-opus-5', input, background: true }
  const [first, second] = [await ai.interactions.create(body), await ai.interactions.create(body)]
  assert.deepEqual([first.status, second.status], ['in_progress', 'in_progress'])
  assert.equal((await ai.interactions.cancel(second.id)).status, 'cancelled')
  release(200)
  for (;;) {
    const { status, steps } = await ai.interactions.get(first.id)
    if (status === 'in_progress') continue
    assert.equal(status, 'completed')
    assert.ok((steps?.length ?? 0) > 0)
    break
  }
})

test('a response that a killed server was writing has failed, and its conversation continues', async (t) => {
  const [folder, provider] = [tempFolder(t), await startProvider(t)]
  const model = models.translated
  const before = await startServer(t, folder, provider)
  const known = await before.openai.responses.create({ model, input })
  provider.hold()
  const next = { model, previous_response_id: known.id, input: 'What is my name?' }
  const { id } = await before.openai.responses.create({ ...next, background: true })
  assert.equal((await before.openai.responses.retrieve(id)).status, 'in_progress')
  await before.kill()
  provider.resume()
  const { openai } = await startServer(t, folder, provider)
  const { status, error } = await openai.responses.retrieve(id)
  assert.equal(status, 'failed')
  assert.equal(error?.message, 'The server stopped before the response was complete. Send the request again.')
  provider.hold()
  const again = await openai.responses.create({ ...next, background: true })
  while (provider.asked() < 3) await openai.responses.retrieve(again.id)
  assert.equal((await openai.responses.cancel(id)).status, 'failed', 'it is not the one that runs there now')
  assert.equal((await openai.responses.retrieve(again.id)).status, 'in_progress')
  provider.resume()
  assert.match((await finished(openai, again.id)).output_text, /Ada/)
})

test('a response in the background is retrieved and cancelled through another server', async (t) => {
  const [folder, provider] = [tempFolder(t), await startProvider(t)]
  const [one, other] = await Promise.all([startServer(t, folder, provider), startServer(t, folder, provider)])
  provider.hold()
  const body = { model: models.translated, input, background: true }
  const [first, second] = [await one.openai.responses.create(body), await one.openai.responses.create(body)]
  while (provider.asked() < 2) await other.openai.responses.retrieve(first.id)
  assert.equal((await other.openai.responses.retrieve(first.id)).status, 'in_progress')
  assert.equal((await other.openai.responses.cancel(first.id)).status, 'cancelled')
  assert.equal((await one.openai.responses.retrieve(first.id)).status, 'cancelled')
  provider.resume()
  assert.equal((await finished(other.openai, second.id)).status, 'completed')
})

test('a disk with too little room for a conversation is why a response in the background cannot be written', async (t) => {
  const sqlite = await openSqliteStore(':memory:')
  t.after(() => sqlite.close())
  const message = 'There is no space left.'
  const createConversation = () => Promise.reject(new SynapseError({ kind: 'storage', code: 'full', message }))
  const { url } = await serving(t, { store: { ...sqlite, createConversation } })
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  for (const background of [true, false]) {
    await assert.rejects(openai.responses.create({ model: 'mistral/mistral-large-latest', input: 'Hi', background }), {
      status: 503,
      message: `503 ${message}`,
    })
  }
})
