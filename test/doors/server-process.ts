// `synapse serve` as a separate process, and the provider that it asks: another process to it, so what it is asked is
// what is paid for.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import OpenAI from 'openai'
import { createEmulator, type EmulatorOptions } from '../../src/testing.ts'
import { compileCache } from '../compile-cache.ts'
import { bin } from '../installed.ts'

/** Both ways to an answer: the bytes of the provider pass through, or they are translated. */
export const models = { passed: 'same/gpt-5.6', translated: 'other/claude-opus-5' }

export interface Provider {
  url: string
  /** How often a model was asked. */
  asked(): number
  /** From now on only the first half of an answer is sent; the rest follows after `resume`. */
  hold(): void
  resume(): void
}

export async function startProvider(t: TestContext, options: EmulatorOptions = {}): Promise<Provider> {
  const emulator = createEmulator(options)
  let isHeld = false
  let held: (() => void)[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const reply = await emulator.fetch(`http://127.0.0.1${request.url}`, {
        method: 'POST',
        headers: request.headers as Record<string, string>,
        body: await text(request),
      })
      const body = await reply.text()
      response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' })
      const half = isHeld ? body.length / 2 : 0
      if (half > 0) response.write(body.slice(0, half))
      if (isHeld) held.push(() => response.end(body.slice(half)))
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
    resume() {
      isHeld = false
      for (const send of held) send()
      held = []
    },
  }
}

export interface ServerProcess {
  openai: OpenAI
  kill(): Promise<void>
  /** Asks it to end. */
  stop(): void
  /** Settled once the process has ended. */
  ended: Promise<unknown>
}

/** `command`: the program. `db`: a file or an address. `failpoint`: where the process kills itself. */
export async function startServer(
  t: TestContext,
  folder: string,
  { url }: Provider,
  {
    command = bin,
    db = join(folder, 'chats.db'),
    failpoint,
  }: { command?: string; db?: string; failpoint?: string } = {},
): Promise<ServerProcess> {
  const config = join(folder, 'synapse.yaml')
  const rows = [
    `{ id: same, extends: openai, baseUrl: '${url}/openai/v1' }`,
    `{ id: other, extends: anthropic, baseUrl: '${url}/anthropic/v1' }`,
  ]
  writeFileSync(config, `model: ${models.passed}\nproviders:\n${rows.map((row) => `  - ${row}\n`).join('')}`)
  const child = spawn(
    process.execPath,
    [command, 'serve', '--port', '0', '--no-open', '--config', config, '--db', db],
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
    return { openai, kill, stop: () => void child.kill('SIGTERM'), ended }
  }
  throw new Error('The server printed no address.')
}
