// Statements and transactions on PostgreSQL: prepared once per connection, and retried when another one interfered or
// the connection broke, up to the time limit. If it breaks during a commit, another connection determines the outcome:
// nothing is done twice, and nothing that was done is reported as lost.

import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { SynapseError, type Failure } from '../../core/error.ts'
import { uuidv7 } from '../ids.ts'
import { fromPostgres, isCancelled, isLost, isNulInText, mayRetry, storageError, unreachable } from './errors.ts'
import type { Patience } from './link.ts'
import { migrations } from './migrations.ts'
import { openPool, type LinkedPool } from './pool.ts'
import { Indexing } from './search-index.ts'

export interface DatabaseOptions {
  now: () => number
  leaseSkewMs: () => number
  connections: number
  /** How long a call waits for an unreachable server; 60 seconds by default. */
  waitMs?: number
  /** How long a statement may take; 60 seconds by default, 0 for any time. */
  statementMs?: number
  /** Called after each step of an upgrade. */
  migrating?: (done: number, steps: number) => void
}

const usualWaitMs = 60_000
const usualStatementMs = 60_000
/** How often conflicting transactions are retried. */
const mostConflicts = 5
/** A call that loses its connection this many times although the server is up may be the cause. */
const mostLosses = 20
const mostPauseMs = 1000
const pingMs = 5000

/** A target for statements: the pool, or one transaction. */
export interface Queries {
  all<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<R[]>
  get<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<R | undefined>
}

/** Values that can be sent without waiting for the answer: none of them can fail before it is sent. */
type PlainValue = string | number | boolean | null | Uint8Array | readonly (string | number | null)[]

/** One transaction. Statements that are sent without waiting for the one before are sent together, and run in that order. */
export interface Transaction extends Queries {
  /**
   * Sends a change whose answer is not needed, together with the commit, which does not happen if it fails. `named` gives
   * the error for that.
   */
  change(sql: string, values: readonly PlainValue[], named?: (error: unknown) => unknown): void
  /** Does it as soon as the earlier statements are committed. */
  onceCommitted(work: () => void): void
}

/** A transaction that was about to be committed. */
interface Commit<T> {
  id: string
  result: T
  after: (() => void)[]
}

/** Outside of a transaction it sends only statements that read, or may be repeated: such statements are retried. */
export class Database implements Queries {
  readonly address: string
  readonly options: DatabaseOptions
  readonly indexing: Indexing
  readonly #linked: LinkedPool
  readonly #patience: Patience
  #reading: ReadingGroup | undefined

  constructor(
    linked: LinkedPool,
    address: string,
    options: DatabaseOptions,
    task?: { indexing: Indexing; until: number },
  ) {
    this.#linked = linked
    this.address = address
    this.options = options
    this.indexing = task?.indexing ?? new Indexing(this)
    this.#patience = task ? { until: task.until } : { forMs: options.waitMs ?? usualWaitMs }
  }

  /** The same for a task with a deadline: it does not wait longer for an unreachable server. */
  within(ms: number): Database {
    const task = { indexing: this.indexing, until: performance.now() + ms }
    return new Database(this.#linked, this.address, this.options, task)
  }

  get link(): LinkedPool['link'] {
    return this.#linked.link
  }

  async all<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> {
    return this.#read<R>(preparedQuery(sql, values))
  }

  async get<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R | undefined> {
    return (await this.all<R>(sql, values))[0]
  }

  /** Rows as lists of their columns: for many rows, where the names would cost more than the values. */
  async lists<R extends unknown[]>(sql: string, values: unknown[] = []): Promise<R[]> {
    const query = { ...preparedQuery(sql, values), rowMode: 'array' }
    return (await this.#read<QueryResultRow>(query)) as unknown as R[]
  }

  /** For statements whose best plan depends on their values. */
  async plan<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> {
    return this.#read<R>({ text: sql, values })
  }

  /** A statement that changes something by itself: tried once. Returns `lost` if its outcome is unknown. */
  async once(sql: string, values: unknown[]): Promise<{ row: unknown; lost: boolean }> {
    let isSent = false
    try {
      const { rows } = await this.#use((client) => {
        isSent = true
        return this.#send(client, preparedQuery(sql, values))
      })
      return { row: rows[0], lost: false }
    } catch (error) {
      if (isLost(error)) return { row: undefined, lost: isSent }
      throw fromPostgres(error, this.address)
    }
  }

