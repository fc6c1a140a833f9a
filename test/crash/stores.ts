// The stores that several processes can share, as the tests find them on this machine.

import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { StoreOptions } from '../../src/store/store.ts'
import type { Store } from '../../src/store/store.ts'
import { findPostgres, makeDatabase } from '../store/postgres-server.ts'
import { tempFolder } from '../store/temp.ts'

export interface Place {
  /** What `openPlace` takes, also in another process. */
  url: string
}

export const kinds = ['sqlite', 'postgres'] as const
export type Kind = (typeof kinds)[number]

export function reasonToSkip(kind: Kind | 'memory'): string | false {
  return kind === 'postgres' && findPostgres() === undefined && 'needs the programs of a PostgreSQL server'
}

/** A fresh one, gone with the test. */
export async function newPlace(t: TestContext, kind: Kind): Promise<Place> {
  if (kind === 'sqlite') return { url: join(tempFolder(t), 'log.db') }
  const database = await makeDatabase(findPostgres() ?? '')
  t.after(() => database.remove())
  return { url: database.url }
}

/** A fresh store of any kind, closed with the test. */
export async function newStore(t: TestContext, kind: Kind | 'memory'): Promise<Store> {
  if (kind === 'memory') return openMemoryStore()
  const store = await openPlace(await newPlace(t, kind))
  t.after(() => store.close())
  return store
}

export async function openPlace({ url }: Place, options: StoreOptions = {}): Promise<Store> {
  if (url.startsWith('postgres:')) {
    const { openPostgresStore } = await import('../../src/store/postgres.ts')
    return openPostgresStore(url, { ...options, connections: 6 })
  }
  const { openSqliteStore } = await import('../../src/store/sqlite.ts')
  return openSqliteStore(url, options)
}
