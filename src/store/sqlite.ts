// The embedded store: one SQLite file, with nothing to install. Several processes may share it.

import type { Store, StoreOptions } from './store.ts'
import { archiveMethods } from './sqlite/archive.ts'
import { blobMethods } from './sqlite/blobs.ts'
import { connect } from './sqlite/connection.ts'
import { conversationMethods } from './sqlite/conversations.ts'
import { finishDeletions } from './sqlite/delete.ts'
import { branchMethods } from './sqlite/branches.ts'
import { entryMethods } from './sqlite/entries.ts'
import { exchangeMethods } from './sqlite/exchanges.ts'
import { leaseMethods } from './sqlite/leases.ts'
import { overlayMethods } from './sqlite/overlays.ts'
import { recordMethods } from './sqlite/records.ts'
import { searchMethods } from './sqlite/search.ts'
import { indexAll } from './sqlite/search-index.ts'
import { stateMethods } from './sqlite/states.ts'
import { toolMethods } from './sqlite/tools.ts'

export interface SqliteOptions extends StoreOptions {
  /** How long to wait for another process that is writing; 5 seconds by default. */
  busyMs?: number
}

/** `path` is a file, which is created if it does not exist, or ':memory:'. */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<Store> {
  const { now = Date.now, leaseSkewMs = () => 0, busyMs = 5000, warn = warnByNode } = options
  const db = await connect(path, { now, leaseSkewMs, busyMs, warn, migrating: options.migrating })
  let isClosing = false
  // If that fails, the next process that opens the file tries again.
  const finished = finishDeletions(db, () => isClosing).catch(() => {})
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
    ...recordMethods(db),
    ...archiveMethods(db),
    ordered: { now },
    async vacuum() {
      await db.write(() => indexAll(db))
      // Merging the index removes the words of deleted documents from it.
      await db.alone(`INSERT INTO search (search) VALUES ('optimize')`, 'VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)')
    },
    async close() {
      isClosing = true
      await finished
      await db.written()
      db.close()
    },
  }
}

function warnByNode(sentence: string): void {
  process.emitWarning(sentence, 'SynapseWarning')
}
