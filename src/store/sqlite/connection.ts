// One connection to a SQLite file: opened with settings that make a commit durable, and verified; statements are
// prepared once; every write is all or nothing. `node:sqlite` is synchronous, so a transaction runs without a pause.
// What can take long is done outside of it, where the rest of this process can continue: waiting for another process,
// and for the disk. Writes are done in groups (write-queue.ts).
//
// `LIMIT ? + 0` and not `LIMIT ?`: SQLite uses a bare limit when it plans, and plans again each time one is bound,
// which takes five times as long as the query (checked 2026-11, SQLite 3.53).

import { setTimeout as wait } from 'node:timers/promises'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { SynapseError } from '../../core/error.ts'
import { failpoint } from '../failpoint.ts'
import { Checkpoints } from './checkpoints.ts'
import { configure, formatOf, setFormat } from './configure.ts'
import { breaksConnection, fromDisk, fromSqlite, isBusy, storageError } from './errors.ts'
import { prepareFile } from './file.ts'
import { openLogFile, type LogFile } from './log-file.ts'
import { beforeOpening, clearMark, markWriting, noticeLostLog } from './lost-log.ts'
import { migrations } from './migrations.ts'
import { WriteQueue, type WaitingWrite } from './write-queue.ts'

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

/**
 * `FULL`: a commit is on disk before it returns. `NORMAL`: it is in the log file, so that it survives this process and
 * others see it, and reaches the disk with the next sync of that file; a loss of power may undo it.
 */
type Sync = 'FULL' | 'NORMAL'

export type Row = Record<string, SQLOutputValue>

/** How long one attempt waits for another connection, and holds this thread; then it is repeated a moment later. */
const lockMs = 10
/** When closing, which is not repeated later. */
const lastLockMs = 100

const pageSize = 4096
/** About how many bytes of pages are in the log when it is copied into the file. */
const checkpointSize = 1000 * pageSize

export class Connection {
  readonly path: string
  readonly options: ConnectionOptions
  #database: DatabaseSync | undefined
  #log: LogFile | undefined
  #closed = false
  readonly #statements = new Map<string, StatementSync>()
  readonly #writes: WriteQueue
  /** The last sync failed: what it should have written may be lost. */
  #needsRewrite = false
  #sync: Sync = 'FULL'
  readonly #checkpoints: Checkpoints | undefined
  /** An estimate of the bytes of pages that were written since the last checkpoint. */
  #logged = 0

