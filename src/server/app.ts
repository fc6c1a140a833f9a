// The server without a socket: authentication and routing. Everything is refused unless it is public by name or the
// caller is known; only then is a route looked up, so that no spelling of a path bypasses the check.

import { Hono, type Context } from 'hono'
import { matchedRoutes } from 'hono/route'
import { asFailure, SynapseError } from '../core/error.ts'
import type { Store } from '../store/store.ts'
import { answerFor, json, plainError, Refusal } from './answer.ts'
import { forRequest, type ServerContext } from './context.ts'
import { doorOf, type Door } from './doors/door.ts'
import type { ConnectionMemory } from './doors/connection-memory.ts'
import type { UnauthenticatedRequest } from './doors/incoming-request.ts'
import { refusalAtDoor, respondAtDoor } from './doors/respond.ts'
import { serveSocket } from './doors/socket.ts'
import { traceOf } from './log.ts'
import { openApiOf } from './openapi.ts'
import { principalOf, type Principal } from './principal.ts'
import { networkOf, rateLimit } from './rate-limit.ts'
import { notHere, type Route } from './route.ts'
import { aboutRoutes } from './routes/about.ts'
import { blobRoutes } from './routes/blobs.ts'
import { chatRoutes } from './routes/chat.ts'
import { compareRoutes } from './routes/compare.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { historyRoutes } from './routes/history.ts'
import { importRoutes } from './routes/import.ts'
import { providerKeyRoutes } from './routes/provider-keys.ts'
import { requestRoutes } from './routes/requests.ts'
import { runRoutes } from './routes/runs.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { toolRoutes } from './routes/tools.ts'
import { watchRoutes } from './routes/watch.ts'
import { checkHost, checkOrigin } from './same-origin.ts'
import { pageHeaders, type Page } from './static.ts'
import type { Socket } from './websocket.ts'

export const routes: readonly Route[] = [
  ...aboutRoutes,
  ...providerKeyRoutes,
  ...conversationRoutes,
  ...importRoutes,
  ...sessionRoutes,
  ...historyRoutes,
  ...runRoutes,
  ...chatRoutes,
  ...toolRoutes,
  ...requestRoutes,
  ...compareRoutes,
  ...watchRoutes,
  ...blobRoutes,
]

export interface AppOptions {
  server: ServerContext
  page: Page
  /** Host names that the server accepts, in addition to addresses and localhost. */
  names: readonly string[]
}

export interface App {
  /** `address` is the client's; `memory`: what its connection remembers. */
  fetch(request: Request, address: string, memory?: ConnectionMemory): Promise<Response>
  /** Serves a WebSocket connection until it ends; a response if it is refused. */
  upgrade(request: Request, address: string, accept: () => Socket | undefined): Promise<Response | undefined>
}

interface AppVariables {
  Variables: { principal: Principal; server: ServerContext }
  Bindings: { address: string }
}

export function createApp(options: AppOptions): App {
  const { server, names } = options
  const admit = admission(server)
  const app = ownApi(options, admit)

  async function respond(request: Request, address: string, memory?: ConnectionMemory): Promise<Response> {
    const began = performance.now()
    const url = new URL(request.url)
    const door = isOwnPath(url) ? undefined : await doorOf(request.method, url, request.headers)
    const response = door
      ? await respondAtDoor({ ...incomingAt(door, request, url, address), ...(memory && { memory }) })
      : await app.fetch(request, { address })
    for (const [name, value] of Object.entries(pageHeaders)) {
      if (!response.headers.has(name)) response.headers.set(name, value)
    }
    const ms = Math.round(performance.now() - began)
    server.log({ event: 'request', method: request.method, path: url.pathname, status: response.status, ms })
    return response
  }

  function incomingAt(door: Door, request: Request, url: URL, address: string): UnauthenticatedRequest {
    return { door, request, url, server, names, admit: (find) => admit(find, request, address) }
  }

  return {
    fetch: respond,
    async upgrade(request, address, accept) {
      const url = new URL(request.url)
      const door = await doorOf(request.method, url, request.headers)
      // An unauthorised or different request is refused as it would be without a WebSocket.
      if (door?.operation.do !== 'upgrade') return respond(request, address)
      const refused = await refusalAtDoor(incomingAt(door, request, url, address))
      if (refused) return refused
      const socket = accept()
      if (!socket) return json({ error: { message: 'The handshake is not valid.' } }, 400)
      server.log({ event: 'request', method: request.method, path: url.pathname, status: 101, ms: 0 })
      const opened = { door, url, headers: socketHeaders(request.headers) }
      await serveSocket(socket, opened, (inner, memory) => respond(inner, address, memory))
      return undefined
    },
  }
}

/** The beginnings of the paths of the server's own API. */
const ownPaths = new Set(routes.map(({ path }) => beginningOf(path)))

const plainErrorPaths = new Set(routes.filter(({ hasPlainErrors }) => hasPlainErrors).map(({ path }) => honoPath(path)))

function isOwnPath({ pathname }: URL): boolean {
  return ownPaths.has(beginningOf(pathname))
}

