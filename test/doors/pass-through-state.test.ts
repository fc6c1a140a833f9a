// Conversations, responses and items that the provider knows, of requests that pass through.

import assert from 'node:assert/strict'
import test from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/core/json.ts'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { serving } from '../server/serving.ts'
import { watching } from './watching.ts'

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

test('a conversation with replies of two providers passes through to neither', async (t) => {
  const { url, seen } = await watching(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const messages: OpenAI.ChatCompletionMessageParam[] = []
  const say = async (model: string, content: string) => {
    messages.push({ role: 'user', content })
    const request = { model, messages, of_a_later_version: true }
    const { choices } = await openai.chat.completions.create(request)
    messages.push({ role: 'assistant', content: choices[0]?.message.content ?? '' })
    return (JSON.parse(seen.at(-1)?.body ?? '{}') as JsonObject).of_a_later_version === true
  }
  assert.equal(await say('groq/llama-3.3-70b-versatile', 'My name is Ada.'), true)
  assert.equal(await say('groq/llama-3.3-70b-versatile', 'What is my name?'), true)
  assert.equal(await say('openrouter/openai/gpt-5.6', 'And again?'), false)
  assert.equal(await say('groq/llama-3.3-70b-versatile', 'Once more?'), false)
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
  // OpenAI's ids of items say nothing about the id of their response.
  const reversed = (text: string) =>
    text.replaceAll(/"msg_(\w+)/g, (_, id: string) => `"msg_${id.split('').toReversed().join('')}`)
  let sent = ''
  const { url } = await serving(t, {
    between: (next) => async (input, init) => {
      sent = typeof init?.body === 'string' ? init.body : Buffer.from(init?.body as Uint8Array).toString()
      const answer = await next(input, { ...init, body: reversed(sent) })
      return new Response(reversed(await answer.text()), { status: answer.status, headers: answer.headers })
    },
  })
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const ask = async (model: string, input: OpenAI.Responses.ResponseInput) => {
    const { output } = await openai.responses.create({ model, input })
    return { id: output.at(-1)?.id ?? '', sent }
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

test('a reference to an item of another owner is not sent to the provider, which has the items of both', async (t) => {
  const store = openMemoryStore()
  const keys = await Promise.all(['ada', 'bob'].map((owner) => createKey(store, { owner })))
  const { url, seen } = await watching(t, { store, requireKeys: true })
  const [ada, bob] = keys.map(({ key }) => new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 }))
  const { output } = (await ada?.responses.create({ model: 'gpt-5.6', input: 'My name is Ada.' })) ?? {}
  const id = output?.at(-1)?.id ?? ''
  const input = [
    { type: 'item_reference' as const, id },
    { role: 'user' as const, content: 'What is my name?' },
  ]
  await ada?.responses.create({ model: 'gpt-5.6', input })
  assert.ok(seen.at(-1)?.body.includes(id))
  await bob?.responses.create({ model: 'gpt-5.6', input })
  assert.equal(seen.length, 3)
  assert.ok(!seen.at(-1)?.body.includes(id))
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
