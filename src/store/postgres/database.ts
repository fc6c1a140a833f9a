// Statements and transactions on PostgreSQL: planned once per connection, and tried again when another one got in the way
// or the connection broke, for as long as there is patience. When it breaks during a commit, another connection finds out
// what became of it: nothing is done twice, and nothing that was done is called lost.

import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { SynapseError, type Failure } from '../../core/error.ts'
import { uuidv7 } from '../ids.ts'
import { fromPostgres, isCancelled, isLost, mayRetry, storageError, unreachable } from './errors.ts'
import type { Patience } from './link.ts'
import { migrations } from './migrations.ts'
import { openPool, type LinkedPool } from './pool.ts'
import { Indexing } from './search-index.ts'

export interface DatabaseOptions {
  now: () => number
  leaseSkewMs: () => number
  connections: number
  /** How long a call waits for a server that is away; 60 seconds by default. */
  waitMs?: number
  /** How long a statement may take; 60 seconds by default, 0 for any time. */
  statementMs?: number
}

const usualWaitMs = 60_000
const usualStatementMs = 60_000
/** Transactions that get into each other's way are tried this often. */
const mostConflicts = 5
/** A call that loses its connection so often, though the server is there, may be what breaks it. */
const mostLosses = 20
const mostPauseMs = 1000
const pingMs = 5000

/** Something that statements can be sent to: the pool, or one transaction. */
export interface Queries {
  all<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<R[]>
  get<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<R | undefined>
  /** Does it as soon as what was sent before is committed. */
  onceCommitted(work: () => void): void
}

/** A transaction that was about to be committed. */
interface Commit<T> {
  id: string
  result: T
  after: (() => void)[]
}

/** Outside of a transaction it sends what only reads, or may be done twice: such statements are tried again. */
export class Database implements Queries {
  readonly place: string
  readonly options: DatabaseOptions
  readonly indexing: Indexing
  readonly #linked: LinkedPool
  readonly #patience: Patience

  constructor(
    linked: LinkedPool,
    place: string,
    options: DatabaseOptions,
    task?: { indexing: Indexing; until: number },
  ) {
    this.#linked = linked
    this.place = place
    this.options = options
    this.indexing = task?.indexing ?? new Indexing(this)
    this.#patience = task ? { until: task.until } : { forMs: options.waitMs ?? usualWaitMs }
  }

  /** The same for a task that has this long: it does not wait for a server that is away beyond that. */
  within(ms: number): Database {
    const task = { indexing: this.indexing, until: performance.now() + ms }
    return new Database(this.#linked, this.place, this.options, task)
  }

  get link(): LinkedPool['link'] {
    return this.#linked.link
  }

  async all<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> {
    return (await this.#read<R>(prepared(sql, values))).rows
  }

  async get<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R | undefined> {
    return (await this.all<R>(sql, values))[0]
  }

  /** Rows as lists of their columns: for many rows, where the names would cost more than the values. */
  async lists<R extends unknown[]>(sql: string, values: unknown[] = []): Promise<R[]> {
    const query = { ...prepared(sql, values), rowMode: 'array' }
    return (await this.#read<QueryResultRow>(query)).rows as unknown as R[]
  }

  /** For statements whose best plan depends on their values. */
  async plan<R extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> {
    return (await this.#read<R>({ text: sql, values })).rows
  }

  /** At once: outside of a transaction a statement is committed when it is answered. */
  onceCommitted(work: () => void): void {
    work()
  }

  /** A statement that changes something by itself: tried once. Gives `lost` when no one knows what became of it. */
  async once(sql: string, values: unknown[]): Promise<{ row: unknown; lost: boolean }> {
    let isSent = false
    try {
      const { rows } = await this.#use((client) => {
        isSent = true
        return this.#send(client, prepared(sql, values))
      })
      return { row: rows[0], lost: false }
    } catch (error) {
      if (isLost(error)) return { row: undefined, lost: isSent }
      throw fromPostgres(error, this.place)
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

  /** `isDoubtful`: the same was tried before, and no one knows what became of it. */
  async transaction<T>(work: (queries: Queries) => Promise<T>, isDoubtful = false): Promise<T> {
    let open: Commit<T> | undefined
    const inDoubt = (): boolean => isDoubtful || open !== undefined
    const done = await this.#steadily(async () => {
      if (open && (await this.#wasCommitted(open.id))) return open
      open = undefined
      return this.#attempt(work, (commit) => (open = commit))
    }, inDoubt)
    for (const one of done.after) one()
    return done.result
  }

  /** Makes the tables, inside a transaction of its own: there is nothing yet by which it could be looked up. */
  async makeTables(work: (queries: Queries) => Promise<void>): Promise<void> {
    await this.#steadily(() =>
      this.#inTransaction(async (client, queries) => {
        await queries.all('SET LOCAL statement_timeout = 0')
        await work(queries)
        await this.#send(client, { text: 'COMMIT' })
      }),
    )
  }

  /** Keeps a connection for what is notified on a channel; gives a way to let go of it. */
  async listen(channel: string, heard: (payload: string) => void, lost: () => void): Promise<() => void> {
    const client = await this.#steadily(() => this.#acquire())
    let held = true
    // One that hears nothing for long may have died without a word.
    const ping = setInterval(() => void this.#send(client, { text: 'SELECT 1' }).catch(() => {}), pingMs)
    ping.unref()
    const leave = (): void => {
      clearInterval(ping)
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
      await this.#send(client, { text: `LISTEN ${channel}` })
      return leave
    } catch (error) {
      leave()
      throw fromPostgres(error, this.place)
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

  #read<R extends QueryResultRow>(query: QueryConfig & { rowMode?: string }): Promise<QueryResult<R>> {
    return this.#steadily(() => this.#use((client) => this.#send<R>(client, query)))
  }

  /** Again and again while the connection is lost or another transaction is in the way. */
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
        if (!isConflict && (!isOutage || ++losses > mostLosses)) throw fromPostgres(error, this.place, inDoubt())
        lostAt ??= performance.now()
        if (isOutage) await this.#recovered(lostAt, inDoubt)
        const most = Math.min(mostPauseMs, 25 * 2 ** (losses + conflicts))
        await wait(Math.random() * most)
      }
    }
  }

