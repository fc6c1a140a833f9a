// Message threads at Anthropic's door: only the new messages are sent, and the server has the rest, over every provider.

import assert from 'node:assert/strict'
import test from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { openMemoryStore } from '../../src/store/memory.ts'
import { serving } from '../server/serving.ts'

const models = [
  'openai/gpt-5.6',
  'google/gemini-3-flash-preview',
  'mistral/mistral-large-latest',
  'deepseek/deepseek-reasoner',
  'ollama/gpt-oss:20b',
  'anthropic/claude-opus-5',
]

function clientAt(url: string): Anthropic {
  return new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
}

for (const model of models) {
  for (const stream of [false, true]) {
    test(`the tool runner of the official SDK has its whole conversation over ${model}, ${stream ? 'streamed' : 'complete'}`, async (t) => {
      const { url, emulator, store } = await serving(t)
      const weather = betaTool({
        name: 'weather',
        description: 'The weather of a city.',
        inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        run: ({ city }) => `sunny in ${city}`,
      })
      const runner = clientAt(url).beta.messages.toolRunner({
        model,
        max_tokens: 4000,
        stream,
        system: 'Answer as a sailor.',
        thinking: { type: 'enabled', budget_tokens: 1024 },
        messages: [{ role: 'user', content: 'use the tool weather with {"city":"Paris"}' }],
        tools: [weather],
      })
      const reply = await runner.runUntilDone()
      assert.equal(reply.stop_reason, 'end_turn')
      const [first, second, ...others] = emulator.requests
      assert.deepEqual([first?.status, second?.status, others.length], [200, 200, 0])
      const read = JSON.stringify(reply.content)
      assert.match(read, /sunny in Paris/, 'the model has the result')
      const sent = JSON.stringify(second?.body)
      for (const part of [/sailor/, /use the tool weather/, /The weather of a city/, /sunny in Paris/])
        assert.match(sent, part)
      assert.equal((await store.conversations('local')).items.length, 1)
    })
  }
}

test('a thread continues on another provider and after a restart, with its instructions and tools', async (t) => {
  const store = openMemoryStore()
  const before = await serving(t, { store })
  const params = { max_tokens: 100, system: 'Answer as a sailor.', betas: ['message-threads-2026-08-12' as const] }
  const { system: _system, ...later } = params
  const first = await clientAt(before.url).beta.messages.create({
    ...params,
    model: 'openai/gpt-5.6',
    messages: [{ role: 'user', content: 'My name is Ada.' }],
    thread: { type: 'create' },
  })
  const after = await serving(t, { store })
  const second = await clientAt(after.url).beta.messages.create({
    ...later,
    model: 'anthropic/claude-opus-5',
    messages: [{ role: 'user', content: 'Hello again.' }],
    thread: { type: 'continue', previous_message_id: first.id },
  })
  const third = await clientAt(after.url).beta.messages.create({
    ...later,
    model: 'google/gemini-3-flash-preview',
    messages: [{ role: 'user', content: 'What is my name?' }],
    thread: { type: 'continue', previous_message_id: second.id },
  })
  assert.match(JSON.stringify(third.content), /Ada/)
  for (const { body } of after.emulator.requests) assert.match(JSON.stringify(body), /Answer as a sailor/)
  await clientAt(after.url).beta.messages.create({
    ...params,
    system: 'Answer as a poet.',
    model: 'openai/gpt-5.6',
    messages: [{ role: 'user', content: 'Who are you?' }],
    thread: { type: 'continue', previous_message_id: third.id },
  })
  assert.match(JSON.stringify(after.emulator.requests.at(-1)?.body), /Answer as a poet/)
  assert.equal((await store.conversations('local')).items.length, 1)
})

test('a thread of the same API at both ends passes through, and is sent from the log where it is gone', async (t) => {
  const { url, emulator } = await serving(t)
  const anthropic = clientAt(url)
  const system = 'Answer as a sailor.'
  const thread = anthropic.beta.messages.thread({ model: 'anthropic/claude-opus-5', max_tokens: 100, system })
  await thread.send({ role: 'user', content: 'My name is Ada.' })
  await thread.send({ role: 'user', content: 'Hello again.' })
  assert.doesNotMatch(JSON.stringify(emulator.requests.at(-1)?.body), /Ada|sailor/)
  emulator.order({ expireState: true })
  const last = await thread.send({ role: 'user', content: 'What is my name?' })
  assert.match(JSON.stringify(last.content), /Ada/)
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /Ada.*sailor|sailor.*Ada/)
})

for (const model of models.filter((one) => !one.startsWith('anthropic/'))) {
  test(`a conversation of the official SDK is summarised on request by ${model}, and goes on from there`, async (t) => {
    const { url, emulator } = await serving(t)
    const { messages } = clientAt(url).beta
    const history = [
      { role: 'user' as const, content: 'The launch is on Tuesday.' },
      { role: 'assistant' as const, content: 'Understood.' },
      { role: 'user' as const, content: 'Thank you.' },
    ]
    const body = { model, max_tokens: 1000, compaction: { type: 'summarize' as const }, messages: history }
    const whole = await messages.create(body)
    const streamed = await messages
      .stream({ ...body, messages: [...history.slice(0, 2), { ...history[0], content: 'Go.' }] as typeof history })
      .finalMessage()
    for (const { content, stop_reason, usage } of [whole, streamed]) {
      const [block, ...others] = content
      assert.ok(block?.type === 'compaction' && block.content && others.length === 0)
      assert.equal(stop_reason, 'compaction')
      assert.ok(usage.input_tokens > 0)
    }
    const [block] = whole.content
    const summary = block?.type === 'compaction' ? block.content : ''
    await messages.create({
      model,
      max_tokens: 1000,
      messages: [
        { role: 'assistant', content: whole.content },
        { role: 'user', content: 'Go on.' },
      ],
    })
    const last = emulator.requests.at(-1)
    assert.equal(last?.status, 200)
    assert.ok(JSON.stringify(last.body).includes(JSON.stringify(summary).slice(1, 60)))
  })
}

test('an unknown thread has the error for which clients send the whole conversation again', async (t) => {
  const { url } = await serving(t)
  const anthropic = clientAt(url)
  const asking = anthropic.beta.messages.create({
    model: 'openai/gpt-5.6',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello' }],
    thread: { type: 'continue', previous_message_id: 'msg_unknown' },
    betas: ['message-threads-2026-08-12'],
  })
  await assert.rejects(asking, ({ status, error }: InstanceType<typeof Anthropic.APIError>) => {
    assert.equal(status, 404)
    assert.match(JSON.stringify(error), /"type":"not_found_error".*"error_code":"thread_not_found"/)
    return true
  })
  const plain = await anthropic.messages.create({
    model: 'openai/gpt-5.6',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'My name is Ada.' }],
  })
  // A reply outside of threads is none of them.
  const continuing = anthropic.beta.messages.create({
    model: 'openai/gpt-5.6',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello' }],
    thread: { type: 'continue', previous_message_id: plain.id },
    betas: ['message-threads-2026-08-12'],
  })
  await assert.rejects(continuing, { status: 404 })
})
