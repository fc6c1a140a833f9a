// Errors of SQLite, as one sentence for the user: what happened, to which file, and what to do.

import { SynapseError } from '../../core/error.ts'

export type StorageCode =
  | 'full'
  | 'io'
  | 'damaged'
  | 'not-a-database'
  | 'read-only'
  | 'cannot-open'
  | 'busy'
  | 'newer'
  | 'unsupported'
  | 'failed'

export function storageError(code: StorageCode, message: string, cause?: unknown): SynapseError {
  return new SynapseError({ kind: 'storage', code, message }, cause === undefined ? {} : { cause })
}

export function folderError(path: string): SynapseError {
  return storageError('not-a-database', `${path} is a folder. Give the path of a file.`)
}

/** Our own errors are passed on. */
export function fromSqlite(error: unknown, path: string): unknown {
  const number = sqliteCode(error)
  if (number === undefined) return error
  const words = error instanceof Error ? error.message : 'unknown error'
  const [code, message] = sentence(number & 0xff, path, words)
  return storageError(code, message, error)
}

/** An error of the file system. */
export function fromDisk(error: unknown, path: string): SynapseError {
  const words = error instanceof Error ? error.message : 'unknown error'
  const isFull = error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  const [code, message] = sentence(isFull ? 13 : 10, path, words)
  return storageError(code, message, error)
}

/** The extended result code, if the error is SQLite's. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && ((code & 0xff) === 5 || (code & 0xff) === 6)
}

/** After one of these the connection's view of the file cannot be trusted: a failed fsync must not be retried. */
export function breaksConnection(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && ((code & 0xff) === 10 || (code & 0xff) === 11)
}

export function isUniqueViolation(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === 2067 || code === 1555
}

/** For a damaged file: it is never repaired or recreated automatically. */
export const whatToDo =
  'Keep the file, and restore a backup; "synapse doctor --repair" saves what can be read to a copy.'

function sentence(primary: number, path: string, words: string): [StorageCode, string] {
  switch (primary) {
    case 13:
      return [
        'full',
        `There is no space left for ${path}. Nothing of the last change was saved; free some space and continue.`,
      ]
    case 10:
      return ['io', `Reading or writing ${path} failed (${words}). The last change may not be saved; check the disk.`]
    case 11:
      return ['damaged', `The database ${path} is damaged (${words}). ${whatToDo}`]
    case 26:
      return ['not-a-database', `${path} is not a database. It was left as it is; use another path.`]
    case 3:
    case 8:
    case 23:
      return [
        'read-only',
        `${path} cannot be written (${words}). Change the permissions of the file and its folder, or use another path.`,
      ]
    case 14:
      return ['cannot-open', `${path} cannot be opened (${words}). Check that its folder exists and can be written.`]
    case 5:
    case 6:
      return ['busy', `Another process has locked ${path} for too long. Nothing was saved; try again.`]
    default:
      return ['failed', `The database ${path} failed: ${words}.`]
  }
}
