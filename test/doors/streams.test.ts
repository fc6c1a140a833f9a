// Streams at the doors: signs of life while nothing comes, what happens when the client leaves, and many at once.

import assert from 'node:assert/strict'
import test from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { streamedReply } from '../../src/server/doors/streamed-reply.ts'
import { relay } from '../../src/server/doors/relay.ts'
import type { DoorEnd } from '../../src/server/doors/run.ts'
import { noUsage } from '../../src/core/usage.ts'
import { loadService } from '../../src/wires/list.ts'
import { gate, serving } from '../server/serving.ts'

test('a client that waits hears a comment, and a failure afterwards is an event', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<DoorEnd>()
  const failure = { kind: 'overloaded', message: 'Too busy.' } as const
  const response = await streamedReply({
    wire: 'anthropic-messages',
    service: await loadService('anthropic-messages'),
    profile: { model: 'm', replyId: 'msg_1', createdAt: 0, inputTokens: 1 },
    run: {
      conversationId: 'c',
      events: relay(),
      stored: Promise.resolve(true),
      ended,
      abort: () => {},
      exchangeId: () => undefined,
      noteCount: () => 0,
    },
    issueOf: () => ({ rule: 'door', status: 529, message: failure.message }),
    keepAliveMs: 1,
  })
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  end({ outcome: 'failed', usage: noUsage, cost: 0, failure })
  const text = await response.text()
  assert.match(text, /^(?:: keep-alive\n\n)+event: error\ndata: .*overloaded_error.*Too busy\..*\n\n$/)
})

for (const model of ['deepseek/deepseek-reasoner', 'ollama/gpt-oss:20b', 'anthropic/claude-opus-5']) {
  test(`the answer after reasoning is streamed in pieces, over ${model}`, async (t) => {
    const { url } = await serving(t)
    const question = 'think: count to 20'
    const texts: string[] = []
    const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
    for await (const event of await openai.responses.create({ model, input: question, stream: true }))
      if (event.type === 'response.output_text.delta') texts.push(event.delta)
    assert.ok(texts.length > 5, `${texts.length} pieces`)
    const anthropic = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
    const params = { model, max_tokens: 4000, thinking: { type: 'enabled' as const, budget_tokens: 1024 } }
    const stream = anthropic.messages.stream({ ...params, messages: [{ role: 'user', content: question }] })
    let pieces = 0
    stream.on('text', () => pieces++)
    const { content } = await stream.finalMessage()
    assert.deepEqual([pieces, content.map(({ type }) => type)], [texts.length, ['thinking', 'text']])
  })
}

test('a run ends when its client leaves, and the partial reply is stored', { timeout: 120_000 }, async (t) => {
  const { url, store, emulator } = await serving(t)
  emulator.order({ keepAliveAt: 4, keepAliveMs: 5 })
  const leaving = new AbortController()
  const body = { model: 'anthropic/claude-opus-5', stream: true, messages: [{ role: 'user', content: 'Hello there' }] }
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: leaving.signal,
  })
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text())
  const reader = response.body?.getReader()
  await reader?.read()
  leaving.abort()
  const id = response.headers.get('x-synapse-conversation') ?? ''
  while (!t.signal.aborted) {
    const { items } = await store.exchanges('local', id)
    if (items.every(({ outcome }) => outcome !== 'open') && items.length > 0) {
      assert.deepEqual(
        items.map(({ outcome }) => outcome),
        ['cancelled'],
      )
      break
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
})

const atOnce = 40
const pieces = Array.from({ length: 50 }, (_, i) => i)

test('many streams at once, passed through and translated, are complete and stored, each in its conversation', async (t) => {
  const all = Promise.withResolvers<void>()
  let arrived = 0
  const between = () => async (_url: string | URL | Request, init?: RequestInit) => {
    const [, n = ''] = /stream (\d+)/.exec(Buffer.from(init?.body as Uint8Array).toString()) ?? []
    // None is answered before all have been asked.
    if (++arrived === atOnce) all.resolve()
    await all.promise
    return new Response(ReadableStream.from(chatStream(n)), { headers: { 'content-type': 'text/event-stream' } })
  }
  const { url, store } = await serving(t, { between })
  const answers = await Promise.all(Array.from({ length: atOnce }, (_, n) => asked(url, n)))
  for (const [n, { id, text, conversationId }] of answers.entries()) {
    assert.equal(id === `chatcmpl-${n}`, n % 2 === 0, 'the id of the provider, if it was passed through')
    const whole = pieces.map((i) => `${n}:${i};`).join('')
    assert.equal(text, whole)
    const { items } = await store.exchanges('local', conversationId)
    assert.deepEqual(
      items.map(({ outcome }) => outcome),
      ['done'],
    )
    const reply = await store.entry('local', items[0]?.replyEntryId ?? '')
    assert.deepEqual(
      reply?.message.parts.map((part) => 'text' in part && part.text),
      [whole],
    )
  }
  assert.equal(new Set(answers.map(({ conversationId }) => conversationId)).size, atOnce)
})

