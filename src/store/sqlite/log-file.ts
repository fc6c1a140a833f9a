// The write-ahead log of an open database, opened as a file: it is synced here and not by SQLite, which would block this
// thread until the disk has answered. SQLite locks other files, so closing this one releases none of its locks.

import { closeSync, fdatasync, fdatasyncSync, fstatSync, openSync, readSync, realpathSync, writeSync } from 'node:fs'

/** Undefined if it cannot be opened: then SQLite has to sync it. */
export function openLogFile(path: string): LogFile | undefined {
  try {
    // It is next to the file that a symbolic link refers to.
    return new LogFile(openSync(`${realpathSync(path)}-wal`, 'r+'))
  } catch {
    return undefined
  }
}

export class LogFile {
  readonly #file: number
  #syncing = 0
  #isClosing = false

  constructor(file: number) {
    this.#file = file
  }

  /** Everything that has been committed is on disk then. */
  sync(): Promise<void> {
    this.#syncing++
    return new Promise((resolve, reject) => {
      fdatasync(this.#file, (error) => {
        this.#syncing--
        if (this.#isClosing) this.close()
        if (error) reject(error)
        else resolve()
      })
    })
  }

  /** The same bytes at the same place, and on disk. Nothing else may be writing to it meanwhile. */
  writeAgain(): void {
    const bytes = Buffer.alloc(fstatSync(this.#file).size)
    const size = readSync(this.#file, bytes, 0, bytes.length, 0)
    for (let written = 0; written < size;) written += writeSync(this.#file, bytes, written, size - written, written)
    fdatasyncSync(this.#file)
  }

  /** Not before a sync has ended: the number of the file would be that of another one. */
  close(): void {
    this.#isClosing = true
    if (this.#syncing === 0) closeSync(this.#file)
  }
}
