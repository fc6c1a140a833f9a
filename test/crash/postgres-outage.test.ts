// A PostgreSQL that goes away under live runs and comes back: no run fails, nothing is lost and nothing is doubled. Short
// outages; the long ones and the failover are in postgres-outage.all.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgresStore } from '../../src/store/postgres.ts'
import { thorough } from '../thorough.ts'
import { outageKinds, outlive } from './outlive.ts'
import { reasonToSkip } from './stores.ts'

const short = thorough
  ? (['a fast restart', 'an immediate restart', 'swallowed packets'] as const)
  : (['an immediate restart', 'swallowed packets'] as const)

for (const name of short) {
  test(`${name} for a second fails no run`, { skip: reasonToSkip('postgres') }, async (t) => {
    const kind = await outageKinds[name](t)
    const store = await openPostgresStore(kind.url, { connections: 6 })
    const outlived = await outlive(t, store, kind, { ms: 1000, lanes: 4 })
    t.diagnostic(JSON.stringify(outlived))
    assert.ok(outlived.conversations >= 4)
    await store.close()
  })
}
