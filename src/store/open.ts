// A store by its address: a file is SQLite, a URL is PostgreSQL. Only the one that is wanted is loaded.

import type { Store } from './store.ts'

export async function openStore(address: string): Promise<Store> {
  if (/^postgres(ql)?:\/\//.test(address)) {
    const { openPostgresStore } = await import('./postgres.ts')
    return openPostgresStore(address)
  }
  const { openSqliteStore } = await import('./sqlite.ts')
  return openSqliteStore(address)
}
