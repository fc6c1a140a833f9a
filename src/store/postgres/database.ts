// The way to PostgreSQL: a pool of connections, statements that are planned once per connection, transactions that are
// tried again when another one got in the way or the connection broke. When it breaks during a commit, another one is
// asked what became of it: nothing is done twice, and nothing that was done is called lost.

import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Pool, PoolClient, QueryResultRow } from 'pg'
import { SynapseError } from '../../core/error.ts'
import { fromPostgres, isLost, mayRetry, storageError } from './errors.ts'
import { migrations } from './migrations.ts'
import { Indexing } from './search-index.ts'

export interface DatabaseOptions {
  now: () => number
  leaseSkewMs: () => number
  connections: number
}

/** Something that statements can be sent to: the pool, or one transaction. */
export interface Queries {
  all<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<R[]>
  get<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<R | undefined>
  /** Does it as soon as what was sent before is committed. */
  onceCommitted(work: () => void): void
}

export class Database implements Queries {
  readonly place: string
  readonly options: DatabaseOptions
  readonly #pool: Pool
  readonly indexing = new Indexing(this)

  constructor(pool: Pool, place: string, options: DatabaseOptions) {
    this.#pool = pool
    this.place = place
    this.options = options
  }

  async all<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> {
    try {
      return (await this.#pool.query<R>(prepared(sql, values))).rows
    } catch (error) {
      throw fromPostgres(error, this.place)
    }
  }

  async get<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R | undefined> {
    return (await this.all<R>(sql, values))[0]
  }

  /** Rows as lists of their columns: for many rows, where the names would cost more than the values. */
  async lists<R extends unknown[]>(sql: string, values: unknown[] = []): Promise<R[]> {
    try {
      return (await this.#pool.query<R>({ ...prepared(sql, values), rowMode: 'array' })).rows
    } catch (error) {
      throw fromPostgres(error, this.place)
    }
  }

  /** For statements whose best plan depends on their values. */
  async plan<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> {
    try {
      return (await this.#pool.query<R>(sql, values)).rows
    } catch (error) {
      throw fromPostgres(error, this.place)
    }
  }

  /** At once: outside of a transaction a statement is committed when it is answered. */
  onceCommitted(work: () => void): void {
    work()
  }

  async transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const after: (() => void)[] = []
        const tried = await this.#once(work, after)
        if ('result' in tried) {
          for (const one of after) one()
          return tried.result
        }
        if (attempt === 5) throw tried.error
      } catch (error) {
        throw fromPostgres(error, this.place)
      }
    }
  }

  /** Keeps a connection for what is notified on a channel; gives a way to let go of it. */
  async listen(channel: string, heard: (payload: string) => void, lost: () => void): Promise<() => void> {
    const client = await this.#pool.connect()
    let held = true
    const leave = (): void => {
      if (held) client.release(true)
      held = false
    }
    client.on('notification', ({ payload }) => heard(payload ?? ''))
    client.on('end', () => {
      if (!held) return
      leave()
      lost()
    })
    try {
      await client.query(`LISTEN ${channel}`)
      return leave
    } catch (error) {
      leave()
      throw fromPostgres(error, this.place)
    }
  }

  async close(): Promise<void> {
    await this.indexing.done()
    if (!this.#pool.ended) await this.#pool.end()
  }

  /** Gives the error when nothing was done and all of it may be tried again. */
  async #once<T>(
    work: (queries: Queries) => Promise<T>,
    after: (() => void)[],
  ): Promise<{ result: T } | { error: unknown }> {
    const client = await this.#pool.connect()
    let broken = false
    let committing: { number: string; result: T } | undefined
    let lost: unknown
    try {
      const number = await begin(client)
      const result = await work(queriesOf(client, after))
      committing = { number, result }
      await client.query('COMMIT')
      return { result }
    } catch (error) {
      // The connection goes back to the pool only if it is known to be out of the transaction.
      await client.query('ROLLBACK').catch(() => (broken = true))
      if (mayRetry(error)) return { error }
      if (!isLost(error)) throw error
      lost = error
    } finally {
      client.release(broken)
    }
    if (committing && (await this.#wasDone(committing.number, lost))) return { result: committing.result }
    return { error: lost }
  }

  /** Whether the transaction was committed. A server that restarts is waited for; what cannot be learnt is said. */
  async #wasDone(transaction: string, lost: unknown): Promise<boolean> {
    const until = performance.now() + 10_000
    for (; performance.now() < until; await wait(50)) {
      const status = await this.#pool
        .query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [transaction])
        .then(
          ({ rows }) => rows[0]?.status,
          (error: unknown) => (isLost(error) ? 'in progress' : undefined),
        )
      if (status === 'committed') return true
      if (status === 'aborted') return false
      if (status !== 'in progress') break
    }
    throw lost
  }
}

