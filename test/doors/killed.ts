// `synapse serve` killed by SIGKILL while a client waits for an answer and between two requests, and started again on the
// same store. The provider is another process to it, so what it is asked is what is paid for.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import OpenAI from 'openai'
import { createEmulator } from '../../src/testing.ts'
import { bin } from '../installed.ts'
import { compileCache } from '../compile-cache.ts'
import { tempFolder } from '../store/temp.ts'

/** Both ways to an answer: the bytes of the provider pass through, or they are translated. */
export const models = { passed: 'same/gpt-5.6', translated: 'other/claude-opus-5' }

const first = 'My name is Ada.'
const question = 'What is my name?'

interface Provider {
  url: string
  /** How often a model was asked. */
  asked(): number
  /** From now on only the first half of an answer is sent, until `resume`. */
  hold(): void
  resume(): void
}

async function startProvider(t: TestContext): Promise<Provider> {
  const emulator = createEmulator()
  let isHeld = false
  const server = createServer((request, response) => {
    void (async () => {
      const reply = await emulator.fetch(`http://127.0.0.1${request.url}`, {
        method: 'POST',
        headers: request.headers as Record<string, string>,
        body: await text(request),
      })
      const body = await reply.text()
      response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' })
      if (isHeld) response.write(body.slice(0, body.length / 2))
      else response.end(body)
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => emulator.requests.length,
    hold: () => (isHeld = true),
    resume: () => (isHeld = false),
  }
}

interface Server {
  openai: OpenAI
  kill(): Promise<void>
  /** Settled once the process has ended. */
  ended: Promise<unknown>
}

/** `failpoint`: where the process kills itself. */
async function startServer(t: TestContext, folder: string, { url }: Provider, failpoint?: string): Promise<Server> {
  const config = join(folder, 'synapse.yaml')
  const rows = [
    `{ id: same, extends: openai, baseUrl: '${url}/openai/v1' }`,
    `{ id: other, extends: anthropic, baseUrl: '${url}/anthropic/v1' }`,
  ]
  writeFileSync(config, `model: ${models.passed}\nproviders:\n${rows.map((row) => `  - ${row}\n`).join('')}`)
  const child = spawn(
    process.execPath,
    [bin, 'serve', '--port', '0', '--no-open', '--config', config, '--db', join(folder, 'chats.db')],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: compileCache,
        HOME: folder,
        OPENAI_API_KEY: 'key',
        ANTHROPIC_API_KEY: 'key',
        ...(failpoint !== undefined && { SYNAPSE_FAILPOINT: failpoint }),
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  t.after(kill)
  for await (const line of createInterface(child.stdout)) {
    const openai = new OpenAI({ apiKey: 'any', baseURL: `${line.trim()}/v1`, maxRetries: 0 })
    return { openai, kill, ended }
  }
  throw new Error('The server printed no address.')
}

/** The types of the events of a stream, until it ends or is interrupted. */
async function read(
  stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>,
  onText: () => void = () => {},
): Promise<string[]> {
  const seen: string[] = []
  try {
    for await (const { type } of stream) {
      seen.push(type)
      if (type === 'response.output_text.delta') onText()
    }
  } catch {
    seen.push('broken')
  }
  return seen
}

/** Kills the server in the middle of streams, and then between requests. */
export function continuesAfterKill(model: string): void {
  test(`responses and conversations of a server that was killed continue, and half an answer is none, ${model}`, async (t) => {
    const [folder, provider] = [tempFolder(t), await startProvider(t)]
    const before = await startServer(t, folder, provider)
    const stored = await before.openai.responses.create({ model, input: first })
    const { id: conversation } = await before.openai.conversations.create()
    await before.openai.responses.create({ model, conversation, input: first })
    const bodies = [
      { model, previous_response_id: stored.id, input: question, stream: true as const },
      { model, conversation, input: question, stream: true as const },
    ]
    provider.hold()
    const cut = bodies.map(async (body) => {
      const begun = Promise.withResolvers<void>()
      const types = read(await before.openai.responses.create(body), begun.resolve)
      await begun.promise
      return { types }
    })
    const streams = await Promise.all(cut)
    await before.kill()
    for (const { types } of streams) assert.equal((await types).at(-1), 'broken')
    provider.resume()
    const second = await startServer(t, folder, provider)
    for (const body of bodies) {
      const types = await read(await second.openai.responses.create(body))
      assert.equal(types.at(-1), 'response.completed')
    }
    assert.equal(provider.asked(), 6, 'what broke off is asked again')
    await second.kill()
    const { openai } = await startServer(t, folder, provider)
    const next = await openai.responses.create({ model, previous_response_id: stored.id, input: question })
    assert.match(next.output_text, /Ada/)
    assert.match((await openai.responses.create({ model, conversation, input: question })).output_text, /Ada/)
    assert.equal((await openai.responses.retrieve(stored.id)).output_text, stored.output_text)
    const { data } = await openai.conversations.items.list(conversation, { order: 'asc', limit: 100 })
    assert.deepEqual(
      data.flatMap((item) => (item.type === 'message' ? [item.role] : [])),
      ['user', 'assistant', 'user', 'assistant', 'user', 'assistant'],
      'the question that was asked again is there once, without the half of an answer',
    )
  })
}

/** Kills the server between the moment when an answer is stored and the moment when its client has all of it. */
export function givesStoredAnswer(model: string): void {
  test(`an answer that was stored when the server was killed is returned for the retry, and paid for once, ${model}`, async (t) => {
    const [folder, provider] = [tempFolder(t), await startProvider(t)]
    const before = await startServer(t, folder, provider, 'finishExchange:after')
    const body = { model, input: question, stream: true } as const
    const types = await read(await before.openai.responses.create(body))
    await before.ended
    assert.ok(!types.includes('response.completed'))
    assert.equal(provider.asked(), 1)
    const { openai } = await startServer(t, folder, provider)
    assert.equal((await read(await openai.responses.create(body))).at(-1), 'response.completed')
    assert.equal(provider.asked(), 1, 'the retry gets the answer that was paid for')
    assert.equal((await read(await openai.responses.create(body))).at(-1), 'response.completed')
    assert.equal(provider.asked(), 2, 'the same request after that is a new one')
  })
}
