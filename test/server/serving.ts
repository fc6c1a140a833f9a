// A server for a test, on a free port, with the emulator as its provider.

import type { TestContext } from 'node:test'
import type { Tool } from '../../src/core/tool.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { rows } from '../../src/providers/rows.ts'
import { startServer, type RunningServer, type ServerOptions } from '../../src/server/serve.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { createEmulator, type Emulator, type EmulatorOptions } from '../../src/testing.ts'
import type { Store } from '../../src/store/store.ts'

export const clock: Tool = {
  name: 'clock',
  description: 'Tells the current time.',
  input: { type: 'object', properties: {} },
  repeatable: true,
  run: () => ({ time: '12:00', zone: 'UTC' }),
}

export interface Serving {
  server: RunningServer
  url: string
  store: Store
  emulator: Emulator
  api: Api
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  body: JsonObject
}

export type Api = (method: string, path: string, body?: Json, headers?: Record<string, string>) => Promise<Answer>

export interface ServingOptions extends Partial<ServerOptions> {
  emulation?: EmulatorOptions
  /** A SQLite file instead of memory. */
  file?: string
  /** A proxy between the server and the emulator. */
  between?: (fetch: typeof globalThis.fetch) => typeof globalThis.fetch
}

export async function serving(t: TestContext, options: ServingOptions = {}): Promise<Serving> {
  const { emulation, file, between = (fetch) => fetch, ...rest } = options
  const emulator = createEmulator(emulation)
  const store = file === undefined ? (options.store ?? openMemoryStore()) : await openSqliteStore(file)
  const env = options.env ?? {}
  const offline = { ...emulator, fetch: between(emulator.fetch) }
  const server = await startServer({
    endpoint: await endpointFinder({ offline, env, transport: { sleep: async () => {} } }),
    rows,
    env,
    version: '0.0.0-test',
    defaultModel: 'anthropic/claude-opus-5',
    tools: [clock],
    offline: true,
    ...rest,
    store,
  })
  t.after(async () => {
    await server.stop(0)
    if (file !== undefined) await store.close()
  })
  return { server, url: server.url, store, emulator, api: apiAt(server.url) }
}

export function apiAt(url: string, always: Record<string, string> = {}): Api {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...always, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: objectIn(text) }
  }
}

export interface Received {
  id: number
  event: string
  data: JsonObject
  raw: string
}

/** Reads an event stream to its end, or until `enough` says so. */
export async function readEvents(
  url: string,
  init: RequestInit = {},
  enough?: (event: Received) => boolean,
): Promise<Received[]> {
  return eventsIn(await fetch(url, init), enough)
}

/** The same for a stream that is already open. */
export async function eventsIn(
  response: Response,
  enough: (event: Received) => boolean = () => false,
): Promise<Received[]> {
  if (response.status === 204) return []
  if (response.status !== 200 || !response.body) throw new Error(`${response.status} ${await response.text()}`)
  const events: Received[] = []
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true })
    const pieces = rest.split('\n\n')
    rest = pieces.pop() ?? ''
    for (const raw of pieces.filter((piece) => !piece.startsWith(':'))) {
      const event = parseEvent(raw)
      events.push(event)
      if (enough(event)) return events
    }
  }
  return events
}

export function parseEvent(raw: string): Received {
  const fields = new Map(
    raw.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  const data = JSON.parse(fields.get('data') ?? '{}') as JsonObject
  return { id: Number(fields.get('id')), event: fields.get('event') ?? '', data, raw }
}

export async function newConversation(api: Api, body: Json = {}): Promise<string> {
  const made = await api('POST', '/api/conversations', body)
  if (made.status !== 201) throw new Error(made.text)
  return str(made.body['id'])
}

/** Starts a run and waits for its end; gives its id. */
export async function say({ api }: Pick<Serving, 'api'>, id: string, text: string): Promise<string> {
  const started = await api('POST', `/api/conversations/${id}/messages`, { text })
  if (started.status !== 202) throw new Error(started.text)
  const runId = runIn(started)
  await api('GET', `/api/runs/${runId}/events`)
  return runId
}

export function runIn({ body }: Answer): string {
  return str((body['run'] as JsonObject | undefined)?.['id'])
}

/** A text in an answer. */
export function str(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

/** Lets so many chunks of each reply through, and holds the rest until it is opened. */
export function gate(chunks: number): { between: ServingOptions['between'] & {}; open(): void; held: Promise<void> } {
  const opened = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  return {
    open: opened.resolve,
    held: held.promise,
    between: (next) => async (input, init) => {
      const response = await next(input, init)
      let seen = 0
      const slow = new TransformStream<Uint8Array, Uint8Array>({
        async transform(chunk, controller) {
          if (seen++ === chunks) {
            held.resolve()
            await Promise.race([opened.promise, aborted(init?.signal)])
          }
          controller.enqueue(chunk)
        },
      })
      return new Response(response.body?.pipeThrough(slow) ?? null, response)
    },
  }
}

function aborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
}

function objectIn(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return {}
  }
}
