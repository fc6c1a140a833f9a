// Models of the AI SDK under Synapse: the real SDK's test model, and Synapse's own model as one of the SDK.

import assert from 'node:assert/strict'
import test from 'node:test'
import { APICallError, type LanguageModelV4, type LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { aiSdkProvider, synapseModel } from '../../src/ai-sdk.ts'
import { textOf } from '../../src/core/message.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { createEmulator } from '../../src/testing.ts'
import { clock, collect, only, results } from '../run/chatting.ts'

const usage = {
  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: 0 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
}

function finish(unified: 'stop' | 'tool-calls'): LanguageModelV4StreamPart {
  return { type: 'finish', usage, finishReason: { unified, raw: unified } }
}

const asks: LanguageModelV4StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', id: 'r1', modelId: 'mock', timestamp: new Date(0) },
  { type: 'reasoning-start', id: '0' },
  { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
  { type: 'reasoning-end', id: '0', providerMetadata: { mock: { signature: 'sealed' } } },
  { type: 'tool-input-start', id: 'call_0', toolName: 'clock' },
  { type: 'tool-input-delta', id: 'call_0', delta: '{}' },
  { type: 'tool-input-end', id: 'call_0' },
  { type: 'tool-call', toolCallId: 'call_0', toolName: 'clock', input: '{}' },
  finish('tool-calls'),
]
const answers: LanguageModelV4StreamPart[] = [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: 'It is ' },
  { type: 'text-delta', id: '0', delta: 'noon.' },
  { type: 'text-end', id: '0' },
  finish('stop'),
]

function mock(...replies: (LanguageModelV4StreamPart[] | Error)[]): MockLanguageModelV4 {
  let next = 0
  return new MockLanguageModelV4({
    doStream: async () => {
      const reply = replies[Math.min(next++, replies.length - 1)] ?? []
      if (reply instanceof Error) throw reply
      return { stream: simulateReadableStream({ chunks: reply, initialDelayInMs: null, chunkDelayInMs: null }) }
    },
  })
}

async function start(model: LanguageModelV4) {
  const offline = createEmulator()
  const synapse = await openSynapse({
    offline,
    env: {},
    adapters: [aiSdkProvider('mine', model)],
    transport: { sleep: async () => {} },
  })
  return { synapse, chat: await synapse.start({ model: 'mine/mock', tools: [clock] }) }
}

test('a model of the SDK streams, calls tools and answers, and the log has all of it', async () => {
  const model = mock(asks, answers)
  const { chat } = await start(model)
  const events = await collect(chat.send('What time is it?'))
  assert.equal(only(events, 'run-end')[0]?.outcome, 'done')
  const history = (await chat.history()).map(({ message }) => message)
  assert.deepEqual(
    history.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
  const [, first, , last] = history
  assert.deepEqual(
    first?.parts.map(({ type }) => type),
    ['reasoning', 'tool-call'],
  )
  assert.equal(textOf(last?.parts ?? []), 'It is noon.')
  const end = only(events, 'run-end')[0]?.usage
  assert.deepEqual([end?.input, end?.output, end?.cacheRead, end?.reasoning], [20, 10, 8, 4])

  const [, second] = model.doStreamCalls
  assert.deepEqual(second?.prompt.slice(1), [
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: { mock: { signature: 'sealed' } } },
        { type: 'tool-call', toolCallId: 'call_0', toolName: 'clock', input: {} },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'call_0',
          toolName: 'clock',
          output: { type: 'text', value: '{"time":"12:00","zone":"UTC"}' },
        },
      ],
    },
  ])
})

test('the same id in every reply does not mix the results up', async () => {
  const model = mock(asks, asks, answers)
  const { chat } = await start(model)
  await chat.send('What time is it?').ended
  assert.equal((await results(chat)).length, 2)
  const prompt = model.doStreamCalls.at(-1)?.prompt ?? []
  const ids = prompt.flatMap(({ role, content }) =>
    role === 'tool' ? content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])) : [],
  )
  assert.equal(new Set(ids).size, 2)
})

test('a conversation moves from a model of the SDK to a provider row and back', async () => {
  const model = mock(asks, answers, answers)
  const { chat } = await start(model)
  await chat.send('What time is it?').ended
  assert.match(await chat.send('What did I say first?', { model: 'anthropic/claude-opus-5' }).text(), /What time is it/)
  assert.equal(await chat.send('And now?').text(), 'It is noon.')
  const roles = model.doStreamCalls.at(-1)?.prompt.map(({ role }) => role)
  assert.deepEqual(roles, ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user'])
})

test('errors of the SDK are classified by the response of the underlying server, and retried if that helps', async () => {
  const about = { url: 'https://example.com', requestBodyValues: {}, message: 'no' }
  const limited = new APICallError({ ...about, statusCode: 429, responseHeaders: { 'retry-after': '3' } })
  const first = await start(mock(limited, answers))
  const events = await collect(first.chat.send('Hello'))
  assert.deepEqual(
    only(events, 'retry').map(({ failure, waitMs }) => [failure.kind, waitMs]),
    [['rate-limit', 3000]],
  )
  const second = await start(mock(new APICallError({ ...about, statusCode: 401 })))
  assert.equal((await second.chat.send('Hello').ended).failure?.kind, 'auth')
})

test('an error inside the stream keeps the partial reply', async () => {
  const { chat } = await start(mock([...answers.slice(0, 2), { type: 'error', error: new Error('lost') }]))
  const { outcome, failure } = await chat.send('Hello').ended
  assert.equal(outcome, 'failed')
  assert.match(failure?.message ?? '', /lost/)
  const last = (await chat.history()).at(-1)?.message
  assert.equal(textOf(last?.parts ?? []), 'It is ')
})

test('a model of the SDK is aborted with the run', async () => {
  let told = false
  const model = new MockLanguageModelV4({
    doStream: async ({ abortSignal }) => {
      abortSignal?.addEventListener('abort', () => (told = true))
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of answers.slice(0, 2)) controller.enqueue(part)
        },
      })
      return { stream }
    },
  })
  const { chat } = await start(model)
  const run = chat.send('Hello')
  for await (const event of run) if (event.type === 'reply-event' && event.event.type === 'part-delta') run.abort()
  assert.equal((await run.ended).outcome, 'cancelled')
  assert.ok(told)
})

test('Synapse over the SDK over Synapse says the same as Synapse alone', async () => {
  const emulator = createEmulator()
  const inner = synapseModel('anthropic/claude-opus-5', { offline: emulator, env: {} })
  const { chat } = await start(inner)
  assert.match(await chat.send('What time is it?').text(), /clock answered: .*12:00/)
  assert.match(await chat.send('What did I say first?').text(), /"What time is it\?"/)
  assert.ok(emulator.requests.every(({ status }) => status === 200))
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /"id":"toolu_/)
})

test('a model of another specification is refused in one sentence', async () => {
  const old = Object.assign(mock(answers), { specificationVersion: 'v2' }) as object as LanguageModelV4
  const { chat } = await start(old)
  assert.match((await chat.send('Hello').ended).failure?.message ?? '', /v4 is needed/)
})
