import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { serveEmulator } from '../../src/testing.ts'
import { served } from './emulating.ts'

const headers = { authorization: 'Bearer secret-key', 'content-type': 'application/json' }
const ask = (content: string, rest: object = {}) =>
  JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }], ...rest })

describe('over HTTP', () => {
  test('it is bound to the loopback interface, on a port that was free', async (t) => {
    const [a, b] = [await served(t), await served(t)]
    assert.match(a.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.notEqual(a.url, b.url)
  })

  test('a given port is used, and one in use is one clear sentence', async (t) => {
    const first = await served(t)
    await assert.rejects(
      serveEmulator({ port: Number(new URL(first.url).port) }),
      /cannot listen on port \d+ \(EADDRINUSE\)\. Choose another port\./,
    )
  })

  test('a client that offers HTTP/2 is answered in HTTP/1.1', async (t) => {
    const { url } = await served(t)
    const offer = { ...headers, connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' }
    const asked = request(`${url}/openai/v1/chat/completions`, { method: 'POST', headers: offer }).end(ask('Hi'))
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    assert.equal(answer.statusCode, 200)
    answer.resume()
  })

  test('a reader that disconnects in the middle leaves it working', async (t) => {
    const { url } = await served(t)
    for (let i = 0; i < 5; i++) {
      const stop = new AbortController()
      const reply = await fetch(`${url}/openai/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: ask('Count to 9000', { stream: true }),
        signal: stop.signal,
      })
      const reader = reply.body?.getReader()
      await reader?.read()
      stop.abort()
    }
    assert.equal((await fetch(`${url}/openai/v1/models`, { headers })).status, 200)
  })

  test('a reader that does not read is not written to without end', async (t) => {
    const emulator = await served(t, {
      reply: () => ({ parts: [{ type: 'text', text: 'x'.repeat(30_000_000) }] }),
      piece: 10_000,
    })
    const { port } = new URL(emulator.url)
    const socket = connect(Number(port), '127.0.0.1')
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    const body = ask('Hi', { stream: true })
    socket.write(
      `POST /openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    socket.pause()
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    for (let i = 0; i < 20_000; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
    assert.ok(most < 15_000_000, `${most} bytes were piled up`)
  })

  test('closing it ends what is still open', async () => {
    const emulator = await serveEmulator()
    const fault = JSON.stringify({ keepAliveAt: 1, keepAliveMs: 5 })
    const reply = await fetch(`${emulator.url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'x-synapse-fault': fault },
      body: ask('Hi', { stream: true }),
    })
    await emulator.close()
    await assert.rejects(reply.text())
  })

  test('other HTTP requests get a plain answer', async (t) => {
    const { url } = await served(t)
    const about = (await (await fetch(url)).json()) as { note: string; providers: string[] }
    assert.match(about.note, /not a model/)
    assert.ok(about.providers.includes('anthropic'))
    assert.equal((await fetch(`${url}/nowhere`)).status, 404)
    assert.equal((await fetch(`${url}/anthropic/v1/responses`, { method: 'POST', headers, body: '{}' })).status, 404)
    const broken = await fetch(`${url}/openai/v1/chat/completions`, { method: 'POST', headers, body: '{"model":' })
    assert.equal(broken.status, 400)
    assert.match(await broken.text(), /could not parse the JSON body/)
  })
})

describe('where requests go', () => {
  const table: [path: string, provider: string, protocol: string][] = [
    ['/v1/chat/completions', 'openai', 'openai-chat'],
    ['/openai/v1/chat/completions', 'openai', 'openai-chat'],
    ['/deepseek/chat/completions', 'deepseek', 'openai-chat'],
    ['/mistral/v1/chat/completions', 'mistral', 'mistral-chat'],
    ['/openrouter/api/v1/chat/completions', 'openrouter', 'openai-chat'],
    ['/azure-openai/openai/deployments/x/chat/completions?api-version=1', 'azure-openai', 'openai-chat'],
    ['/ollama/v1/chat/completions', 'ollama', 'openai-chat'],
    ['/llama.cpp/v1/chat/completions', 'llama.cpp', 'openai-chat'],
    ['/v1/responses', 'openai', 'openai-responses'],
    ['/xai/v1/responses', 'xai', 'openai-responses'],
    ['/v1/messages', 'anthropic', 'anthropic-messages'],
    ['/anthropic/v1/messages', 'anthropic', 'anthropic-messages'],
    ['/v1beta/models/gemini-3.8-flash:generateContent', 'google', 'gemini-generate'],
    ['/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse', 'google', 'gemini-generate'],
    ['/google/v1beta/models/gemini-3.8-flash:generateContent', 'google', 'gemini-generate'],
    ['/v1beta/interactions', 'google', 'gemini-interactions'],
    ['/api/chat', 'ollama', 'ollama-chat'],
    ['/ollama/api/chat', 'ollama', 'ollama-chat'],
  ]
  test('every provider under its name, and the wires that have a home under their bare path', async (t) => {
    const emulator = await served(t)
    for (const [path, provider, protocol] of table) {
      await fetch(emulator.url + path, { method: 'POST', headers, body: '{}' })
      const last = emulator.requests.at(-1)
      assert.deepEqual([last?.provider, last?.protocol], [provider, protocol], path)
    }
  })

  test('a list of models is that of the client, which its headers show', async (t) => {
    const emulator = await served(t)
    for (const [header, field] of [
      ['authorization', 'data'],
      ['anthropic-version', 'has_more'],
      ['x-goog-api-key', 'models'],
    ] as const) {
      const response = await fetch(`${emulator.url}/v1/models`, { headers: { ...headers, [header]: 'Bearer any' } })
      assert.ok(field in Object(await response.json()), header)
    }
  })

  test('without a socket, the host says whose it is', async (t) => {
    const emulator = await served(t)
    for (const [url, provider] of [
      ['https://api.anthropic.com/v1/messages', 'anthropic'],
      ['https://api.deepseek.com/chat/completions', 'deepseek'],
      ['https://api.mistral.ai/v1/chat/completions', 'mistral'],
      ['https://api.groq.com/openai/v1/chat/completions', 'groq'],
      ['http://localhost:11434/api/chat', 'ollama'],
      ['https://my.own.host/v1/chat/completions', 'openai-compatible'],
    ] as const) {
      await emulator.fetch(url, { method: 'POST', headers, body: '{}' })
      assert.equal(emulator.requests.at(-1)?.provider, provider, url)
    }
  })
})

describe('what is recorded of a request', () => {
  test('the request and the status, and no key', async (t) => {
    const emulator = await served(t, { keep: 2 })
    for (const text of ['one', 'two', 'three']) {
      await fetch(`${emulator.url}/v1/chat/completions?key=secret-key`, { method: 'POST', headers, body: ask(text) })
    }
    assert.equal(emulator.requests.length, 2)
    const [, last] = emulator.requests
    assert.equal(last?.status, 200)
    assert.equal(last.path, '/v1/chat/completions')
    assert.match(JSON.stringify(last.body), /three/)
    assert.doesNotMatch(JSON.stringify(emulator.requests), /secret-key/)
  })

  test('a reset forgets requests, state and caches', async (t) => {
    const emulator = await served(t)
    const send = async (body: object) =>
      (await (
        await fetch(`${emulator.url}/v1/responses`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ model: 'gpt-5.6', input: 'x'.repeat(8000), ...body }),
        })
      ).json()) as {
        id: string
        error?: unknown
        usage: { input_tokens_details: { cached_tokens: number } }
      }
    const first = await send({})
    assert.ok((await send({})).usage.input_tokens_details.cached_tokens > 0)
    emulator.reset()
    assert.equal(emulator.requests.length, 0)
    assert.ok((await send({ previous_response_id: first.id })).error)
    assert.equal((await send({})).usage.input_tokens_details.cached_tokens, 0)
  })
})

describe('options', () => {
  test('a scripted reply replaces the responder, and may leave some requests to it', async (t) => {
    const emulator = await served(t, {
      reply: ({ messages, provider }) =>
        messages.length > 1
          ? undefined
          : { parts: [{ type: 'text', text: `scripted for ${provider}` }], stop: { reason: 'length' } },
    })
    const send = async (messages: object[]) => {
      const reply = await fetch(`${emulator.url}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ model: 'gpt-4o', messages }),
      })
      return JSON.stringify(await reply.json())
    }
    const first = await send([{ role: 'user', content: 'Hi' }])
    assert.match(first, /scripted for openai/)
    assert.match(first, /"finish_reason":"length"/)
    const more = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'x' },
      { role: 'user', content: 'Again' },
    ]
    assert.match(await send(more), /not a model/)
  })

  test('no key is required if that is switched off', async (t) => {
    const emulator = await served(t, { requireKey: false })
    assert.equal((await fetch(`${emulator.url}/v1/chat/completions`, { method: 'POST', body: ask('Hi') })).status, 200)
  })

  test('the same request twice has two ids, and another emulator issues the same two', async (t) => {
    const ids = async () => {
      const emulator = await served(t)
      const send = async () =>
        (
          (await (
            await fetch(`${emulator.url}/v1/chat/completions`, { method: 'POST', headers, body: ask('Hi') })
          ).json()) as { id: string }
        ).id
      return [await send(), await send()]
    }
    const [one, two] = [await ids(), await ids()]
    assert.deepEqual(one, two)
    assert.notEqual(one[0], one[1])
  })
})