/** Gives the transaction's number, under which its end can be asked for. In one way there and back. */
async function begin(client: PoolClient): Promise<string> {
  const results: unknown = await client.query('BEGIN; SELECT pg_current_xact_id()::text AS number')
  const rows: unknown[] = Array.isArray(results) ? results.flatMap((one: { rows: unknown[] }) => one.rows) : []
  const [row] = rows
  return typeof row === 'object' && row !== null && 'number' in row ? String(row.number) : ''
}

export async function connect(url: string, options: DatabaseOptions): Promise<Database> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw storageError('unsupported', 'PostgreSQL needs the package pg. Install it: npm install pg', cause)
  })
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections,
    connectionTimeoutMillis: 10_000,
    allowExitOnIdle: true,
    verify(client, done) {
      client.query('SET synchronous_commit = on', (error: Error | null) => done(error ?? undefined))
    },
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
  const database = new Database(pool, placeOf(url), options)
  try {
    await migrate(database)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

async function migrate(database: Database): Promise<void> {
  if ((await versionOf(database)) === migrations.length) return
  await database.transaction(async (queries) => {
    // One process at a time; the number is ours alone.
    await queries.all('SELECT pg_advisory_xact_lock(6004235)')
    const done = await versionOf(queries)
    if (done > migrations.length) {
      throw storageError(
        'newer',
        `The database at ${database.place} was written by a newer Synapse (format ${done}, this one knows ${migrations.length}). Update Synapse.`,
      )
    }
    if (done === 0) {
      await queries.all('CREATE SCHEMA IF NOT EXISTS synapse')
      await queries.all('CREATE TABLE synapse.format (version integer NOT NULL)')
      await queries.all('INSERT INTO synapse.format (version) VALUES (0)')
    }
    for (const step of migrations.slice(done)) {
      for (const statement of step.split(/;\s*\n/)) if (statement.trim() !== '') await queries.all(statement)
    }
    await queries.all('UPDATE synapse.format SET version = $1', [migrations.length])
  })
}

async function versionOf(queries: Queries): Promise<number> {
  // Not by to_regclass: inside a transaction that waited for a lock it may answer from an old cache.
  const made = await queries.get(`SELECT 1 FROM pg_tables WHERE schemaname = 'synapse' AND tablename = 'format'`)
  if (!made) return 0
  return (await queries.get<{ version: number }>('SELECT version FROM synapse.format'))?.version ?? 0
}

function queriesOf(client: PoolClient, after: (() => void)[]): Queries {
  const all = async <R extends QueryResultRow>(sql: string, values: unknown[] = []) =>
    (await client.query<R>(prepared(sql, values))).rows
  return {
    all,
    get: async <R extends QueryResultRow>(sql: string, values: unknown[] = []) => (await all<R>(sql, values))[0],
    onceCommitted: (work) => after.push(work),
  }
}

const names = new Map<string, string>()

function prepared(text: string, values: unknown[]): { name: string; text: string; values: unknown[] } {
  let name = names.get(text)
  if (name === undefined) {
    name = hash('sha256', text).slice(0, 32)
    names.set(text, name)
  }
  return { name, text, values }
}

/** The address without user and password. */
function placeOf(url: string): string {
  try {
    const { hostname, port, pathname, searchParams } = new URL(url)
    const host = hostname || searchParams.get('host') || 'localhost'
    return `${host}${port && `:${port}`}${pathname}`
  } catch (cause) {
    throw new SynapseError(
      { kind: 'bad-input', message: 'The address of PostgreSQL must look like postgres://user@host/database.' },
      { cause },
    )
  }
}
