// One connection to a SQLite file: opened with settings that make a commit durable, and verified; statements are
// prepared once; every write is all or nothing. `node:sqlite` is synchronous, so a transaction runs without a pause,
// and waiting for another process is done outside of it, where the rest of this process can continue. Writes requested
// in the same turn of the event loop share one transaction, and thus one disk sync; each is answered after the commit.
//
// `LIMIT ? + 0` and not `LIMIT ?`: SQLite uses a bare limit when it plans, and plans again each time one is bound,
// which takes five times as long as the query (checked 2026-11, SQLite 3.53).

import { setTimeout as wait } from 'node:timers/promises'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { SynapseError } from '../../core/error.ts'
import { failpoint } from '../failpoint.ts'
import { breaksConnection, fromSqlite, isBusy, storageError } from './errors.ts'
import { prepareFile } from './file.ts'
import { beforeOpening, clearMark, markWriting, noticeLostLog } from './lost-log.ts'
import { migrations } from './migrations.ts'
import { nodeProblem } from './node-version.ts'

export interface ConnectionOptions {
  now: () => number
  leaseSkewMs: () => number
  /** How long to wait for another process's transaction. */
  busyMs: number
  /** Called with one sentence that the user should know, although nothing fails. */
  warn?: ((sentence: string) => void) | undefined
  /** Called after each step of an upgrade. */
  migrating?: ((done: number, steps: number) => void) | undefined
}

interface WaitingWrite {
  /** Does it, and returns a function to call when it is durable. */
  run: () => () => void
  reject: (error: unknown) => void
  sync: Sync
}

/**
 * `FULL`: a commit is on disk before it returns. `NORMAL`: it is in the log file, so that it survives this process and
 * others see it, and reaches the disk with the next full one; a loss of power may undo it.
 */
type Sync = 'FULL' | 'NORMAL'

export type Row = Record<string, SQLOutputValue>

const mostRestMs = 10

/** How long one attempt waits for another connection, and holds this thread; then it is repeated a moment later. */
const lockMs = 10
/** There is no later after closing. */
const lastLockMs = 100

/** 'Syna', in the header of every file of ours. */
const applicationId = 0x53796e61

export class Connection {
  readonly path: string
  readonly options: ConnectionOptions
  #database: DatabaseSync | undefined
  #closed = false
  readonly #statements = new Map<string, StatementSync>()
  #waiting: WaitingWrite[] = []
  #restUntil = 0
  #isWriting = false
  #isNextDue = false
  #sync: Sync = 'FULL'

  constructor(path: string, options: ConnectionOptions) {
    this.path = path
    this.options = options
  }

  all<R extends Row>(sql: string, ...values: SQLInputValue[]): R[] {
    return this.#prepare(sql).all(...values) as R[]
  }

