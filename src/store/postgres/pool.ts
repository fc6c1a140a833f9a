// The connections to a PostgreSQL server: a pool of them, each with its limits set, and the one that is opened to see
// whether the server is there.

import { Socket } from 'node:net'
import type { ClientBase, ClientConfig, Pool, PoolClient } from 'pg'
import type { Failure } from '../../core/error.ts'
import { isStandby, storageError } from './errors.ts'
import { Link, type Line } from './link.ts'

export interface PoolOptions {
  connections: number
  /** A statement that takes longer is stopped by the server; 0: none is. */
  statementMs: number
  /** What an outage is called. */
  explain: (error: unknown) => Failure
}

export interface LinkedPool {
  pool: Pool
  link: Link
  lineOf(client: ClientBase): Line
}

/** For a connection of the pool to be there, also where all are in use. */
const connectMs = 5000
/** For the server to answer on a new connection. */
const lookMs = 1500
/** The server drops a transaction whose client says nothing for so long, and with it the locks. */
const idleInTransactionMs = 10_000
const keepAliveMs = 10_000

export async function openPool(url: string, options: PoolOptions): Promise<LinkedPool> {
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
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    verify: (client, done) => void verify(client, done),
    // bigint comes as text by default; ours all fit a number.
    types: {
      getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  })
  // Without listeners a server that restarts would end this process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  return { pool, link, lineOf }

  async function verify(client: PoolClient, done: (error?: Error) => void): Promise<void> {
    const line = lineOf(client)
    let problem: Error | undefined
    try {
      line.pid = await link.ask(line, { forMs: connectMs }, () => ready(client, options.statementMs))
    } catch (error) {
      line.socket.destroy()
      problem = error instanceof Error ? error : new Error(String(error))
    }
    done(problem)
  }

  /** Gives those of the server's processes that are gone or wait for their client; the latter are ended. */
  async function look(pids: readonly number[]): Promise<number[]> {
    const socket = new Socket()
    const timer = setTimeout(() => socket.destroy(), lookMs)
    const client = new pg.Client({ connectionString: url, stream: () => socket })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
      if (rows[0]?.standby) throw isStandby()
      if (pids.length === 0) return []
      const alive = await client.query<{ pid: number }>(busy, [pids])
      return pids.filter((pid) => !alive.rows.some((row) => row.pid === pid))
    } finally {
      clearTimeout(timer)
      socket.destroy()
    }
  }
}

/** Waiting for its client while the client waits for it: one of the two will never hear of the other. */
const busy = `
  WITH deaf AS (
    SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = ANY ($1::int[]) AND usename = current_user AND wait_event_type = 'Client'
      AND state_change < clock_timestamp() - interval '500 ms'
  )
  SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1::int[]) AND pid NOT IN (SELECT pid FROM deaf)`

/** Sets the limits of a new connection, and gives the number of the server's process for it. */
async function ready(client: PoolClient, statementMs: number): Promise<number> {
  const results: unknown = await client.query(
    `SET synchronous_commit = on; SET statement_timeout = ${statementMs};
     SET idle_in_transaction_session_timeout = ${idleInTransactionMs};
     SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
     SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS standby`,
  )
  const last = Array.isArray(results) ? (results.at(-1) as { rows: { pid: number; standby: boolean }[] }) : undefined
  const row = last?.rows[0]
  if (!row || row.standby) throw isStandby()
  return row.pid
}
