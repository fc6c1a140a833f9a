// The file of a SQLite store, before it is opened. A new file is created next to its path and moved there complete, so
// that an empty or headerless file can only mean damage: it is never treated as a new one.

import { accessSync, closeSync, constants, fsyncSync, linkSync, mkdirSync, openSync, readSync } from 'node:fs'
import { renameSync, rmSync, statSync, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { badInput } from '../../core/error.ts'
import { failpoint } from '../failpoint.ts'
import { uuidv7 } from '../ids.ts'
import { folderError, storageError, whatToDo } from './errors.ts'

/**
 * Creates the file with `make`, which gets another path, unless it exists; otherwise checks that it can be one of ours.
 */
export function prepareFile(path: string, make: (path: string) => void): void {
  const existing = stats(path)
  if (existing) return checkFile(path, existing)
  if ((stats(`${path}-wal`)?.size ?? 0) > 0) {
    throw storageError(
      'damaged',
      `${path} is missing, but ${basename(path)}-wal with its last changes is still there. Restore the file, or move the log to another folder.`,
    )
  }
  makeFolder(dirname(path))
  createFile(path, make)
}

/** For the library: a mistyped path would create an empty store somewhere else. */
export function checkFolder(path: string): void {
  const folder = dirname(path)
  if (stats(folder)) return
  throw badInput(`The folder ${folder} of the store does not exist: create it, or give another path.`)
}

function checkFile(path: string, file: Stats): void {
  if (file.isDirectory()) throw folderError(path)
  if (file.size === 0) {
    throw storageError(
      'damaged',
      `${path} is empty: its content is lost. Restore a backup, or delete the file to start again.`,
    )
  }
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw storageError(
      'read-only',
      `${path} cannot be read and written (${codeOf(error)}). Change its permissions.`,
      error,
    )
  }
  checkWritable(dirname(path))
  const { isDatabase, pageSize, pages } = headerOf(path)
  if (!isDatabase) {
    throw storageError('not-a-database', `${path} is not a database. It was left as it is; use another path.`)
  }
  // With a log the file may be shorter than its header says: the rest is still in the log.
  if (file.size < Math.max(pageSize * pages, 512) && !stats(`${path}-wal`)?.size) {
    throw storageError('damaged', `The database ${path} is cut off at ${file.size} bytes. ${whatToDo}`)
  }
}

interface Header {
  isDatabase: boolean
  pageSize: number
  pages: number
}

export function headerOf(path: string): Header {
  const header = readHeader(path)
  return {
    isDatabase: header.toString('latin1', 0, 16) === 'SQLite format 3\0',
    pageSize: header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16),
    pages: header.readUInt32BE(28),
  }
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  try {
    readSync(file, header, 0, header.length, 0)
  } finally {
    closeSync(file)
  }
  return header
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw storageError(
      'cannot-open',
      `The folder ${folder} cannot be created (${codeOf(error)}). Use another path.`,
      error,
    )
  }
  checkWritable(folder)
}

function checkWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw storageError(
      'read-only',
      `The folder ${folder} cannot be written (${codeOf(error)}). Change its permissions, or use another path.`,
      error,
    )
  }
}

function createFile(path: string, make: (path: string) => void): void {
  const draft = join(dirname(path), `.${basename(path)}-${uuidv7()}`)
  try {
    closeSync(openSync(draft, 'wx', 0o600))
    make(draft)
    failpoint('sqlite-new-file:before')
    place(draft, path)
    failpoint('sqlite-new-file:after')
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    throw storageError('cannot-open', `${path} cannot be created (${codeOf(error)}). Use another path.`, error)
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(draft + end, { force: true })
  }
  syncFolder(dirname(path))
}

/** Another process may have been faster: then its file is used, and ours is deleted. */
function place(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'ENOTSUP') throw error
    // A file system without hard links.
    if (!stats(path)) renameSync(draft, path)
  }
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function stats(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw storageError(
      'cannot-open',
      `${path} cannot be opened (${codeOf(error)}). Check the path and its permissions.`,
      error,
    )
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
