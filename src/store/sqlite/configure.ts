// The settings of a SQLite database that make its commits durable, verified, and the format of the file in its header.

import type { DatabaseSync } from 'node:sqlite'
import { storageError } from './errors.ts'
import { migrations } from './migrations.ts'
import { nodeProblem } from './node-version.ts'

/** 'Syna', in the header of every file of ours. */
const applicationId = 0x53796e61

/** Of the log, when SQLite has to copy it into the file within a commit. */
const mostPages = 10_000

/** Throws if the file is not ours, or if its commits would not be durable. */
export function configure(database: DatabaseSync, path: string): void {
  const version = `${valueOf(database, 'SELECT sqlite_version()')}`
  const problem = nodeProblem(process.version, version)
  if (problem !== undefined) throw storageError('unsupported', problem)
  // A foreign database is recognised before anything is changed in it, including its journal mode.
  checkOrigin(database, path)
  const mode = valueOf(database, 'PRAGMA journal_mode = WAL')
  if (mode !== 'wal' && path !== ':memory:') {
    throw storageError('unsupported', `${path} cannot use a write-ahead log here (${mode}). Use a local disk.`)
  }
  // fullfsync: on macOS a plain fsync leaves the data in the drive's cache.
  database.exec(`
    PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
    PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = ${mostPages};
  `)
  if (valueOf(database, 'PRAGMA synchronous') !== 2 || valueOf(database, 'PRAGMA foreign_keys') !== 1) {
    throw storageError('unsupported', `This SQLite (${version}) ignores the settings that make a commit durable.`)
  }
}

/** The number of migrations that the file has. */
export function formatOf(database: DatabaseSync): number {
  return Number(valueOf(database, 'PRAGMA user_version'))
}

export function setFormat(database: DatabaseSync, format: number): void {
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${format}`)
}

function checkOrigin(database: DatabaseSync, path: string): void {
  const id = valueOf(database, 'PRAGMA application_id')
  const format = formatOf(database)
  if (id === applicationId && format > migrations.length) {
    throw storageError(
      'newer',
      `${path} was written by a newer Synapse (format ${format}, this one knows ${migrations.length}). Update Synapse.`,
    )
  }
  const blank = id === 0 && format === 0 && valueOf(database, 'SELECT count(*) FROM sqlite_schema') === 0
  if (id !== applicationId && !blank) {
    throw storageError('not-a-database', `${path} is a database of another program. Use another path.`)
  }
}

/** The first column of the first row. */
function valueOf(database: DatabaseSync, sql: string): string | number {
  const [value] = Object.values(database.prepare(sql).get() ?? {})
  return typeof value === 'string' || typeof value === 'number' ? value : ''
}
