// The server without a socket: who may come in, and where to. Everything is refused unless it is public by name or the
// asker is known; only then a route is looked for, so that no way of writing a path leads around the check.

import { Hono, type Context } from 'hono'
import { asFailure } from '../core/error.ts'
import type { Store } from '../store/store.ts'
import { answerFor, json, Refusal } from './answer.ts'
import { forRequest, type ServerContext } from './context.ts'
import { doorOf } from './doors/door.ts'
import { respondAtDoor } from './doors/respond.ts'
import { traceOf } from './log.ts'
import { openApiOf } from './openapi.ts'
import { principalOf, type Principal } from './principal.ts'
import { networkOf, rateLimit } from './rate-limit.ts'
import { notHere, type Route } from './route.ts'
import { aboutRoutes } from './routes/about.ts'
import { blobRoutes } from './routes/blobs.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { historyRoutes } from './routes/history.ts'
import { importRoutes } from './routes/import.ts'
import { runRoutes } from './routes/runs.ts'
import { sentRoutes } from './routes/sent.ts'
import { watchRoutes } from './routes/watch.ts'
import { checkHost, checkOrigin } from './same-origin.ts'
import { pageHeaders, type Page } from './static.ts'

export const routes: readonly Route[] = [
  ...aboutRoutes,
  ...conversationRoutes,
  ...importRoutes,
  ...historyRoutes,
  ...runRoutes,
  ...sentRoutes,
  ...watchRoutes,
  ...blobRoutes,
]

export interface AppOptions {
  server: ServerContext
  page: Page
  /** Names that the server answers to, beside addresses and localhost. */
  names: readonly string[]
}

export interface App {
  /** `address` is where the request came from. */
  fetch(request: globalThis.Request, address: string): Promise<globalThis.Response>
}

interface AppVariables {
  Variables: { principal: Principal; server: ServerContext }
  Bindings: { address: string }
}

export function createApp({ server, page, names }: AppOptions): App {
  const { limits, log } = server
  const app = new Hono<AppVariables>()
  const asked = rateLimit({ perMinute: limits.perMinute, burst: limits.burst })
  const failedLogins = rateLimit({ perMinute: 60, burst: 60 })
  let document: object | undefined

  const open: Record<string, () => Promise<globalThis.Response>> = {
    '/health': async () => json({ ok: true }),
    '/ready': ready,
    '/openapi.json': async () => json((document ??= openApiOf(routes, server.version))),
  }

  app.use('*', async (c, next) => {
    checkHost(c.req.raw.headers, names)
    const { pathname } = new URL(c.req.url)
    const isOpen = c.req.method === 'GET' && Object.hasOwn(open, pathname) ? open[pathname] : undefined
    const found = isOpen ? await isOpen() : page.file(c.req.raw)
    if (found) return found
    // No one would read the stream that a HEAD might open.
    if (c.req.method === 'HEAD') throw notHere()
    checkOrigin(c.req.raw.headers)
    c.set('server', forRequest(server))
    c.set('principal', await authenticate(c))
    await next()
    return undefined
  })
  for (const route of routes) {
    app.on(route.method, honoPath(route.path), (c) => {
      const visit = {
        request: c.req.raw,
        params: c.req.param(),
        principal: c.get('principal'),
        server: c.get('server'),
      }
      return route.respond(visit)
    })
  }
  // Behind all routes: what comes here has the path of some, and the method of none of them.
  for (const [path, there] of Map.groupBy(routes, ({ path }) => path)) {
    app.all(honoPath(path), () => {
      throw wrongMethod(there.map(({ method }) => method.toUpperCase()))
    })
  }
  app.notFound(() => {
    throw notHere()
  })
  app.onError((error, c) => {
    const { status, headers, body, hidden } = answerFor(error)
    if (hidden !== undefined) {
      log({ event: 'error', code: body.error.code, method: c.req.method, path: c.req.path, trace: traceOf(hidden) })
    }
    return json(body, status, headers)
  })

  return {
    async fetch(request, address) {
      const began = performance.now()
      const url = new URL(request.url)
      const door = doorOf(request.method, url, request.headers)
      const response = door
        ? await respondAtDoor({ door, request, url, server, names, admit: (work) => admitted(work, request, address) })
        : await app.fetch(request, { address })
      for (const [name, value] of Object.entries(pageHeaders)) {
        if (!response.headers.has(name)) response.headers.set(name, value)
      }
      const ms = Math.round(performance.now() - began)
      log({ event: 'request', method: request.method, path: url.pathname, status: response.status, ms })
      return response
    },
  }

  function authenticate(c: Context<AppVariables>): Promise<Principal> {
    const { keysRequired } = server
    const find = () => principalOf(c.get('server').store, c.req.raw.headers, { keysRequired, now: Date.now() })
    return admitted(find, c.req.raw, c.env.address)
  }

  /** Whoever may come in, as often as it may. */
  async function admitted(
    find: () => Promise<Principal>,
    request: globalThis.Request,
    address: string,
  ): Promise<Principal> {
    try {
      const principal = await find()
      if (principal.keyId !== undefined) asked.take(principal.keyId)
      return principal
    } catch (error) {
      // Guessing is slow, whatever is guessed.
      if (answerFor(error).status !== 401) throw error
      const from = networkOf(address)
      log({ event: 'refused', method: request.method, path: new URL(request.url).pathname, from })
      failedLogins.take(from)
      throw error
    }
  }

  async function ready(): Promise<globalThis.Response> {
    if (server.runs.stopping) return json({ ready: false, why: 'stopping' }, 503, { 'retry-after': '5' })
    if (server.runs.full) return json({ ready: false, why: 'storage-full' }, 503, { 'retry-after': '5' })
    const reason = await problemOf(server.store)
    if (reason === undefined) return json({ ready: true })
    return json({ ready: false, why: 'storage', reason }, 503, { 'retry-after': '5' })
  }
}

/** Whoever asks whether the server is ready asks again soon, and has no time. */
const readyMs = 800

/** Why the store cannot be used, without its address: anybody may ask. */
async function problemOf(store: Store): Promise<string | undefined> {
  const outage = store.outages?.current()
  if (outage) return `The database cannot be reached since ${outage.since}. Runs wait for it.`
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve(`The store has not answered within ${readyMs} ms.`), readyMs)
  const look = (store.within?.(readyMs) ?? store).conversations('synapse:ready', { limit: 1 })
  const answered = look.then(
    () => undefined,
    (error: unknown) => `The store cannot be read (${asFailure(error).code ?? asFailure(error).kind}).`,
  )
  try {
    return await Promise.race([answered, late])
  } finally {
    clearTimeout(timer)
  }
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function wrongMethod(allowed: readonly string[]): Refusal {
  const message = `This path takes ${allowed.join(', ')} only.`
  return new Refusal(405, { kind: 'bad-input', message }, { allow: allowed.join(', ') })
}
