// What every route works with: the store, the providers, the tools, the runs and the limits of the server.

import type { ModelRoute, ServedToolNames } from '../config/schema.ts'
import type { Policy } from '../settings/policy.ts'
import type { Toolbox } from '../agents/toolbox.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Runtime } from '../run/conversation.ts'
import type { Store } from '../store/store.ts'
import type { AgentEnvironment } from '../sessions/environment.ts'
import type { Changes } from './changes.ts'
import type { Keyring } from './keyring.ts'
import type { Log } from './log.ts'
import type { LongTasks } from './long-tasks.ts'
import type { Supervisor } from './runs/supervisor.ts'

/** Where coding agents store their sessions, and how a conversation is carried to one of them. */
export interface LocalSessions {
  environment: AgentEnvironment
  /** The command before the id of a conversation. */
  carry: readonly string[]
}

export interface ServerContext {
  store: Store
  /** Where keys and what they have spent are, if that is another store. */
  accounts?: Store
  endpoint: Runtime['endpoint']
  /** The tools that the conversations of an owner can use. */
  toolbox: (owner: string) => Toolbox
  /** The base of relative paths of tools. */
  folder?: string
  /** Those that a conversation can choose, the first one by default. */
  folders?: readonly string[]
  rows: readonly ProviderRow[]
  /** The user's own names for models. */
  aliases?: Readonly<Record<string, string>>
  /** The models for clients of other APIs. */
  routes?: readonly ModelRoute[]
  /** Tools of the server in place of those that a provider would run itself. */
  serverTools?: ServedToolNames
  env: Readonly<Record<string, string | undefined>>
  version: string
  /** The emulator answers in place of every provider. */
  offline: boolean
  whyOffline?: string
  /** For conversations without a model. */
  defaultModel: string
  /**
   * For clients of other APIs: the model for unknown names, or for all bare names; `policy` also applies to clients
   * that shorten their history themselves.
   */
  doorModel?: { model: string; always?: boolean; policy?: Policy }
  /** For those without a policy. */
  defaultPolicy?: Policy
  keysRequired: boolean
  /** Where API keys from the page are stored; absent: nowhere. */
  keyring?: Keyring
  /** Sessions of coding agents; only if the server is for the user of this machine alone. */
  sessions?: LocalSessions
  limits: Limits
  runs: Supervisor
  longTasks: LongTasks
  changes: Changes
  log: Log
  /** In the context of one request: the store that outlives it. */
  lasting?: ServerContext
}

/** A request does not hang while the database is unreachable: it is answered with 503 soon after this. */
const requestMs = 2000

export function forRequest(server: ServerContext): ServerContext {
  const store = server.store.within?.(requestMs)
  return store ? { ...server, store, runs: server.runs.using(store), lasting: server } : server
}

/** For work that continues after the request was answered, such as a stream. */
export function lastingContext(server: ServerContext): ServerContext {
  return server.lasting ?? server
}

export interface Limits {
  /** Bytes of a request's body. */
  body: number
  /** Requests of one key. */
  perMinute: number
  burst: number
  /** Concurrent runs, and waiting ones. */
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
