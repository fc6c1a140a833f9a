// A store by its address: a file is SQLite, a URL is PostgreSQL, none is memory. Only the requested one is loaded.

import { SynapseError } from '../core/error.ts'
import type { PostgresOptions } from './postgres.ts'
import type { SqliteOptions } from './sqlite.ts'
import { nodeProblem } from './sqlite/node-version.ts'
import type { Store, StoreOptions } from './store.ts'

type OpenOptions = Pick<StoreOptions, 'warn' | 'migrating'>

/**
 * Opens a store: a file for SQLite, a `postgres://` URL, or nothing for memory. `openSynapse` takes the same address, or
 * the store itself, which several of them can share.
 *
 * @example
 * const store = await openStore('chats.db')
 * const alice = await openSynapse({ store, owner: 'alice' })
 */
export async function openStore(address?: string, options: OpenOptions = {}): Promise<Store> {
  if (address === undefined) return openMemoryStore()
  return isPostgres(address) ? openPostgresStore(address, options) : openSqliteStore(address, options)
}

export function isPostgres(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address)
}

/**
 * A store that lasts as long as the process.
 *
 * @example
 * const store = await openMemoryStore()
 */
export async function openMemoryStore(options?: StoreOptions): Promise<Store> {
  const memory = await import('./memory.ts')
  return memory.openMemoryStore(options)
}

/**
 * One SQLite file, which several processes may share. It is created if it does not exist.
 *
 * @example
 * const store = await openSqliteStore('chats.db')
 */
export async function openSqliteStore(path: string, options?: SqliteOptions): Promise<Store> {
  // Before the import, which fails with a stack trace if there is no node:sqlite.
  if (!process.getBuiltinModule('node:sqlite')) {
    const message = nodeProblem(process.version, undefined) ?? ''
    throw new SynapseError({ kind: 'storage', code: 'unsupported', message })
  }
  const sqlite = await import('./sqlite.ts')
  return sqlite.openSqliteStore(path, options)
}

/**
 * A PostgreSQL database that any number of machines share; it needs the package `pg`.
 *
 * @example
 * const store = await openPostgresStore('postgres://localhost/chats')
 */
export async function openPostgresStore(url: string, options?: PostgresOptions): Promise<Store> {
  const postgres = await import('./postgres.ts')
  return postgres.openPostgresStore(url, options)
}