function beginningOf(path: string): string {
  return path.split('/', 3).join('/')
}

/** The headers of a request on a WebSocket: those of its handshake, without those about the connection. */
function socketHeaders(headers: Headers): Headers {
  const forwarded = [...headers].filter(([name]) => !/^(?:connection|upgrade|sec-websocket-.*|content-.*)$/.test(name))
  return new Headers([...forwarded, ['content-type', 'application/json']])
}

type FindPrincipal = () => Promise<Principal>
type Admit = (find: FindPrincipal, request: Request, address: string) => Promise<Principal>

/** Authentication and rate limits. */
function admission({ limits, log }: ServerContext): Admit {
  const requestLimit = rateLimit({ perMinute: limits.perMinute, burst: limits.burst })
  const failedLogins = rateLimit({ perMinute: 60, burst: 60 })
  return async (find, request, address) => {
    try {
      const principal = await find()
      if (principal.keyId !== undefined) requestLimit.take(principal.keyId, principal.perMinute)
      return principal
    } catch (error) {
      if (asFailure(error).kind === 'storage') throw notKnownNow()
      // Slows down guessing, whatever is guessed.
      if (answerFor(error).status !== 401) throw error
      const from = networkOf(address)
      log({ event: 'refused', method: request.method, path: new URL(request.url).pathname, from })
      failedLogins.take(from)
      throw error
    }
  }
}

/** Who calls is not known yet, and need not learn where the store is. */
function notKnownNow(): SynapseError {
  const message = 'The key cannot be checked, because the store does not answer. Try again in a moment.'
  return new SynapseError({ kind: 'storage', code: 'unavailable', message })
}

/** The page and the server's own API. */
function ownApi({ server, page, names }: AppOptions, admit: Admit): Hono<AppVariables> {
  const { log } = server
  const app = new Hono<AppVariables>()
  let document: object | undefined

  const open: Record<string, () => Promise<Response>> = {
    '/health': async () => json({ ok: true }),
    '/ready': () => ready(server),
    '/openapi.json': async () => json((document ??= openApiOf(routes, server.version, server.keysRequired))),
  }

  app.use('*', async (c, next) => {
    checkHost(c.req.raw.headers, names)
    const { pathname } = new URL(c.req.url)
    const isOpen = c.req.method === 'GET' && Object.hasOwn(open, pathname) ? open[pathname] : undefined
    const file = isOpen ? await isOpen() : page.file(c.req.raw)
    if (file) return file
    // There is no reader for the stream that a HEAD might open.
    if (c.req.method === 'HEAD') throw notHere()
    checkOrigin(c.req.raw.headers)
    c.set('server', forRequest(server))
    c.set('principal', await authenticate(c))
    await next()
    return undefined
  })
  for (const route of routes) {
    app.on(route.method, honoPath(route.path), (c) => {
      const authorised = {
        request: c.req.raw,
        params: c.req.param(),
        principal: c.get('principal'),
        server: c.get('server'),
      }
      return route.respond(authorised)
    })
  }
  // After all routes: the path exists, but not with this method.
  for (const [path, ofPath] of Map.groupBy(routes, ({ path }) => path)) {
    app.all(honoPath(path), () => {
      throw wrongMethod(ofPath.map(({ method }) => method.toUpperCase()))
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
    // Whichever handler has failed: the authentication has no path of its own.
    const isPlain = matchedRoutes(c).some(({ path }) => plainErrorPaths.has(path))
    return isPlain ? plainError(body.error, status, headers) : json(body, status, headers)
  })
  return app

  function authenticate(c: Context<AppVariables>): Promise<Principal> {
    const { keysRequired } = server
    const find = () => principalOf(c.get('server').store, c.req.raw.headers, { keysRequired, now: Date.now() })
    return admit(find, c.req.raw, c.env.address)
  }
}

async function ready(server: ServerContext): Promise<Response> {
  if (server.runs.stopping) return json({ ready: false, why: 'stopping' }, 503, { 'retry-after': '5' })
  if (server.runs.full) return json({ ready: false, why: 'storage-full' }, 503, { 'retry-after': '5' })
  const reason = await problemOf(server.store)
  if (reason === undefined) return json({ ready: true })
  return json({ ready: false, why: 'storage', reason }, 503, { 'retry-after': '5' })
}

/** A readiness check is repeated soon, and must be answered quickly. */
const readyMs = 800

/** Why the store cannot be used, without its address: anyone may ask. */
async function problemOf(store: Store): Promise<string | undefined> {
  const outage = store.outages?.current()
  if (outage) return `The database has been unreachable since ${outage.since}. Runs wait for it.`
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve(`The store has not answered within ${readyMs} ms.`), readyMs)
  const reading = (store.within?.(readyMs) ?? store).conversations('synapse:ready', { limit: 1 })
  const answered = reading.then(
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
  const message = `This path supports only ${allowed.join(' and ')}.`
  return new Refusal(405, { kind: 'bad-input', message }, { allow: allowed.join(', ') })
}