  /** A statement that cannot be in a transaction and may take any time, such as VACUUM. */
  async maintain(sql: string): Promise<void> {
    await this.#steadily(() =>
      this.#use(async (client) => {
        await this.#send(client, { text: 'SET statement_timeout = 0' })
        try {
          await this.#send(client, { text: sql })
        } finally {
          await this.#send(client, { text: `SET statement_timeout = ${this.#statementMs}` })
        }
      }),
    )
  }

  /** `isDoubtful`: the same was tried before, and its outcome is unknown. */
  async transaction<T>(work: (queries: Transaction) => Promise<T>, isDoubtful = false): Promise<T> {
    let open: Commit<T> | undefined
    const inDoubt = (): boolean => isDoubtful || open !== undefined
    const committed = await this.#steadily(async () => {
      if (open && (await this.#wasCommitted(open.id))) return open
      open = undefined
      return this.#attempt(work, (commit) => (open = commit))
    }, inDoubt)
    for (const callback of committed.after) callback()
    return committed.result
  }

  /** Creates the tables, in its own transaction: there is nothing yet by which it could be looked up. */
  async makeTables(work: (queries: Transaction) => Promise<void>): Promise<void> {
    await this.#steadily(() =>
      this.#inTransaction(async (client, queries) => {
        await queries.all('SET LOCAL statement_timeout = 0')
        await work(queries)
        await this.#send(client, { text: 'COMMIT' })
      }),
    )
  }

  /** Keeps a connection for the notifications of a channel; returns a function that releases it. */
  async listen(channel: string, heard: (payload: string) => void, lost: () => void): Promise<() => void> {
    const client = await this.#steadily(() => this.#acquire())
    let isHeld = true
    // One that receives nothing for long may have died silently.
    const ping = setInterval(() => void this.#send(client, { text: 'SELECT 1' }).catch(() => {}), pingMs)
    ping.unref()
    const leave = (): void => {
      clearInterval(ping)
      if (!isHeld) return
      isHeld = false
      client.release(true)
      // A silent connection is closed only after minutes: the process can end before that.
      this.#linked.lineOf(client).socket.unref()
    }
    client.on('notification', ({ payload }) => heard(payload ?? ''))
    client.on('end', () => {
      if (!isHeld) return
      leave()
      lost()
    })
    try {
      await this.#send(client, { text: `LISTEN ${channel}` })
      return leave
    } catch (error) {
      leave()
      throw fromPostgres(error, this.address)
    }
  }

  async close(): Promise<void> {
    const { pool, link } = this.#linked
    await this.indexing.done()
    if (!pool.ended) await pool.end()
    link.close()
  }

  get #statementMs(): number {
    return this.options.statementMs ?? usualStatementMs
  }

  async #read<R extends QueryResultRow>(query: QueryConfig & { rowMode?: string }): Promise<R[]> {
    try {
      return (await this.#steadily(() => this.#useTogether((client) => this.#send<R>(client, query)))).rows
    } catch (error) {
      // Nothing that is stored contains it.
      if (isNulInText(error)) return []
      throw error
    }
  }

  /** Repeatedly while the connection is lost or another transaction interferes. */
  async #steadily<T>(attempt: () => Promise<T>, inDoubt: () => boolean = () => false): Promise<T> {
    const began = performance.now()
    let lostAt: number | undefined
    let [losses, conflicts] = [0, 0]
    for (;;) {
      try {
        await this.link.reachable(this.#patience, lostAt ?? began)
        return await attempt()
      } catch (error) {
        const isOutage = isLost(error) || (isCancelled(error) && this.link.wasAway(began))
        const isConflict = mayRetry(error) && ++conflicts < mostConflicts
        if (!isConflict && (!isOutage || ++losses > mostLosses)) throw fromPostgres(error, this.address, inDoubt())
        lostAt ??= performance.now()
        if (isOutage) await this.#recovered(lostAt, inDoubt)
        const longestMs = Math.min(mostPauseMs, 25 * 2 ** (losses + conflicts))
        await wait(Math.random() * longestMs)
      }
    }
  }

  async #recovered(lostAt: number, inDoubt: () => boolean): Promise<void> {
    try {
      await this.link.recovered(this.#patience, lostAt)
    } catch (error) {
      throw fromPostgres(error, this.address, inDoubt())
    }
  }

  async #acquire(): Promise<PoolClient> {
    const { connect, link } = this.#linked
    return link.acquire(this.#patience, connect(), (client) => client.release())
  }

  async #use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#acquire()
    let broken = false
    try {
      return await work(client)
    } catch (error) {
      broken = isLost(error)
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** Reads requested while a connection is being acquired for one of them are sent together on it. */
  async #useTogether<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const group = (this.#reading ??= this.#newGroup())
    group.readers++
    try {
      return await work(await group.client)
    } catch (error) {
      group.isBroken ||= isLost(error)
      throw error
    } finally {
      group.readers--
      if (group.readers === 0) void group.client.then((client) => client.release(group.isBroken)).catch(() => {})
    }
  }

  #newGroup(): ReadingGroup {
    const client = this.#acquire()
    const close = (): void => (this.#reading = undefined)
    void client.then(close, close)
    return { client, readers: 0, isBroken: false }
  }

  #send<R extends QueryResultRow>(client: PoolClient, query: QueryConfig): Promise<QueryResult<R>> {
    const { link, lineOf } = this.#linked
    return link.ask(lineOf(client), this.#patience, () => client.query<R>(query))
  }

  async #attempt<T>(
    work: (queries: Transaction) => Promise<T>,
    committing: (commit: Commit<T> | undefined) => void,
  ): Promise<Commit<T>> {
    const after: (() => void)[] = []
    const changes: Promise<unknown>[] = []
    return this.#inTransaction(
      async (client, queries, begun) => {
        const commit = { id: uuidv7(), result: await work(queries), after }
        // Changes that waited for the beginning go first.
        await begun
        committing(commit)
        try {
          // In one round trip. After a change that has failed the first statement fails too, and nothing is committed.
          const text = `INSERT INTO synapse.commits (id) VALUES ('${commit.id}'); COMMIT`
          const committed = this.#send(client, { text })
          committed.catch(() => {})
          await Promise.all(changes)
          await committed
        } catch (error) {
          if (!isLost(error)) committing(undefined)
          throw error
        }
        return commit
      },
      { after, changes },
    )
  }

  /** `work` commits; if it throws, everything is rolled back. */
  #inTransaction<T>(
    work: (client: PoolClient, queries: Transaction, begun: Promise<unknown>) => Promise<T>,
    pending: Pending = { after: [], changes: [] },
  ): Promise<T> {
    return this.#use(async (client) => {
      try {
        const begun = this.#send(client, { text: 'BEGIN' })
        begun.catch(() => {})
        return await work(client, this.#queriesOf(client, begun, pending), begun)
      } catch (error) {
        if (isLost(error)) throw error
        // The connection is returned to the pool only if it is certainly outside the transaction.
        await this.#send(client, { text: 'ROLLBACK' })
        throw error
      }
    })
  }

  /**
   * Whether a transaction was committed whose answer was lost. The check inserts a row that conflicts with the
   * transaction's own: so it waits for a commit in progress, and one that arrives later is refused.
   */
  async #wasCommitted(id: string): Promise<boolean> {
    const { rows } = await this.#use((client) =>
      this.#send<{ claimed: boolean }>(client, {
        text: `INSERT INTO synapse.commits AS c (id, claimed) VALUES ($1, true)
               ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING c.claimed`,
        values: [id],
      }),
    )
    return rows[0]?.claimed === false
  }

  #queriesOf(client: PoolClient, begun: Promise<unknown>, { after, changes }: Pending): Transaction {
    let isBegun = false
    let failed: { error: unknown } | undefined
    const all = async <R extends QueryResultRow>(sql: string, values: unknown[] = []) => {
      try {
        // What only reads need not wait until the transaction has begun: what changes something must be inside of it.
        if (!isBegun && !/^\s*SELECT\b/i.test(sql)) await begun
        const [{ rows }] = await Promise.all([this.#send<R>(client, preparedQuery(sql, values)), begun])
        isBegun = true
        return rows
      } catch (error) {
        // What was sent after the first that failed says only that the transaction is over.
        failed ??= { error }
        throw failed.error
      }
    }
    return {
      all,
      get: async <R extends QueryResultRow>(sql: string, values: unknown[] = []) => (await all<R>(sql, values))[0],
      change(sql, values, named = (error) => error) {
        const changing = all(sql, [...values]).catch((error: unknown) => {
          throw named(error)
        })
        changing.catch(() => {})
        changes.push(changing)
      },
      onceCommitted: (work) => after.push(work),
    }
  }
}