  constructor(path: string, options: ConnectionOptions) {
    this.path = path
    this.options = options
    if (path !== ':memory:') this.#checkpoints = new Checkpoints(path)
    this.#writes = new WriteQueue({
      begin: () => this.#checkpoints?.running,
      commit: (group) => this.#commitGroup(group),
      sync: () => this.#syncLog(),
      end: () => this.#checkpointIfDue(),
    })
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
    this.#logged += pageSize
    for (const value of values) {
      if (typeof value === 'string') this.#logged += value.length
      else if (value instanceof Uint8Array) this.#logged += value.byteLength
    }
    return Number(this.#prepare(sql).run(...values).lastInsertRowid)
  }

  async read<T>(work: () => T): Promise<T> {
    return this.#retryWhileBusy(work)
  }

  /**
   * One that is not durable is answered once every process sees it; a loss of power may undo it. `onDone` is called with
   * its result before it is committed: what is written in this turn of the event loop is in the same commit.
   */
  async write<T>(work: () => T, isDurable: boolean = true, onDone?: (result: T) => void): Promise<T> {
    return this.#writes.add(work, isDurable, onDone)
  }

  /** For statements that must run outside of a transaction. */
  async alone(...sql: string[]): Promise<void> {
    for (const statement of sql) {
      await this.#retryWhileBusy(() => {
        this.#setSync('FULL')
        this.#open().exec(statement)
      })
    }
  }

  /** Durable when it returns. */
  transaction<T>(work: () => T): T {
    this.#begin('FULL')
    try {
      const result = work()
      this.#commit()
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #begin(sync: Sync): void {
    this.#open()
    this.#setSync(sync)
    this.run('BEGIN IMMEDIATE')
  }

  #commit(): void {
    failpoint('sqlite-commit:before')
    this.run('COMMIT')
    failpoint('sqlite-commit:after')
  }

  /** SQLite has already done it if the disk failed. */
  #rollBack(): void {
    if (this.#database?.isTransaction) this.#database.exec('ROLLBACK')
  }

  /** Waits for all writes that were requested. */
  async written(): Promise<void> {
    await this.#writes.settled()
    await this.#checkpoints?.running
  }

  close(): void {
    this.#quietly(() => this.#database?.exec(`PRAGMA busy_timeout = ${lastLockMs}`))
    this.#unmark()
    this.#closed = true
    this.#checkpoints?.close()
    this.#drop()
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

  /** All in one transaction, with those that were added to the group meanwhile. Returns what answers each. */
  async #commitGroup(group: WaitingWrite[]): Promise<(() => void)[]> {
    await this.#beginWhenFree()
    try {
      let isNew = this.#mark()
      let answers = this.#runAll(group)
      if (!answers) {
        this.#rollBack()
        await this.#beginWhenFree()
        isNew = this.#mark()
        answers = group.map((write) => this.#runInSavepoint(write))
      }
      const done = group.filter((write) => write.onDone)
      if (done.length > 0) {
        const database = this.#database
        for (const { onDone } of done) onDone?.()
        await allMicrotasks()
        // A read may have found the disk broken.
        if (this.#database !== database) throw storageError('io', `Reading ${this.path} failed. Nothing was saved.`)
        const added = this.#writes.take()
        group.push(...added)
        answers.push(...this.#runAdded(added))
      }
      this.#commit()
      if (isNew) this.#quietly(() => this.#open().exec('PRAGMA wal_checkpoint(PASSIVE)'))
      return answers
    } catch (error) {
      this.#rollBack()
      throw this.#errorAfter(error)
    }
  }

  /** Once a transaction has begun, no statement of it finds the file locked. */
  async #beginWhenFree(): Promise<void> {
    await this.#retryWhileBusy(() => {
      this.#rewriteLog()
      this.#open()
      this.#begin(this.#log ? 'NORMAL' : 'FULL')
    })
  }

  /** The file itself says that its log is needed. Whether it did not before. */
  #mark(): boolean {
    return this.path !== ':memory:' && markWriting(this)
  }

  /**
   * Undefined if one of several has failed: they are done again then, each with a savepoint. For most groups that would
   * be in vain, and SQLite copies each page that changes after a savepoint.
   */
  #runAll(group: readonly WaitingWrite[]): (() => void)[] | undefined {
    try {
      return group.map((write) => write.run())
    } catch (error) {
      if (group.length === 1 || this.#isFatal(error)) throw error
      return undefined
    }
  }

  #checkpointIfDue(): void {
    if (this.#logged < checkpointSize) return
    this.#logged = 0
    this.#checkpoints?.start()
  }

  /** Waits until the commit is on disk, without holding the rest of this process. */
  async #syncLog(): Promise<void> {
    try {
      await this.#log?.sync()
    } catch (error) {
      this.#needsRewrite = true
      throw fromDisk(error, this.path)
    }
  }

  /**
   * After a failed sync the system may consider pages written that are not. Later commits would be lost with them, so the
   * log is written again before them.
   */
  #rewriteLog(): void {
    if (!this.#needsRewrite) return
    this.#open()
    this.run('BEGIN IMMEDIATE')
    try {
      this.#log?.writeAgain()
      this.#needsRewrite = false
    } catch (error) {
      throw fromDisk(error, this.path)
    } finally {
      this.run('ROLLBACK')
    }
  }

  /** Writes that were added to a transaction: if one fails, what was done before is not affected. */
  #runAdded(writes: readonly WaitingWrite[]): (() => void)[] {
    if (writes.length < 2) return writes.map((write) => this.#runInSavepoint(write))
    this.run('SAVEPOINT added')
    const answers = this.#runAll(writes)
    if (!answers) this.run('ROLLBACK TO added')
    this.run('RELEASE added')
    return answers ?? writes.map((write) => this.#runInSavepoint(write))
  }

  /** One of several writes of a transaction: if it fails, the others are not affected. */
  #runInSavepoint({ run, reject }: WaitingWrite): () => void {
    this.run('SAVEPOINT one')
    try {
      const answer = run()
      this.run('RELEASE one')
      return answer
    } catch (error) {
      if (this.#isFatal(error)) throw error
      this.run('ROLLBACK TO one')
      this.run('RELEASE one')
      return () => reject(fromSqlite(error, this.path))
    }
  }

  /** If the file or the disk failed, nothing can continue. */
  #isFatal(error: unknown): boolean {
    return breaksConnection(error) || !this.#open().isTransaction
  }

  #open(): DatabaseSync {
    if (this.#database) return this.#database
    if (this.#closed) throw new SynapseError({ kind: 'internal', message: `The store ${this.path} is closed.` })
    const database = new DatabaseSync(this.path, { timeout: lockMs })
    this.#database = database
    try {
      configure(database, this.path)
      this.#migrate()
      if (this.path !== ':memory:') this.#log = openLogFile(this.path)
    } catch (error) {
      this.#drop()
      throw error
    }
    return database
  }

  #migrate(): void {
    if (formatOf(this.#open()) === migrations.length) return
    this.transaction(() => {
      const steps = migrations.slice(formatOf(this.#open()))
      for (const [index, step] of steps.entries()) {
        this.#open().exec(step)
        failpoint('sqlite-migration')
        this.options.migrating?.(index + 1, steps.length)
      }
      setFormat(this.#open(), migrations.length)
    })
  }

  /** A setting of the connection, which can be changed between two transactions. */
  #setSync(sync: Sync): void {
    if (this.#sync === sync) return
    this.#open().exec(`PRAGMA synchronous = ${sync}`)
    this.#sync = sync
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.#open().prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  async #retryWhileBusy<T>(work: () => T): Promise<T> {
    const until = performance.now() + this.options.busyMs
    for (;;) {
      try {
        return work()
      } catch (error) {
        const failure = this.#errorAfter(error)
        if (!isBusy(error) || performance.now() > until) throw failure
      }
      await wait(5 + Math.random() * 20)
    }
  }

  /** The error for the caller; a connection that cannot be trusted any more is closed. */
  #errorAfter(error: unknown): unknown {
    if (breaksConnection(error) && this.path !== ':memory:') this.#drop()
    return fromSqlite(error, this.path)
  }

  #drop(): void {
    this.#statements.clear()
    this.#log?.close()
    this.#log = undefined
    const database = this.#database
    this.#database = undefined
    // As a new connection is configured.
    this.#sync = 'FULL'
    if (database?.isOpen) database.close()
  }
}

/** Waits for all that is done in this turn of the event loop. */
async function allMicrotasks(): Promise<void> {
  // From a microtask, a tick comes after all of them.
  await Promise.resolve()
  return new Promise((resolve) => process.nextTick(resolve))
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
