// The page on its own server, with the emulator as its provider: replies can be scripted, streams held and released.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { buildWeb } from '../../scripts/build-web.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import type { Part } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { rows } from '../../src/providers/rows.ts'
import { createKey } from '../../src/server/keys.ts'
import { startServer, type RunningServer } from '../../src/server/serve.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { createEmulator, type Emulator, type ResponderInput } from '../../src/testing.ts'

export interface Site {
  url: string
  /** Good for the site, where it asks for one. */
  key: string
  store: Store
  /** Where coding agents keep their sessions. */
  home: string
  emulator: Emulator
  /** The next replies of the model, instead of those of the emulator; each once, in order. */
  replies: (Part[] | ((situation: ResponderInput) => Part[] | undefined))[]
  /** The progress values of the tool `walk`, each as it is written; the last one is its result. For one call. */
  steps: WritableStreamDefaultWriter<Json>
  /** Sends this many chunks of every stream, and holds the rest until `release`. */
  hold(chunks: number): void
  release(): void
  /** Stops the server, which parks active runs, and starts another one at the same address. */
  restart(): Promise<void>
  close(): Promise<void>
}

const clock: Tool = {
  name: 'clock',
  description: 'Tells the current time.',
  input: { type: 'object', properties: { zone: { type: 'string', description: 'IANA time zone' } } },
  repeatable: true,
  run: (input) => ({ time: '12:00', zone: isObject(input) ? (input['zone'] ?? 'UTC') : 'UTC' }),
}

const add: Tool = {
  name: 'add',
  description: 'Adds two numbers.',
  input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  repeatable: true,
  run: (input) => (isObject(input) ? Number(input['a']) + Number(input['b']) : 0),
}

const send: Tool = {
  name: 'send_mail',
  description: 'Sends a mail.',
  input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  ask: true,
  run: (input) => `sent to ${isObject(input) ? JSON.stringify(input['to']) : 'no one'}`,
}

export async function openSite(options: { requireKeys?: boolean; name?: string } = {}): Promise<Site> {
  const { directory } = await buildWeb()
  const replies: Site['replies'] = []
  const emulator = createEmulator({
    reply(situation) {
      const next = replies.shift()
      const parts = typeof next === 'function' ? next(situation) : next
      return parts && { parts }
    },
  })
  const gate = gateOf()
  const steps = new TransformStream<Json, Json>()
  const walk: Tool = {
    name: 'walk',
    description: 'Goes step by step.',
    input: { type: 'object' },
    run: () => steps.readable,
  }
  const store = openMemoryStore()
  const home = mkdtempSync(join(tmpdir(), 'synapse-home-'))
  const { key } = await createKey(store, { owner: 'local' })
  const serve = async (port = 0): Promise<RunningServer> =>
    startServer({
      port,
      store,
      endpoint: await endpointFinder({
        offline: {
          ...emulator,
          fetch: async (input, init) => gate.through(await emulator.fetch(input, init), init?.signal),
        },
        env: {},
        transport: { sleep: async () => {} },
      }),
      rows,
      env: {},
      version: '0.0.0-test',
      defaultModel: 'anthropic/claude-opus-5',
      tools: [clock, add, send, walk],
      offline: true,
      whyOffline: 'Offline: the built-in emulator answers, not a model.',
      page: directory,
      sessions: { environment: { home, env: {} }, carry: ['synapse', 'carry'] },
      requireKeys: options.requireKeys === true,
      names: options.name === undefined ? [] : [options.name],
    })
  let server = await serve()
  return {
    url: options.name === undefined ? server.url : server.url.replace('127.0.0.1', options.name),
    key,
    store,
    home,
    emulator,
    replies,
    steps: steps.writable.getWriter(),
    hold: (chunks) => gate.hold(chunks),
    release: () => gate.release(),
    async restart() {
      await server.stop(0)
      server = await serve(Number(new URL(server.url).port))
    },
    async close() {
      gate.release()
      await server.stop(0)
      await store.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

interface Gate {
  through(answer: globalThis.Response, signal: AbortSignal | null | undefined): globalThis.Response
  hold(chunks: number): void
  release(): void
}

function gateOf(): Gate {
  let left = Number.POSITIVE_INFINITY
  let open = Promise.resolve()
  let release = () => {}
  return {
    hold(chunks) {
      left = chunks
      open = new Promise((resolve) => (release = resolve))
    },
    release() {
      left = Number.POSITIVE_INFINITY
      release()
    },
    through(answer, signal) {
      const given = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
      const body = answer.body?.pipeThrough(
        new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>(
          {
            async transform(chunk, controller) {
              if (left-- <= 0) await Promise.race([open, given])
              controller.enqueue(chunk)
            },
          },
          { highWaterMark: 1 },
          { highWaterMark: 0 },
        ),
      )
      const { status, headers } = answer
      return new globalThis.Response(body ?? null, { status, headers })
    },
  }
}

export interface PageSession {
  page: Page
  context: BrowserContext
  /** Everything that the page asked for at another place than the site. */
  foreignRequests: string[]
  /** Errors of scripts and of the content security policy. */
  errors: string[]
}

export async function openPage(
  browser: Browser,
  site: Pick<Site, 'url'>,
  options: { path?: string } = {},
): Promise<PageSession> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const session = watched(page, context, site)
  await page.goto(site.url + (options.path ?? '/'))
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  return session
}

export function watched(page: Page, context: BrowserContext, site: Pick<Site, 'url'>): PageSession {
  const foreignRequests: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(site.url) && !url.startsWith('data:') && !url.startsWith('blob:')) foreignRequests.push(url)
  })
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) errors.push(message.text())
  })
  return { page, context, foreignRequests, errors }
}

export async function say(page: Page, words: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(words)
  await page.getByRole('textbox', { name: 'Message' }).press('Enter')
}

/** Until nothing is being answered. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('feed').and(page.locator('[aria-busy=false]')).waitFor()
}
