// The relays that are compared: each a separate process in front of the same upstream, asked for one stream or for many at a time.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { newConversation } from './ask.ts'

export interface Asked {
  url: string
  headers: Record<string, string>
  body: string
}

export interface Contender {
  name: string
  /** What is to be asked for so many streams; made ready before the clock starts. */
  asks(streams: number, events: number, pauseMs: number): Promise<Asked[]>
  /** Bytes that it holds in memory now. */
  resident(): number
  /** Milliseconds of processor time that it has used. */
  processorMs(): number
  stop(): void
}

/** One that is asked as clients of OpenAI's API ask. */
export interface ChatServer extends Contender {
  /** A request with these messages, which is answered with a stream of one event. */
  chat(messages: readonly object[]): Asked
}

const folder = join(import.meta.dirname, '..')

export async function startUpstream(): Promise<{ origin: string; stop(): void }> {
  const child = started([join(folder, 'relay', 'upstream.ts')])
  return { origin: `http://127.0.0.1:${await firstLine(child)}`, stop: () => child.kill('SIGKILL') }
}

export async function bareRelay(upstream: string): Promise<ChatServer> {
  const child = started([join(folder, 'relay', 'bare.ts'), upstream])
  const origin = `http://127.0.0.1:${await firstLine(child)}`
  return {
    name: 'bare `node:http`',
    ...measures(child),
    asks: chatAsks((path) => origin + path, {}),
    chat: (messages) => ({ url: `${origin}/1/0/chat/completions`, headers: {}, body: chatBody('m', messages) }),
  }
}

export async function portkey(upstream: string): Promise<ChatServer> {
  const port = await freePort()
  const script = join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js')
  const child = started([script, `--port=${port}`, '--headless'], { TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' })
  await firstLine(child)
  const { version } = JSON.parse(readFileSync(join(script, '..', '..', 'package.json'), 'utf8')) as { version: string }
  const url = `http://127.0.0.1:${port}/v1/chat/completions`
  const headersFor = (events: number, pauseMs: number) => ({
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstream}/${events}/${pauseMs}`,
    authorization: 'Bearer none',
  })
  return {
    name: `@portkey-ai/gateway ${version}`,
    ...measures(child),
    asks: (streams, events, pauseMs) => chatAsks(() => url, headersFor(events, pauseMs))(streams, events, pauseMs),
    chat: (messages) => ({ url, headers: headersFor(1, 0), body: chatBody('m', messages) }),
  }
}

/** Each stream is a turn of its own conversation, which already exists, as it would in use. */
export async function synapse(upstream: string, home: string): Promise<Contender> {
  const { child, origin } = await serving(upstream, home)
  return {
    name: 'synapse serve',
    ...measures(child),
    async asks(streams, events, pauseMs) {
      const asks = Array.from({ length: streams }, async () => {
        const id = await newConversation(origin, { settings: { model: `up-${events}-${pauseMs}/m`, tools: [] } })
        return {
          url: `${origin}/api/conversations/${id}/messages`,
          headers: { accept: 'text/event-stream' },
          body: JSON.stringify({ text: 'Tell me much.' }),
        }
      })
      return Promise.all(asks)
    },
  }
}

/**
 * Clients of OpenAI's APIs in front of a provider of chat completions: those of the same API, whose bytes pass through,
 * or of the Responses API, for whom each event is read, and written in that form.
 */
export async function synapseDoor(upstream: string, home: string, isSame: boolean): Promise<ChatServer> {
  const { child, origin } = await serving(upstream, home)
  const url = `${origin}/v1/${isSame ? 'chat/completions' : 'responses'}`
  const bodyOf = isSame
    ? chatBody
    : (model: string, input: readonly object[]) => JSON.stringify({ model, stream: true, input })
  return {
    name: `synapse serve, ${isSame ? 'passed through' : 'translated'}`,
    ...measures(child),
    chat: (messages) => ({ url, headers: {}, body: bodyOf('up-1-0/m', messages) }),
    async asks(streams, events, pauseMs) {
      const body = bodyOf(`up-${events}-${pauseMs}/m`, question)
      return Array.from({ length: streams }, () => ({ url, headers: {}, body }))
    },
  }
}

/** `synapse serve` as users run it, with the upstream as a provider for each kind of stream. */
async function serving(upstream: string, home: string): Promise<{ child: ChildProcess; origin: string }> {
  const kinds = [
    [1, 0],
    [200, 0],
    [200, 100],
  ] as const
  const config = join(home, 'synapse.yaml')
  const rows = kinds.map(
    ([events, pause]) => `  - { id: up-${events}-${pause}, baseUrl: '${upstream}/${events}/${pause}' }`,
  )
  writeFileSync(config, `model: up-200-0/m\nproviders:\n${rows.join('\n')}\n`)
  const script = join(folder, 'relay', 'serve.ts')
  const args = ['serve', '--port', '0', '--no-open', '--config', config, '--db', join(home, 'chats.db')]
  const child = started([script, ...args], { HOME: home })
  return { child, origin: await firstLine(child) }
}

function chatAsks(urlOf: (path: string) => string, headers: Record<string, string>): Contender['asks'] {
  const body = chatBody('m', question)
  return async (streams, events, pauseMs) =>
    Array.from({ length: streams }, () => ({ url: urlOf(`/${events}/${pauseMs}/chat/completions`), headers, body }))
}

const question = [{ role: 'user', content: 'Tell me much.' }]

export function chatBody(model: string, messages: readonly object[]): string {
  return JSON.stringify({ model, stream: true, messages })
}

/** Ticks of the kernel's clock in a second. */
const ticks = 100

function measures(child: ChildProcess): Pick<Contender, 'resident' | 'processorMs' | 'stop'> {
  return {
    resident() {
      const [, kilobytes = 'NaN'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
      return Number(kilobytes) * 1024
    },
    processorMs() {
      // The name of the program, in brackets, may hold anything.
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticks
    },
    stop: () => child.kill('SIGKILL'),
  }
}

function started(args: string[], env: Record<string, string> = {}): ChildProcess {
  const { PATH = '' } = process.env
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH, ...env } })
}

/** The first line that a process prints. */
async function firstLine(child: ChildProcess): Promise<string> {
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer]
  child.stdout?.resume()
  return line.toString().trim().split('\n', 1)[0] ?? ''
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