test('an answer has an estimated usage if the provider reports none', async (t) => {
  const between = () => async () => {
    const lines = [{ delta: { content: 'Hello to you too.' } }, { delta: {}, finish_reason: 'stop' }].map(
      (choice) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] })}\n\n`,
    )
    return new Response(`${lines.join('')}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
  }
  const { url } = await serving(t, { between })
  const anthropic = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'Hello there, how are you?' }]
  const body = { model: 'deepseek/deepseek-reasoner', max_tokens: 100, messages }
  const { input_tokens: counted } = await anthropic.messages.countTokens({ model: body.model, messages })
  for (const { usage } of [
    await anthropic.messages.create(body),
    await anthropic.messages.stream(body).finalMessage(),
  ]) {
    assert.equal(usage.input_tokens, counted)
    assert.ok(usage.output_tokens > 0)
  }
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const asked = { model: body.model, input: 'Hello there, how are you?' }
  for (const { usage } of [
    await openai.responses.create(asked),
    await openai.responses.stream(asked).finalResponse(),
  ]) {
    assert.equal(usage?.input_tokens, counted)
    assert.ok((usage?.output_tokens ?? 0) > 0)
  }
})

test('reasoning without words is no part of an answer, streamed or not', async (t) => {
  const reasoning = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'sealed' }
  const message = (text: string) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  })
  const about = { id: 'resp_1', object: 'response', model: 'gpt-5.6' }
  const usage = { input_tokens: 5, output_tokens: 9, total_tokens: 14 }
  const events = [
    { type: 'response.created', response: { ...about, output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { id: 'rs_1', type: 'reasoning', summary: [] } },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
    { type: 'response.output_item.added', output_index: 1, item: { ...message(''), content: [] } },
    { type: 'response.output_text.delta', output_index: 1, item_id: 'msg_1', content_index: 0, delta: 'Hello.' },
    { type: 'response.output_item.done', output_index: 1, item: message('Hello.') },
    {
      type: 'response.completed',
      response: { ...about, status: 'completed', output: [reasoning, message('Hello.')], usage },
    },
  ]
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  const between = () => async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const { url } = await serving(t, { between })
  const anthropic = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  const body = { model: 'openai/gpt-5.6', max_tokens: 100, messages }
  for (const { content } of [
    await anthropic.messages.create(body),
    await anthropic.messages.stream(body).finalMessage(),
  ]) {
    assert.deepEqual(content, [{ type: 'text', text: 'Hello.' }])
  }
})

interface Chunk {
  id: string
  choices: { delta: { content?: string } }[]
}

async function asked(url: string, n: number): Promise<{ id: string; text: string; conversationId: string }> {
  const body = {
    model: 'groq/openai/gpt-oss-120b',
    stream: true,
    messages: [{ role: 'user', content: `stream ${n}` }],
    // The provider would refuse it: the request is written from the log, and the answer is translated.
    ...(n % 2 === 1 && { response_format: { type: 'json_object' } }),
  }
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) })
  const all = await response.text()
  assert.equal(response.status, 200, all)
  const lines = all.split('\n').filter((line) => line.startsWith('data: {'))
  const chunks = lines.map((line) => JSON.parse(line.slice(6)) as Chunk)
  return {
    id: chunks[0]?.id ?? '',
    text: chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join(''),
    conversationId: response.headers.get('x-synapse-conversation') ?? '',
  }
}

async function* chatStream(n: string): AsyncGenerator<Uint8Array> {
  const about = { id: `chatcmpl-${n}`, object: 'chat.completion.chunk', created: 1, model: 'gpt-4.1' }
  const line = (fields: object) => Buffer.from(`data: ${JSON.stringify({ ...about, ...fields })}\n\n`)
  for (const i of pieces) {
    yield line({ choices: [{ index: 0, delta: { content: `${n}:${i};` }, finish_reason: null }] })
    await new Promise((resolve) => setImmediate(resolve))
  }
  yield line({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  yield line({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 } })
  yield Buffer.from('data: [DONE]\n\n')
}

test('a server that stops finishes its answers, and breaks off those that take too long', async (t) => {
  for (const [graceMs, model] of [
    [10_000, 'mistral/mistral-large-latest'],
    [10_000, 'openai/gpt-5.6'],
    [20, 'mistral/mistral-large-latest'],
    [20, 'openai/gpt-5.6'],
  ] as const) {
    const { between, held, open } = gate(6)
    const { server, url, store } = await serving(t, { between })
    const client = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
    const stream = await client.responses.create({ model, input: 'Count to 20', stream: true })
    const types: string[] = []
    const reading = (async () => {
      for await (const { type } of stream) types.push(type)
    })()
    await held
    const stopping = server.stop(graceMs)
    if (graceMs > 1000) open()
    await stopping
    await reading.catch(() => {})
    assert.equal(types.includes('response.completed'), graceMs > 1000, types.at(-1))
    const [{ id } = { id: '' }] = (await store.conversations('local')).items
    const [exchange] = (await store.exchanges('local', id)).items
    assert.equal(exchange?.outcome, graceMs > 1000 ? 'done' : 'cancelled')
  }
})
