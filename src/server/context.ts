// What the routes work with.

import type { Policy } from '../settings/policy.ts'
import type { Tool } from '../core/tool.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Runtime } from '../run/conversation.ts'
import type { Store } from '../store/store.ts'
import type { Changes } from './changes.ts'
import type { Log } from './log.ts'
import type { Supervisor } from './runs/supervisor.ts'

export interface ServerContext {
  store: Store
  endpoint: Runtime['endpoint']
  tools: readonly Tool[]
  rows: readonly ProviderRow[]
  env: Readonly<Record<string, string | undefined>>
  version: string
  /** The emulator answers in place of every provider. */
  offline: boolean
  whyOffline?: string
  /** For conversations that name no model. */
  defaultModel: string
  /** For clients of other APIs: the model of names that are not known here, or of all bare names. */
  doorModel?: { model: string; always?: boolean }
  /** For those that name no policy. */
  defaultPolicy?: Policy
  keysRequired: boolean
  limits: Limits
  runs: Supervisor
  changes: Changes
  log: Log
  /** In the context of one request: the one that outlives it. */
  lasting?: ServerContext
}

/** A request does not hang while the database is away: it is answered with 503 soon after this. */
const requestMs = 2000

export function forRequest(server: ServerContext): ServerContext {
  const store = server.store.within?.(requestMs)
  return store ? { ...server, store, runs: server.runs.using(store), lasting: server } : server
}

/** For what continues after the request was answered, such as a stream. */
export function lastingContext(server: ServerContext): ServerContext {
  return server.lasting ?? server
}

export interface Limits {
  /** Bytes of a request's body. */
  body: number
  /** Requests of one key. */
  perMinute: number
  burst: number
  /** Runs that continue at once, and that wait. */
  runs: number
  queued: number
  /** Event streams that are open at once. */
  streams: number
}

export const defaultLimits: Limits = {
  body: 20 * 1024 * 1024,
  perMinute: 1200,
  burst: 600,
  runs: 1024,
  queued: 1024,
  streams: 8192,
}
