// Copies the write-ahead log into its file in a separate thread. SQLite would do that at the end of a commit, and hold
// this thread while the pages are copied and the disk is awaited twice.

import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/**
 * The file is opened for each checkpoint, and only if it exists: the connection that is closed last removes the log, and
 * that must not be this one's while it waits. A failure loses nothing: the log is still there for the next one.
 */
const script = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { DatabaseSync } = require('node:sqlite')
  parentPort.on('message', () => {
    try {
      const database = new DatabaseSync(new URL(workerData))
      database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA wal_checkpoint(PASSIVE)')
      database.close()
    } catch {}
    parentPort.postMessage('done')
  })`

export class Checkpoints {
  readonly #address: string
  #worker: Worker | undefined
  #isBroken = false
  #running: PromiseWithResolvers<void> | undefined

  constructor(path: string) {
    this.#address = `${pathToFileURL(path).href}?mode=rw`
  }

  /** Of the current one. What is written before its end is not in it, and the log would grow. */
  get running(): Promise<void> | undefined {
    return this.#running?.promise
  }

  /** Starts one, unless one is running. */
  start(): void {
    if (this.#isBroken || this.#running) return
    try {
      const worker = (this.#worker ??= this.#thread())
      worker.ref()
      worker.postMessage('checkpoint', [])
      this.#running = Promise.withResolvers()
    } catch {
      this.#isBroken = true
    }
  }

  close(): void {
    void this.#worker?.terminate()
  }

  #thread(): Worker {
    const worker = new Worker(script, { eval: true, workerData: this.#address, execArgv: ['--no-warnings'], env: {} })
    worker.on('message', () => {
      // An idle thread does not keep the process running.
      worker.unref()
      this.#end()
    })
    // Without the thread, SQLite does it when the log has become long.
    worker.on('error', () => (this.#isBroken = true))
    worker.on('exit', () => this.#end())
    return worker
  }

  #end(): void {
    this.#running?.resolve()
    this.#running = undefined
  }
}
