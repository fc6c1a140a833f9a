// A store by its address: a file is SQLite, a URL is PostgreSQL, none is memory. Only the one that is wanted is loaded.

import { SynapseError } from '../core/error.ts'
import type { PostgresOptions } from './postgres.ts'
import type { SqliteOptions } from './sqlite.ts'
import { nodeProblem } from './sqlite/node-version.ts'
import type { Store, StoreOptions } from './store.ts'

/**
 * Opens a store: a file for SQLite, a `postgres://` URL, or nothing for memory. `openSynapse` takes the same address, or
 * the store itself, which several of them can share.
 */
export async function openStore(address?: string, options: Pick<StoreOptions, 'warn'> = {}): Promise<Store> {
  if (address === undefined) return openMemoryStore()
  return isPostgres(address) ? openPostgresStore(address) : openSqliteStore(address, options)
}

export function isPostgres(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address)
}

/** A store that lasts as long as the process. */
export async function openMemoryStore(options?: StoreOptions): Promise<Store> {
  const memory = await import('./memory.ts')
  return memory.openMemoryStore(options)
}

/** One SQLite file, which several processes may share. It is made if there is none. */
export async function openSqliteStore(path: string, options?: SqliteOptions): Promise<Store> {
  // Before the import, which fails with a stack trace where there is no node:sqlite.
  if (!process.getBuiltinModule('node:sqlite')) {
    const message = nodeProblem(process.version, undefined) ?? ''
    throw new SynapseError({ kind: 'storage', code: 'unsupported', message })
  }
  const sqlite = await import('./sqlite.ts')
  return sqlite.openSqliteStore(path, options)
}

/** A PostgreSQL database that any number of machines share; it needs the package `pg`. */
export async function openPostgresStore(url: string, options?: PostgresOptions): Promise<Store> {
  const postgres = await import('./postgres.ts')
  return postgres.openPostgresStore(url, options)
}
