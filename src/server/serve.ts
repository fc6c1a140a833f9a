// The server on a socket, from its start to its end. On loopback it needs no keys; anywhere else it does not start
// without them.

import { once } from 'node:events'
import type { Server } from 'node:http'
import { isIP, type AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createServer } from 'node:http'
import { badInput, SynapseError } from '../core/error.ts'
import type { Policy } from '../settings/policy.ts'
import type { Tool } from '../core/tool.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Runtime } from '../run/conversation.ts'
import type { Store } from '../store/store.ts'
import { createApp } from './app.ts'
import { changes } from './changes.ts'
import { defaultLimits, type Limits, type ServerContext } from './context.ts'
import { listKeys } from './keys.ts'
import type { Log } from './log.ts'
import { supervise } from './runs/supervisor.ts'
import { openPage } from './static.ts'

export interface ServerOptions {
  store: Store
  /** Who serves a model: the providers, or an emulator in their place. */
  endpoint: Runtime['endpoint']
  rows: readonly ProviderRow[]
  version: string
  defaultModel: string
  defaultPolicy?: Policy
  /** For clients of other APIs: the model of names that are not known here, or of all bare names. */
  doorModel?: { model: string; always?: boolean }
  tools?: readonly Tool[]
  env?: Readonly<Record<string, string | undefined>>
  offline?: boolean
  whyOffline?: string
  /** Loopback by default. */
  host?: string
  /** A free one if not said. */
  port?: number
  /** Names that the server answers to, beside its addresses. */
  names?: readonly string[]
  requireKeys?: boolean
  limits?: Partial<Limits>
  /** The built page, if it is not where the build puts it. */
  page?: string
  log?: Log
}

export interface RunningServer {
  /** Without a slash at the end. */
  url: string
  /** Takes no new runs, gives those under way some time (20 seconds by default), and parks the rest. */
  stop(graceMs?: number): Promise<void>
}

const usualGraceMs = 20_000
/** Clients that come in the same moment wait here; the system may hold fewer. */
const backlog = 4096

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, host = '127.0.0.1', port = 0, names = [], log = () => {} } = options
  const keysRequired = options.requireKeys === true || !isLoopback(host) || names.length > 0
  if (keysRequired) await needKeys(store, host)
  const limits = { ...defaultLimits, ...options.limits }
  const told = changes()
  const tools = options.tools ?? []
  const { endpoint } = options
  const runs = await supervise({
    store,
    endpoint,
    tools,
    maxRuns: limits.runs,
    maxQueued: limits.queued,
    log,
    changed: told.tell,
  })
  const server: ServerContext = {
    store,
    endpoint,
    tools,
    rows: options.rows,
    env: options.env ?? process.env,
    version: options.version,
    offline: options.offline === true,
    ...(options.whyOffline !== undefined && { whyOffline: options.whyOffline }),
    defaultModel: options.defaultModel,
    ...(options.defaultPolicy !== undefined && { defaultPolicy: options.defaultPolicy }),
    ...(options.doorModel && { doorModel: options.doorModel }),
    keysRequired,
    limits,
    runs,
    changes: told,
    log,
  }
  const app = createApp({
    server,
    page: openPage(options.page),
    names: [...names, host].map((name) => name.toLowerCase()),
  })
  const listener = getRequestListener((request, env) => {
    const { incoming } = env as { incoming: { socket: { remoteAddress?: string } } }
    return app.fetch(request, incoming.socket.remoteAddress ?? '')
  })
  const httpServer = createServer(
    // Longer than proxies keep a connection: else one of them would send a request into a closed one.
    { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 75_000 },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  const bound = await listen(httpServer, host, port).catch(async (error: unknown) => {
    await runs.stop(0)
    throw error
  })
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}`,
    async stop(graceMs = usualGraceMs) {
      const closed = once(httpServer, 'close')
      httpServer.close()
      httpServer.closeIdleConnections()
      await runs.stop(graceMs)
      httpServer.closeAllConnections()
      await closed
    },
  }
}

async function needKeys(store: Store, host: string): Promise<void> {
  const now = new Date().toISOString()
  const good = (await listKeys(store)).some(
    ({ revokedAt, expiresAt }) => revokedAt === undefined && (expiresAt === undefined || expiresAt > now),
  )
  if (good) return
  throw badInput(`To listen on ${host} for others there must be a key: "synapse keys create" makes one.`)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

async function listen(httpServer: Server, host: string, port: number): Promise<number> {
  httpServer.listen({ port, host, backlog })
  try {
    await once(httpServer, 'listening')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') {
      const message = `Port ${port} on ${host} is taken. Choose another one with --port.`
      throw new SynapseError({ kind: 'bad-input', code: 'port-taken', message })
    }
    if (code === 'EACCES') throw badInput(`Port ${port} may not be used. Choose one above 1023 with --port.`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw badInput(`${host} is no address of this machine.`)
    throw error
  }
  return (httpServer.address() as AddressInfo).port
}
