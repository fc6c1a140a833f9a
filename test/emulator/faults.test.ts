import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { createEmulator, type Emulator, type Fault } from '../../src/testing.ts'
import { drained, served } from './emulating.ts'

const wires: Record<string, { path: string; body: object }> = {
  'openai-chat': {
    path: '/openai/v1/chat/completions',
    body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] },
  },
  'openai-responses': { path: '/openai/v1/responses', body: { model: 'gpt-5.6', input: 'Hello' } },
  'anthropic-messages': {
    path: '/anthropic/v1/messages',
    body: { model: 'claude-opus-5', max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }] },
  },
  'gemini-generate': {
    path: '/google/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
  },
  'gemini-interactions': { path: '/google/v1beta/interactions', body: { model: 'gemini-3.8-flash', input: 'Hello' } },
  'mistral-chat': {
    path: '/mistral/v1/chat/completions',
    body: { model: 'mistral-medium-latest', messages: [{ role: 'user', content: 'Hello' }] },
  },
  'ollama-chat': { path: '/ollama/api/chat', body: { model: 'qwen3', messages: [{ role: 'user', content: 'Hello' }] } },
}

function post(
  emulator: Pick<Emulator, 'fetch'>,
  wire: string,
  fault?: Fault,
  rest: object = { stream: true },
  signal?: AbortSignal,
) {
  const { path, body } = wires[wire] ?? { path: '', body: {} }
  const streamed = wire === 'gemini-generate' ? body : { ...body, ...rest }
  return emulator.fetch(`http://emulator.invalid${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer any', ...(fault && { 'x-synapse-fault': JSON.stringify(fault) }) },
    body: JSON.stringify(streamed),
    ...(signal && { signal }),
  })
}

const eventsIn = (text: string) => text.split('\n').filter((line) => line.startsWith('data: ') || line.startsWith('{'))

for (const wire of Object.keys(wires)) {
  describe(`faults on ${wire}`, () => {
    const emulator = createEmulator()

    test('a status with its headers, with the error body of the provider', async () => {
      const reply = await post(emulator, wire, { status: 429, headers: { 'retry-after': '7' } })
      assert.equal(reply.status, 429)
      assert.equal(reply.headers.get('retry-after'), '7')
      assert.match(await reply.text(), /rate limit|exhausted|too many|exceed/i)
    })

    test('a status with a custom body', async () => {
      const reply = await post(emulator, wire, { status: 418, body: { teapot: true } })
      assert.deepEqual([reply.status, await reply.json()], [418, { teapot: true }])
    })

    test('a stream that is cut, doubled, spoiled or fails in the middle', async () => {
      const whole = await (await post(emulator, wire)).text()
      const all = eventsIn(whole)
      assert.ok(all.length > 10)
      assert.equal(eventsIn(await (await post(emulator, wire, { cutAt: 3 })).text()).length, 3)

      const done = all.filter((line) => line === 'data: [DONE]').length
      const doubled = eventsIn(await (await post(emulator, wire, { duplicate: true })).text())
      assert.equal(doubled.length, (all.length - done) * 2 + done)

      const spoiled = new Uint8Array(await (await post(emulator, wire, { garbageAt: 2 })).arrayBuffer())
      assert.ok(spoiled.includes(0xff))

      const failed = eventsIn(await (await post(emulator, wire, { errorAt: 4 })).text())
      assert.equal(failed.length, 5)
      assert.match(failed[4] ?? '', /error/)
      const own = eventsIn(await (await post(emulator, wire, { errorAt: 0, body: { mine: 1 } })).text())
      assert.match(own[0] ?? '', /\{"mine":1\}/)
    })

    test('a connection that breaks before the answer, or in the middle of it', async () => {
      await assert.rejects(post(emulator, wire, { resetAt: 0 }), TypeError)
      const reply = await post(emulator, wire, { resetAt: 2 })
      await assert.rejects(reply.text(), TypeError)
    })

    test('only keep-alives, until the reader gives up', async () => {
      const stop = new AbortController()
      const reply = await post(emulator, wire, { keepAliveAt: 1, keepAliveMs: 1 }, { stream: true }, stop.signal)
      let signs = 0
      const read = async () => {
        for await (const chunk of reply.body ?? []) {
          const text = new TextDecoder().decode(chunk)
          if (text.trim() === '' || text.startsWith(':')) signs++
          if (signs > 5) stop.abort()
        }
      }
      await assert.rejects(read(), { name: 'AbortError' })
      assert.ok(signs > 5)
    })
  })
}

describe('ordering', () => {
  test('beforehand, for as many requests as are named', async () => {
    const emulator = createEmulator()
    emulator.order({ status: 500 }, 2)
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) statuses.push((await post(emulator, 'openai-chat')).status)
    assert.deepEqual(statuses, [500, 500, 200])
  })

  test('an unreadable fault is refused with the reason', async () => {
    const emulator = createEmulator()
    const said = async (header: string) => {
      const reply = await emulator.fetch('http://emulator.invalid/openai/v1/models', {
        headers: { 'x-synapse-fault': header },
      })
      return `${reply.status} ${await reply.text()}`
    }
    assert.match(await said('{'), /^400 .*must be JSON/)
    assert.match(await said('[]'), /^400 .*JSON object/)
    assert.match(await said('{"statuss":1}'), /^400 .*no field .*statuss/)
    assert.match(await said('{"status":"429"}'), /^400 .*status must be a number/)
  })

  test('a delay is awaited, and can be aborted', async () => {
    const waited: number[] = []
    const emulator = createEmulator({ sleep: async (ms) => void waited.push(ms) })
    assert.equal((await post(emulator, 'openai-chat', { delayMs: 5000 })).status, 200)
    assert.deepEqual(waited, [5000])
    const stop = AbortSignal.abort()
    await assert.rejects(post(createEmulator(), 'openai-chat', { delayMs: 60_000 }, {}, stop), { name: 'AbortError' })
  })

  test('the state that a request names can be deleted', async () => {
    const emulator = createEmulator()
    const first = (await (await post(emulator, 'openai-responses', undefined, {})).json()) as { id: string }
    const next = { previous_response_id: first.id }
    const lost = await post(emulator, 'openai-responses', { expireState: true }, next)
    assert.equal(lost.status, 400)
    assert.match(await lost.text(), /previous_response_not_found/)
    assert.equal((await post(emulator, 'openai-responses', undefined, next)).status, 400)
  })

  test('an answer in one piece can be cut or spoiled too', async () => {
    const emulator = createEmulator()
    await assert.rejects((await post(emulator, 'openai-chat', { cutAt: 1 }, {})).json(), SyntaxError)
    await assert.rejects((await post(emulator, 'openai-chat', { garbageAt: 0 }, {})).json(), SyntaxError)
  })
})

describe('how the official clients handle them', () => {
  test('they try again as the headers say, and succeed', async (t) => {
    const emulator = await served(t)
    const openai = new OpenAI({ apiKey: 'any', baseURL: `${emulator.url}/openai/v1`, maxRetries: 2 })
    emulator.order({ status: 429, headers: { 'retry-after-ms': '1' } })
    emulator.order({ status: 503, headers: { 'retry-after-ms': '1' } })
    const reply = await openai.chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
    assert.ok(reply.choices[0])
    assert.deepEqual(
      emulator.requests.map(({ status }) => status),
      [429, 503, 200],
    )
  })

  test('an error inside a stream is thrown with the provider’s type', async (t) => {
    const emulator = await served(t)
    const anthropic = new Anthropic({ apiKey: 'any', baseURL: `${emulator.url}/anthropic`, maxRetries: 0 })
    emulator.order({ errorAt: 5 })
    const stream = anthropic.messages.stream({
      model: 'claude-opus-5',
      max_tokens: 500,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    await assert.rejects(stream.finalMessage(), /overloaded_error/)
  })

  test('a closed socket is a connection error', async (t) => {
    const emulator = await served(t)
    const openai = new OpenAI({ apiKey: 'any', baseURL: `${emulator.url}/openai/v1`, maxRetries: 0 })
    emulator.order({ resetAt: 0 })
    const ask = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] }
    await assert.rejects(openai.chat.completions.create(ask), OpenAI.APIConnectionError)
    emulator.order({ resetAt: 3 })
    const stream = await openai.chat.completions.create({ ...ask, stream: true })
    await assert.rejects(drained(stream))
  })
})
