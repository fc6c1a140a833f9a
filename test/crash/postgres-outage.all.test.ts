// Every way in which PostgreSQL can go away, for as long as is promised: 30 seconds. SYNAPSE_OUTAGE_MS sets another
// length. No run may fail, and no conversation may stay locked after the database is back.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgresStore } from '../../src/store/postgres.ts'
import { findPostgres, findProgram } from '../store/postgres-server.ts'
import { outageKinds, outlive } from './outlive.ts'
import { reasonToSkip } from './stores.ts'

const ms = Number(process.env['SYNAPSE_OUTAGE_MS'] ?? 30_000)

for (const [name, make] of Object.entries(outageKinds)) {
  test(`${name} for ${ms / 1000} s fails no run`, { skip: reasonToSkipKind(name), timeout: 300_000 }, async (t) => {
    const kind = await make(t)
    const store = await openPostgresStore(kind.url, { connections: 6 })
    const outlived = await outlive(t, store, kind, { ms, lanes: 6 })
    t.diagnostic(JSON.stringify(outlived))
    assert.ok(outlived.conversations >= 6)
    const { lockedMs, usualMs } = outlived
    assert.ok(lockedMs < 2000 + usualMs, `a conversation was locked for ${lockedMs} ms after the end`)
    await store.close()
  })
}

function reasonToSkipKind(name: string): string | false {
  const needsCopy = name.includes('standby') && !findProgram(findPostgres() ?? '', 'pg_basebackup')
  return reasonToSkip('postgres') || (needsCopy && 'needs pg_basebackup')
}