  /** Rows as lists of their columns: for many rows, where the names would cost more than the values. */
  lists<R extends SQLOutputValue[]>(sql: string, ...values: SQLInputValue[]): R[] {
    const statement = this.#prepare(sql)
    statement.setReturnArrays(true)
    // The types of node:sqlite lack this setting.
    const rows: unknown = statement.all(...values)
    return rows as R[]
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows the columns
  get<R extends Row>(sql: string, ...values: SQLInputValue[]): R | undefined {
    return this.#prepare(sql).get(...values) as R | undefined
  }

  /** Returns the rowid of the inserted row. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).lastInsertRowid)
  }

  async read<T>(work: () => T): Promise<T> {
    return this.#patiently(work)
  }

  async write<T>(work: () => T, sync: Sync = 'FULL'): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        const result = work()
        return () => resolve(result)
      }
      if (this.#waiting.push({ run, reject, sync }) === 1) this.#soon()
    })
  }

  /** For statements that must run outside of a transaction. */
  async alone(...sql: string[]): Promise<void> {
    for (const one of sql) {
      await this.#patiently(() => {
        this.#setSync('FULL')
        this.#open().exec(one)
      })
    }
  }

  transaction<T>(work: () => T, sync: Sync = 'FULL'): T {
    const database = this.#open()
    this.#setSync(sync)
    this.run('BEGIN IMMEDIATE')
    try {
      const result = work()
      failpoint('sqlite-commit:before')
      this.run('COMMIT')
      failpoint('sqlite-commit:after')
      return result
    } catch (error) {
      // SQLite has already rolled back if the disk failed.
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#quietly(() => this.#database?.exec(`PRAGMA busy_timeout = ${lastLockMs}`))
    void this.#writeWaiting()
    this.#unmark()
    this.#closed = true
    this.#drop()
  }

  /** A write that also marks in the file itself that the log is needed. */
  #marked<T>(work: () => T, sync: Sync): T {
    if (this.path === ':memory:') return this.transaction(work)
    let isNew = false
    const result = this.transaction(() => {
      isNew = markWriting(this)
      return work()
    }, sync)
    if (isNew) this.#quietly(() => this.#open().exec('PRAGMA wal_checkpoint(PASSIVE)'))
    return result
  }

  #unmark(): void {
    if (this.#database && this.path !== ':memory:') this.#quietly(() => clearMark(this))
  }

  /** A failure to set the mark must not fail the write, nor a close. */
  #quietly(work: () => void): void {
    try {
      work()
    } catch {
      // The commit is durable. At worst a lost log is not noticed, or a closed file is mistaken for one that was not.
    }
  }

  /**
   * If many write at once the next ones wait a little and are grouped: otherwise most of the time would be spent on
   * syncs.
   */
  #soon(): void {
    const ms = this.#restUntil - performance.now()
    if (ms > 0) setTimeout(() => void this.#writeWaiting(), ms)
    else setImmediate(() => void this.#writeWaiting())
  }

  async #writeWaiting(): Promise<void> {
    // One group at a time, even if one has to wait for another process: writes build on earlier ones.
    if (this.#isWriting) {
      this.#isNextDue = true
      return
    }
    this.#isWriting = true
    await this.#writeGroup()
    this.#isWriting = false
    if (!this.#isNextDue) return
    this.#isNextDue = false
    void this.#writeWaiting()
  }

  async #writeGroup(): Promise<void> {
    const group = this.#waiting
    this.#waiting = []
    const [first] = group
    if (!first) return
    try {
      if (group.length === 1) (await this.#patiently(() => this.#marked(first.run, first.sync)))()
      else await this.#writeTogether(group)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  async #writeTogether(group: readonly WaitingWrite[]): Promise<void> {
    const began = performance.now()
    const sync = group.some((one) => one.sync === 'FULL') ? 'FULL' : 'NORMAL'
    const answers = await this.#patiently(() => this.#marked(() => group.map((one) => this.#apart(one)), sync))
    for (const answer of answers) answer()
    this.#restUntil = performance.now() + Math.min(mostRestMs, performance.now() - began)
  }

  /** One of several writes of a transaction: if it fails, the others are not affected. */
  #apart({ run, reject }: WaitingWrite): () => void {
    this.run('SAVEPOINT one')
    try {
      const answer = run()
      this.run('RELEASE one')
      return answer
    } catch (error) {
      // If the file or the disk failed, nothing can continue.
      if (breaksConnection(error) || !this.#open().isTransaction) throw error
      this.run('ROLLBACK TO one')
      this.run('RELEASE one')
      return () => reject(fromSqlite(error, this.path))
    }
  }

  #open(): DatabaseSync {
    if (this.#database) return this.#database
    if (this.#closed) throw new SynapseError({ kind: 'internal', message: `The store ${this.path} is closed.` })
    const database = new DatabaseSync(this.path, { timeout: lockMs })
    this.#database = database
    try {
      this.#configure()
      this.#migrate()
    } catch (error) {
      this.#drop()
      throw error
    }
    return database
  }

  #configure(): void {
    const version = `${this.#pragma('SELECT sqlite_version()')}`
    const problem = nodeProblem(process.version, version)
    if (problem !== undefined) throw storageError('unsupported', problem)
    // A foreign database is recognised before anything is changed in it, including its journal mode.
    this.#checkOrigin()
    const mode = this.#pragma('PRAGMA journal_mode = WAL')
    if (mode !== 'wal' && this.path !== ':memory:') {
      throw storageError('unsupported', `${this.path} cannot use a write-ahead log here (${mode}). Use a local disk.`)
    }
    // fullfsync: on macOS a plain fsync leaves the data in the drive's cache.
    this.#open().exec(`
      PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
      PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864;
    `)
    if (this.#pragma('PRAGMA synchronous') !== 2 || this.#pragma('PRAGMA foreign_keys') !== 1) {
      throw storageError('unsupported', `This SQLite (${version}) ignores the settings that make a commit durable.`)
    }
  }

  #checkOrigin(): void {
    const id = this.#pragma('PRAGMA application_id')
    const version = Number(this.#pragma('PRAGMA user_version'))
    if (id === applicationId && version > migrations.length) {
      throw storageError(
        'newer',
        `${this.path} was written by a newer Synapse (format ${version}, this one knows ${migrations.length}). Update Synapse.`,
      )
    }
    const blank = id === 0 && version === 0 && this.#pragma('SELECT count(*) FROM sqlite_schema') === 0
    if (id !== applicationId && !blank) {
      throw storageError('not-a-database', `${this.path} is a database of another program. Use another path.`)
    }
  }

  #migrate(): void {
    if (this.#pragma('PRAGMA user_version') === migrations.length) return
    this.transaction(() => {
      const done = Number(this.#pragma('PRAGMA user_version'))
      const steps = migrations.slice(done)
      for (const [index, step] of steps.entries()) {
        this.#open().exec(step)
        failpoint('sqlite-migration')
        this.options.migrating?.(index + 1, steps.length)
      }
      this.#open().exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`)
    })
  }

  /** A setting of the connection, which can be changed between two transactions. */
  #setSync(sync: Sync): void {
    if (this.#sync === sync) return
    this.#open().exec(`PRAGMA synchronous = ${sync}`)
    this.#sync = sync
  }

  #pragma(sql: string): string | number {
    const [value] = Object.values(this.#open().prepare(sql).get() ?? {})
    return typeof value === 'string' || typeof value === 'number' ? value : ''
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.#open().prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  async #patiently<T>(work: () => T): Promise<T> {
    const until = performance.now() + this.options.busyMs
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (breaksConnection(error) && this.path !== ':memory:') this.#drop()
        if (!isBusy(error) || performance.now() > until) throw fromSqlite(error, this.path)
      }
      await wait(5 + Math.random() * 20)
    }
  }

  #drop(): void {
    this.#statements.clear()
    const database = this.#database
    this.#database = undefined
    // As a new connection is configured.
    this.#sync = 'FULL'
    if (database?.isOpen) database.close()
  }
}

/** Creates the file if it does not exist, and upgrades its schema. */
export async function connect(path: string, options: ConnectionOptions): Promise<Connection> {
  if (path !== ':memory:') prepareFile(path, (draft) => createSchema(draft, path, options))
  const before = beforeOpening(path)
  const connection = new Connection(path, options)
  // At once, so that a problem with the file is reported now and not with the first message.
  const lost = await connection.read(() => noticeLostLog(connection, before))
  if (lost !== undefined) options.warn?.(lost)
  return connection
}

function createSchema(draft: string, path: string, options: ConnectionOptions): void {
  const connection = new Connection(draft, options)
  try {
    connection.all('SELECT 1')
  } catch (error) {
    throw fromSqlite(error, path)
  } finally {
    connection.close()
  }
}
