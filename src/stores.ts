// `synapse/stores`: the stores alone, and the contract for your own.

export { openMemoryStore, openPostgresStore, openSqliteStore, openStore } from './store/open.ts'
export type { PostgresOptions } from './store/postgres.ts'
export type { SqliteOptions } from './store/sqlite.ts'
export type * from './store/store.ts'
export type * from './core/log.ts'