/** Reads that share a connection. */
interface ReadingGroup {
  client: Promise<PoolClient>
  readers: number
  isBroken: boolean
}

/** What belongs to the commit of a transaction. */
interface Pending {
  after: (() => void)[]
  changes: Promise<unknown>[]
}

export async function connect(url: string, options: DatabaseOptions): Promise<Database> {
  const address = displayAddress(url)
  const { connections, statementMs = usualStatementMs } = options
  const explain = (error: unknown): Failure => unreachable(error, address).failure
  const database = new Database(await openPool(url, { connections, statementMs, explain }), address, options)
  try {
    // An address without a server may be a wrong one: that is reported at once.
    await migrate(database.within(0), options.migrating)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

async function migrate(database: Database, migrating: DatabaseOptions['migrating']): Promise<void> {
  if ((await versionOf(database)) === migrations.length) return
  await database.makeTables(async (queries) => {
    // One process at a time; the number is ours alone.
    await queries.all('SELECT pg_advisory_xact_lock(6004235)')
    const version = await versionOf(queries)
    if (version > migrations.length) {
      throw storageError(
        'newer',
        `The database at ${database.address} was written by a newer Synapse (format ${version}, this one knows ${migrations.length}). Update Synapse.`,
      )
    }
    if (version === 0) {
      await queries.all('CREATE SCHEMA IF NOT EXISTS synapse')
      await queries.all('CREATE TABLE synapse.format (version integer NOT NULL)')
      await queries.all('INSERT INTO synapse.format (version) VALUES (0)')
    }
    const steps = migrations.slice(version)
    for (const [index, step] of steps.entries()) {
      for (const statement of step.split(/;\s*\n/)) if (statement.trim() !== '') await queries.all(statement)
      migrating?.(index + 1, steps.length)
    }
    await queries.all('UPDATE synapse.format SET version = $1', [migrations.length])
  })
}

async function versionOf(queries: Queries): Promise<number> {
  // Not by to_regclass: inside a transaction that waited for a lock it may answer from an old cache.
  const table = await queries.get(`SELECT 1 FROM pg_tables WHERE schemaname = 'synapse' AND tablename = 'format'`)
  if (!table) return 0
  return (await queries.get<{ version: number }>('SELECT version FROM synapse.format'))?.version ?? 0
}

const names = new Map<string, string>()

function preparedQuery(text: string, values: unknown[]): { name: string; text: string; values: unknown[] } {
  let name = names.get(text)
  if (name === undefined) {
    name = hash('sha256', text).slice(0, 32)
    names.set(text, name)
  }
  return { name, text, values }
}

/** The address without user and password. */
function displayAddress(url: string): string {
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
