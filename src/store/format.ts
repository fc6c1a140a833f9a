// The format of a store, without opening it as a store: opening would already upgrade it.

import { statSync } from 'node:fs'
import { isPostgres } from './open.ts'

export interface Format {
  /** Undefined: there is nothing yet. */
  is: number | undefined
  /** The format that this Synapse writes. */
  known: number
}

export async function formatOf(address: string): Promise<Format> {
  return isPostgres(address) ? ofPostgres(address) : ofFile(address)
}

async function ofFile(path: string): Promise<Format> {
  const { migrations } = await import('./sqlite/migrations.ts')
  const known = migrations.length
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return { is: undefined, known }
  const { DatabaseSync } = await import('node:sqlite')
  const { folderError, fromSqlite } = await import('./sqlite/errors.ts')
  if (stats.isDirectory()) throw folderError(path)
  let db: InstanceType<typeof DatabaseSync> | undefined
  try {
    db = new DatabaseSync(path, { readOnly: true })
    return { is: Number(db.prepare('PRAGMA user_version').get()?.['user_version']), known }
  } catch (error) {
    throw fromSqlite(error, path)
  } finally {
    db?.close()
  }
}

async function ofPostgres(url: string): Promise<Format> {
  const { migrations } = await import('./postgres/migrations.ts')
  const { fromPostgres } = await import('./postgres/errors.ts')
  const { default: pg } = await import('pg')
  const client = new pg.Client(url)
  try {
    await client.connect()
    const { rows: tables } = await client.query(
      `SELECT 1 FROM pg_tables WHERE schemaname = 'synapse' AND tablename = 'format'`,
    )
    if (tables.length === 0) return { is: undefined, known: migrations.length }
    const { rows } = await client.query<{ version: number }>('SELECT version FROM synapse.format')
    return { is: rows[0]?.version, known: migrations.length }
  } catch (error) {
    throw fromPostgres(error, 'PostgreSQL')
  } finally {
    await client.end().catch(() => {})
  }
}
