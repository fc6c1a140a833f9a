// The store for many machines: one PostgreSQL that any number of Synapse processes share. Nothing lives in a process
// only, so that each of them can continue with what another one began.

import type { Store, StoreOptions } from './store.ts'
import { archiveMethods } from './postgres/archive.ts'
import { blobMethods } from './postgres/blobs.ts'
import { branchMethods } from './postgres/branches.ts'
import { conversationMethods } from './postgres/conversations.ts'
import { connect } from './postgres/database.ts'
import { entryMethods } from './postgres/entries.ts'
import { exchangeMethods } from './postgres/exchanges.ts'
import { leaseMethods } from './postgres/leases.ts'
import { listening } from './postgres/listen.ts'
import { overlayMethods } from './postgres/overlays.ts'
import { recordMethods } from './postgres/records.ts'
import { indexWaiting } from './postgres/search-index.ts'
import { searchMethods } from './postgres/search.ts'
import { stateMethods } from './postgres/states.ts'
import { toolMethods } from './postgres/tools.ts'

export interface PostgresOptions extends StoreOptions {
  /** At most this many connections; 10 by default. */
  connections?: number
}

/** `url` as in `postgres://user:password@host:5432/database`. Makes its tables, in a schema named synapse. */
export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<Store> {
  const { now = Date.now, leaseSkewMs = () => 0, connections = 10 } = options
  const db = await connect(url, { now, leaseSkewMs, connections })
  const ears = listening(db)
  return {
    ...conversationMethods(db),
    ...entryMethods(db),
    ...branchMethods(db),
    ...exchangeMethods(db),
    ...toolMethods(db),
    ...overlayMethods(db),
    ...stateMethods(db),
    ...blobMethods(db),
    ...searchMethods(db),
    ...leaseMethods(db),
    ...archiveMethods(db),
    ...recordMethods(db),
    async vacuum() {
      await indexWaiting(db)
      for (const table of ['entries', 'waiting', 'search', 'pieces', 'journal', 'exchanges', 'conversations']) {
        await db.plan(`VACUUM synapse.${table}`)
      }
    },
    // One connection would be kept for it, which must not be the only one.
    ...(connections > 1 && { listen: ears.listen }),
    async close() {
      ears.close()
      await db.close()
    },
  }
}
