// The server on a socket, from its start to its end. On loopback it needs no keys; anywhere else it does not start
// without them.

import { once } from 'node:events'
import type { Server } from 'node:http'
import { isIP, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable, type Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { badInput, SynapseError } from '../core/error.ts'
import type { ModelRoute, ServedToolNames } from '../config/schema.ts'
import type { Policy } from '../settings/policy.ts'
import type { Tool } from '../core/tool.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Runtime } from '../run/conversation.ts'
import type { Store } from '../store/store.ts'
import { openToolbox, type Toolbox } from '../agents/toolbox.ts'
import { createApp, type App } from './app.ts'
import { readFrom } from './body.ts'
import { changes } from './changes.ts'
import { defaultLimits, type Limits, type LocalSessions, type ServerContext } from './context.ts'
import type { Keyring } from './keyring.ts'
import { listKeys } from './keys.ts'
import type { Log } from './log.ts'
import { longTasks } from './long-tasks.ts'
import { mergeSettings } from './run-settings.ts'
import { supervise } from './runs/supervisor.ts'
import { openPage } from './static.ts'
import { writeStreamed } from './streamed-body.ts'
import { acceptSocket } from './websocket.ts'

export interface ServerOptions {
  store: Store
  /** Finds the endpoint of a model: the providers, or an emulator in their place. */
  endpoint: Runtime['endpoint']
  rows: readonly ProviderRow[]
  /** The user's own names for models. */
  aliases?: Readonly<Record<string, string>>
  /** The models for clients of other APIs. */
  routes?: readonly ModelRoute[]
  /** Tools of the server in place of those that a provider would run itself. */
  serverTools?: ServedToolNames
  version: string
  defaultModel: string
  defaultPolicy?: Policy
  /**
   * For clients of other APIs: the model for unknown names, or for all bare names; `policy` also applies to clients
   * that shorten their history themselves.
   */
  doorModel?: { model: string; always?: boolean; policy?: Policy }
  /** Offered to every conversation that does not choose others. */
  tools?: readonly Tool[]
  /** The tools that the conversations of an owner can use; replaces `tools`. */
  toolbox?: (owner: string) => Toolbox
  /** The base of relative paths of tools. */
  folder?: string
  /** Those that a conversation can choose, the first one by default. */
  folders?: readonly string[]
  env?: Readonly<Record<string, string | undefined>>
  offline?: boolean
  whyOffline?: string
  /** Loopback by default. */
  host?: string
  /** A free one by default. */
  port?: number
  /** Host names that the server accepts, in addition to its addresses. */
  names?: readonly string[]
  requireKeys?: boolean
  /** Where API keys from the page are stored; only on loopback and without keys of the server. */
  keyring?: Keyring
  /** Sessions of coding agents that the page can import; only on loopback and without keys of the server. */
  sessions?: LocalSessions
  limits?: Partial<Limits>
  /** The address of the store, with which a separate thread opens it again to read long conversations. */
  address?: string
  /** The built page, if it is not in the default folder. */
  page?: string
  log?: Log
}

export interface RunningServer {
  /** Without a trailing slash. */
  url: string
  /** Accepts no new runs and gives active ones some time (20 seconds by default): then answers to clients end, and other runs are parked. */
  stop(graceMs?: number): Promise<void>
}

const usualGraceMs = 20_000
const lastWordsMs = 200
const lookMs = 10
/** Simultaneous clients wait here; the system may allow fewer. */
const backlog = 4096

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, host = '127.0.0.1', port = 0, names = [], log = () => {} } = options
  const keysRequired = options.requireKeys === true || !isLoopback(host) || names.length > 0
  if (keysRequired) await needKeys(store, host)
  const limits = { ...defaultLimits, ...options.limits }
  const listeners = changes()
  const { tools = [] } = options
  let bound = port
  const endpoint = exceptItself(options.endpoint, () => bound)
  const toolboxes = onePerOwner(options.toolbox ?? (() => openToolbox({ usual: () => tools })))
  const toolbox = toolboxes.of
  const runs = await supervise({
    store,
    endpoint,
    toolbox,
    settingsOf: (owner, stored) => mergeSettings({ ...options, toolbox }, owner, stored),
    maxRuns: limits.runs,
    maxQueued: limits.queued,
    log,
    changed: listeners.notify,
  })
  const long = longTasks(options.address)
  const server: ServerContext = {
    store,
    endpoint,
    toolbox,
    ...(options.folder !== undefined && { folder: options.folder }),
    ...(options.folders && { folders: options.folders }),
    rows: options.rows,
    ...(options.aliases && { aliases: options.aliases }),
    ...(options.routes && { routes: options.routes }),
    ...(options.serverTools && { serverTools: options.serverTools }),
    env: options.env ?? process.env,
    version: options.version,
    offline: options.offline === true,
    ...(options.whyOffline !== undefined && { whyOffline: options.whyOffline }),
    defaultModel: options.defaultModel,
    ...(options.defaultPolicy !== undefined && { defaultPolicy: options.defaultPolicy }),
    ...(options.doorModel && { doorModel: options.doorModel }),
    keysRequired,
    ...(options.keyring && !keysRequired && { keyring: options.keyring }),
    ...(options.sessions && !keysRequired && { sessions: options.sessions }),
    limits,
    runs,
    longTasks: long,
    changes: listeners,
    log,
  }
  const app = createApp({
    server,
    page: openPage(options.page),
    names: [...names, host].map((name) => name.toLowerCase()),
  })
  const listener = getRequestListener(async (request, env) => {
    const { incoming, outgoing } = env as { incoming: IncomingMessage; outgoing: ServerResponse }
    readFrom(incoming, request)
    const response = await app.fetch(request, incoming.socket.remoteAddress ?? '')
    return writeStreamed(response, outgoing) ? RESPONSE_ALREADY_SENT : response
  })
  const httpServer = createServer(
    // Longer than proxies keep a connection: otherwise one of them would send a request into a closed one.
    { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 75_000, shouldUpgradeCallback: isSocket },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  const sockets = new Set<Duplex>()
  httpServer.on('upgrade', (incoming, stream, head) => {
    sockets.add(stream)
    stream.once('close', () => sockets.delete(stream))
    stream.on('error', () => stream.destroy())
    void upgradeConnection(app, { incoming, stream, head }, limits.body).catch(() => stream.destroy())
  })
  bound = await listen(httpServer, host, port).catch(async (error: unknown) => {
    await runs.stop(0)
    await toolboxes.close()
    throw error
  })
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}`,
    async stop(graceMs = usualGraceMs) {
      const closed = once(httpServer, 'close')
      httpServer.close()
      httpServer.closeIdleConnections()
      await runs.stop(graceMs)
      await allSent(httpServer)
      httpServer.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      await closed
      await long.close()
      await toolboxes.close()
    },
  }
}

/**
 * The variables that give a provider another address also give clients the address of this server. With both in one
 * shell, every request would come back to the server, again and again.
 */
function exceptItself(endpoint: Runtime['endpoint'], port: () => number): Runtime['endpoint'] {
  return async (...wanted) => {
    const found = await endpoint(...wanted)
    const { provider, baseUrl, offline } = found.endpoint
    if (offline || !URL.canParse(baseUrl)) return found
    const { hostname, port: its } = new URL(baseUrl)
    if (its !== String(port()) || !isLoopback(hostname.replaceAll(/[[\]]/g, ''))) return found
    const variables = provider.baseUrlVariables?.join(' or ')
    const without = variables === undefined ? 'with another address for it' : `without ${variables}`
    throw badInput(`The address of ${provider.name} is that of this server, ${baseUrl}. Start the server ${without}.`)
  }
}

/** The ends of answers may still be on their way; streams of events have no end. */
async function allSent(server: Server): Promise<void> {
  for (let ms = 0; ms < lastWordsMs; ms += lookMs) {
    server.closeIdleConnections()
    if ((await connectionsOf(server)) === 0) return
    await sleep(lookMs)
  }
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
}

/** Nothing is shared between two owners, not even an MCP server. */
function onePerOwner(open: (owner: string) => Toolbox): { of: (owner: string) => Toolbox; close: () => Promise<void> } {
  const opened = new Map<string, Toolbox>()
  return {
    of(owner) {
      const toolbox = opened.get(owner) ?? open(owner)
      opened.set(owner, toolbox)
      return toolbox
    },
    async close() {
      await Promise.all([...opened.values()].map((toolbox) => toolbox.close()))
    },
  }
}

/** Java's client and curl offer HTTP/2 with each request, and take an answer in HTTP/1.1. */
function isSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/** A WebSocket connection, or the answer why it is refused. */
async function upgradeConnection(
  app: App,
  { incoming, stream, head }: { incoming: IncomingMessage; stream: Duplex; head: Buffer },
  maxBytes: number,
): Promise<void> {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  const url = URL.parse(incoming.url ?? '', `http://${incoming.headers.host ?? 'localhost'}`)
  if (!url) return void stream.destroy()
  const request = new Request(url, { headers })
  const address = incoming.socket.remoteAddress ?? ''
  const refused = await app.upgrade(request, address, () => acceptSocket(incoming, stream, head, maxBytes))
  if (!refused) return
  // Its events have no end: they are read only as long as the client is there.
  stream.on('end', () => stream.destroy()).resume()
  refused.headers.delete('transfer-encoding')
  const headerLines = [...refused.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  stream.write(
    `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status] ?? ''}\r\n${headerLines}connection: close\r\n\r\n`,
  )
  await pipeline(refused.body ? Readable.fromWeb(refused.body) : [], stream)
}

async function needKeys(store: Store, host: string): Promise<void> {
  const now = new Date().toISOString()
  const good = (await listKeys(store)).some(
    ({ revokedAt, expiresAt }) => revokedAt === undefined && (expiresAt === undefined || expiresAt > now),
  )
  if (good) return
  throw badInput(`Listening on ${host} requires an API key: create one with "synapse keys create".`)
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

async function listen(httpServer: Server, host: string, port: number): Promise<number> {
  httpServer.listen({ port, host, backlog })
  try {
    await once(httpServer, 'listening')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') {
      const message = `Port ${port} on ${host} is already in use. Choose another one with --port.`
      throw new SynapseError({ kind: 'bad-input', code: 'port-taken', message })
    }
    if (code === 'EACCES') throw badInput(`Port ${port} needs more permissions. Choose one above 1023 with --port.`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw badInput(`${host} is not an address of this machine.`)
    throw error
  }
  return (httpServer.address() as AddressInfo).port
}
