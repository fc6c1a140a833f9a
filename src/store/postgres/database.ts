// The way to PostgreSQL: a pool of connections, statements that are planned once per connection, transactions that are
// tried again when another one got in the way. A connection that breaks is replaced; the process never dies of it.

import { hash } from 'node:crypto'
import type { Pool, PoolClient, QueryResultRow } from 'pg'
import { SynapseError } from '../../core/error.ts'
import { fromPostgres, mayRetry, storageError } from './errors.ts'
import { migrations } from './migrations.ts'

export interface DatabaseOptions {
  now: () => number
  leaseSkewMs: () => number
  connections: number
}

/** Something that statements can be sent to: the pool, or one transaction. */
export interface Queries {
  all<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<R[]>
  get<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<R | undefined>
}

export class Database implements Queries {
  readonly place: string
  readonly options: DatabaseOptions
  readonly #pool: Pool

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

  /** For statements whose best plan depends on their values. */
  async plan<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> {
    try {
      return (await this.#pool.query<R>(sql, values)).rows
    } catch (error) {
      throw fromPostgres(error, this.place)
    }
  }

  async transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(work)
      } catch (error) {
        if (!mayRetry(error) || attempt === 5) throw fromPostgres(error, this.place)
      }
    }
  }

  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end()
  }

  async #once<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    let broken = false
    try {
      await client.query('BEGIN')
      const result = await work(queriesOf(client))
      await client.query('COMMIT')
      return result
    } catch (error) {
      // The connection goes back to the pool only if it is known to be out of the transaction.
      await client.query('ROLLBACK').catch(() => (broken = true))
      throw error
    } finally {
      client.release(broken)
    }
  }
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

function queriesOf(client: PoolClient): Queries {
  const all = async <R extends QueryResultRow>(sql: string, values: unknown[] = []) =>
    (await client.query<R>(prepared(sql, values))).rows
  return {
    all,
    get: async <R extends QueryResultRow>(sql: string, values: unknown[] = []) => (await all<R>(sql, values))[0],
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
