// A store by its address: a file is SQLite, a URL is PostgreSQL, none is memory. Only the one that is wanted is loaded.

import { SynapseError } from '../core/error.ts'
import { nodeProblem } from './sqlite/node-version.ts'
import type { Store } from './store.ts'

/**
 * Opens a store: a file for SQLite, a `postgres://` URL, or nothing for memory. `openSynapse` takes the same address, or
 * the store itself, which several of them can share.
 */
export async function openStore(address?: string): Promise<Store> {
  if (address === undefined) {
    const { openMemoryStore } = await import('./memory.ts')
    return openMemoryStore()
  }
  if (/^postgres(ql)?:\/\//.test(address)) {
    const { openPostgresStore } = await import('./postgres.ts')
    return openPostgresStore(address)
  }
  // Before the import, which fails with a stack trace where there is no node:sqlite.
  if (!process.getBuiltinModule('node:sqlite')) {
    const message = nodeProblem(process.version, undefined) ?? ''
    throw new SynapseError({ kind: 'storage', code: 'unsupported', message })
  }
  const { openSqliteStore } = await import('./sqlite.ts')
  return openSqliteStore(address)
}
