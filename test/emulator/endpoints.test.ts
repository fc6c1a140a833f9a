// What providers offer besides replies: stored chat completions, explicit caches of Gemini, Ollama's other endpoints,
// and the fields that Groq adds to a stream. With the official clients where there is one.

import assert from 'node:assert/strict'
import test from 'node:test'
import { GoogleGenAI } from '@google/genai'
import { Ollama } from 'ollama'
import OpenAI from 'openai'
import type { Json } from '../../src/core/json.ts'
import { clock, served } from './emulating.ts'

test('a chat completion that is stored can be listed, read, changed and deleted', async (t) => {
  const { url } = await served(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/openai/v1` })
  const messages = [{ role: 'user' as const, content: 'What is 2 + 3?' }]
  await openai.chat.completions.create({ model: 'gpt-4o', messages })
  const made = await openai.chat.completions.create({ model: 'gpt-4o', messages, store: true, metadata: { a: 'b' } })
  const { data } = await openai.chat.completions.list()
  assert.deepEqual(
    data.map(({ id }) => id),
    [made.id],
  )
  const read = await openai.chat.completions.retrieve(made.id)
  assert.deepEqual([read.choices, Object(read).metadata], [made.choices, { a: 'b' }])
  const [message] = (await openai.chat.completions.messages.list(made.id)).data
  assert.equal(message?.content, 'What is 2 + 3?')
  assert.deepEqual(Object(await openai.chat.completions.update(made.id, { metadata: { a: 'c' } })).metadata, { a: 'c' })
  assert.equal((await openai.chat.completions.delete(made.id)).deleted, true)
  await assert.rejects(openai.chat.completions.retrieve(made.id), OpenAI.NotFoundError)
})

test('an explicit cache of Gemini comes before the contents of a request, until it expires', async (t) => {
  const time = clock()
  const { url } = await served(t, { now: time.now })
  const google = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: `${url}/google` } })
  const model = 'gemini-2.5-flash'
  const contents = `My name is Ada. ${'Some words that are long enough. '.repeat(200)}`
  await assert.rejects(google.caches.create({ model, config: { contents: 'Too short.' } }), /too small/)
  const config = { contents, systemInstruction: 'Be brief.', ttl: '60s' }
  const { name = '', usageMetadata } = await google.caches.create({ model, config })
  assert.match(name, /^cachedContents\//)
  assert.ok((usageMetadata?.totalTokenCount ?? 0) >= 1024)
  const ask = { model, contents: "What's my name?", config: { cachedContent: name } }
  const reply = await google.models.generateContent(ask)
  assert.match(reply.text ?? '', /your name is Ada/)
  assert.equal(reply.usageMetadata?.cachedContentTokenCount, usageMetadata?.totalTokenCount)
  await assert.rejects(
    google.models.generateContent({ ...ask, config: { ...ask.config, systemInstruction: 'x' } }),
    /CachedContent can not be used with/,
  )
  const listed: (string | undefined)[] = []
  for await (const cache of await google.caches.list()) listed.push(cache.name)
  assert.deepEqual(listed, [name])
  await google.caches.update({ name, config: { ttl: '120s' } })
  time.pass(90_000)
  assert.equal((await google.caches.get({ name })).name, name)
  time.pass(60_000)
  await assert.rejects(google.models.generateContent(ask), /CachedContent not found/)
})

test('Ollama answers a prompt without roles, complete or streamed, and describes a model', async (t) => {
  const { url } = await served(t)
  const ollama = new Ollama({ host: `${url}/ollama` })
  const ask = { model: 'llama3.3', prompt: 'What is 2 + 3?', system: 'Be brief.' }
  const whole = await ollama.generate({ ...ask, stream: false })
  assert.match(whole.response ?? '', /2 \+ 3 = 5/)
  assert.equal(whole.done, true)
  let text = ''
  for await (const piece of await ollama.generate({ ...ask, stream: true })) text += piece.response
  assert.equal(text, whole.response)
  const about = await ollama.show({ model: 'llama3.3' })
  assert.ok(about.capabilities.includes('tools'))
  assert.ok((await ollama.version()).version)
  assert.deepEqual(await ollama.ps(), { models: [] })
})

test('Ollama loads a model for a request without a prompt or messages, and refuses what it cannot parse', async (t) => {
  const { url } = await served(t)
  const ollama = new Ollama({ host: `${url}/ollama` })
  const model = 'llama3.3'
  assert.equal((await ollama.generate({ model, prompt: '' })).done_reason, 'load')
  assert.equal((await ollama.generate({ model, prompt: '', keep_alive: 0 })).done_reason, 'unload')
  assert.equal((await ollama.chat({ model })).done_reason, 'load')
  await assert.rejects(ollama.chat({ model: '' }), /model is required/)
  await assert.rejects(ollama.show({ model: '' }), /model is required/)
  const raw = ollama.generate({ model, prompt: 'x', raw: true, system: 'y' })
  await assert.rejects(raw, /raw mode does not support template, system, or context/)
})

test('Groq names its request in the first chunk and has the usage in the last one', async (t) => {
  const { url } = await served(t)
  const groq = new OpenAI({ apiKey: 'any', baseURL: `${url}/groq/openai/v1` })
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  const chunks: { x_groq?: { id?: string; usage?: { [field: string]: Json } } }[] = []
  const stream = await groq.chat.completions.create({ model: 'llama-3.3-70b-versatile', messages, stream: true })
  for await (const chunk of stream) chunks.push(chunk as (typeof chunks)[number])
  assert.match(chunks[0]?.x_groq?.id ?? '', /^req_/)
  assert.ok(Number(chunks.at(-1)?.x_groq?.usage?.['total_tokens']) > 0)
  assert.equal(chunks.filter((chunk) => chunk.x_groq).length, 2)
})
