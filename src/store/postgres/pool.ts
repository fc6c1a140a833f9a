// The connections to a PostgreSQL server: a pool, each connection with its limits set, and the one that checks whether
// the server is reachable.

import { Socket } from 'node:net'
import type { ClientBase, ClientConfig, Pool, PoolClient } from 'pg'
import type { Failure } from '../../core/error.ts'
import { isStandby, storageError } from './errors.ts'
import { Link, type Line } from './link.ts'

export interface PoolOptions {
  connections: number
  /** A statement that takes longer is stopped by the server; 0: no limit. */
  statementMs: number
  /** The error for an outage. */
  explain: (error: unknown) => Failure
  /** For a connection of the pool, even if all are in use. */
  connectMs?: number
}

export interface LinkedPool {
  pool: Pool
  link: Link
  /** A connection with its limits set. */
  connect(): Promise<PoolClient>
  lineOf(client: ClientBase): Line
}

const usualConnectMs = 5000
/** For each answer of the server on a new connection. */
const lookMs = 1500
/** The server aborts a transaction whose client is silent for this long, and releases its locks. */
const idleInTransactionMs = 10_000
const keepAliveMs = 10_000

export async function openPool(url: string, options: PoolOptions): Promise<LinkedPool> {
  const { connectMs = usualConnectMs } = options
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw storageError('unsupported', 'PostgreSQL needs the package pg. Install it: npm install pg', cause)
  })
  const lines = new WeakMap<ClientBase, Line>()
  const lineOf = (client: ClientBase): Line => {
    const line = lines.get(client)
    if (!line) throw new TypeError('the connection is not one of this pool')
    return line
  }
  const link = new Link(look, options.explain)

  class LinkedClient extends pg.Client {
    constructor(config: ClientConfig = {}) {
      const socket = new Socket()
      super({ ...config, stream: () => socket })
      lines.set(this, link.add(socket))
    }
  }

  const pool = new pg.Pool({
    connectionString: url,
    Client: LinkedClient,
    max: options.connections,
    connectionTimeoutMillis: connectMs,
    allowExitOnIdle: true,
    // Statements of a transaction that do not wait for each other are sent together. Older versions of pg send them one by one.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    // bigint is returned as text by default; ours all fit a number.
    types: {
      getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  })
  // Without listeners a restarting server would end this process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  return { pool, link, connect, lineOf }

  // Not by the pool's own `verify`: a caller that gives up during it still gets the connection, which is then lost.
  async function connect(): Promise<PoolClient> {
    const client = await pool.connect()
    const line = lineOf(client)
    if (line.backend !== undefined) return client
    try {
      line.backend = await link.ask(line, { forMs: connectMs }, () => ready(client, options.statementMs))
      return client
    } catch (error) {
      line.socket.destroy()
      client.release(true)
      throw error
    }
  }

  async function look(silent: readonly string[], orphans: readonly string[]): Promise<string[]> {
    const socket = new Socket()
    const timer = setTimeout(() => socket.destroy(), lookMs)
    // A slow server needs longer for all of it.
    socket.on('data', () => timer.refresh())
    const client = new pg.Client({ connectionString: url, stream: () => socket })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
      if (rows[0]?.standby) throw isStandby()
      if (silent.length === 0 && orphans.length === 0) return []
      const ended = await client.query<{ backend: string }>(endDeaf, [silent, orphans])
      const backends = await client.query<{ backend: string }>(`SELECT ${backendName} AS backend FROM pg_stat_activity`)
      const alive = new Set(backends.rows.map(({ backend }) => backend))
      for (const { backend } of ended.rows) alive.delete(backend)
      return [...silent, ...orphans].filter((backend) => !alive.has(backend))
    } finally {
      clearTimeout(timer)
      socket.destroy()
    }
  }
}

/** A process id alone may have been reused since. */
const backendName = `pid || '/' || extract(epoch FROM backend_start)`

/** Terminates processes that wait for their client while the client waits for them, or is gone. */
const endDeaf = `
  SELECT ${backendName} AS backend, pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE wait_event_type = 'Client' AND usename = current_user AND (${backendName} = ANY ($2::text[])
    OR (${backendName} = ANY ($1::text[]) AND state_change < clock_timestamp() - interval '500 ms'))`

/** Sets the limits of a new connection, and returns the name of the server's process for it. */
async function ready(client: PoolClient, statementMs: number): Promise<string> {
  const results: unknown = await client.query(
    `SET synchronous_commit = on; SET statement_timeout = ${statementMs};
     SET idle_in_transaction_session_timeout = ${idleInTransactionMs};
     SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
     SELECT ${backendName} AS backend, pg_is_in_recovery() AS standby FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
  )
  const last = Array.isArray(results)
    ? (results.at(-1) as { rows: { backend: string; standby: boolean }[] })
    : undefined
  const row = last?.rows[0]
  if (!row || row.standby) throw isStandby()
  return row.backend
}