  async #recovered(lostAt: number, inDoubt: () => boolean): Promise<void> {
    try {
      await this.link.recovered(this.#patience, lostAt)
    } catch (error) {
      throw fromPostgres(error, this.place, inDoubt())
    }
  }

  async #acquire(): Promise<PoolClient> {
    const { pool, link } = this.#linked
    return link.acquire(this.#patience, pool.connect(), (client) => client.release())
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

  #send<R extends QueryResultRow>(client: PoolClient, query: QueryConfig): Promise<QueryResult<R>> {
    const { link, lineOf } = this.#linked
    return link.ask(lineOf(client), this.#patience, () => client.query<R>(query))
  }

  async #attempt<T>(
    work: (queries: Queries) => Promise<T>,
    committing: (commit: Commit<T> | undefined) => void,
  ): Promise<Commit<T>> {
    const after: (() => void)[] = []
    return this.#inTransaction(async (client, queries) => {
      const commit = { id: uuidv7(), result: await work(queries), after }
      committing(commit)
      try {
        // In one way there and back.
        await this.#send(client, { text: `INSERT INTO synapse.commits (id) VALUES ('${commit.id}'); COMMIT` })
      } catch (error) {
        if (!isLost(error)) committing(undefined)
        throw error
      }
      return commit
    }, after)
  }

  /** `work` commits; whatever it throws is rolled back. */
  #inTransaction<T>(
    work: (client: PoolClient, queries: Queries) => Promise<T>,
    after: (() => void)[] = [],
  ): Promise<T> {
    return this.#use(async (client) => {
      try {
        await this.#send(client, { text: 'BEGIN' })
        return await work(client, this.#queriesOf(client, after))
      } catch (error) {
        if (isLost(error)) throw error
        // The connection goes back to the pool only if it is known to be out of the transaction.
        await this.#send(client, { text: 'ROLLBACK' })
        throw error
      }
    })
  }

  /**
   * Whether a transaction was committed whose answer is lost. What is asked with is a row that stands against the
   * transaction's own: so a commit that is still under way is waited for, and one that arrives later is refused.
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

  #queriesOf(client: PoolClient, after: (() => void)[]): Queries {
    const all = async <R extends QueryResultRow>(sql: string, values: unknown[] = []) =>
      (await this.#send<R>(client, prepared(sql, values))).rows
    return {
      all,
      get: async <R extends QueryResultRow>(sql: string, values: unknown[] = []) => (await all<R>(sql, values))[0],
      onceCommitted: (work) => after.push(work),
    }
  }
}

export async function connect(url: string, options: DatabaseOptions): Promise<Database> {
  const place = placeOf(url)
  const { connections, statementMs = usualStatementMs } = options
  const explain = (error: unknown): Failure => unreachable(error, place).failure
  const database = new Database(await openPool(url, { connections, statementMs, explain }), place, options)
  try {
    // An address where no one is may be a wrong one: that is said at once.
    await migrate(database.within(0))
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

async function migrate(database: Database): Promise<void> {
  if ((await versionOf(database)) === migrations.length) return
  await database.makeTables(async (queries) => {
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
