// The store conformance suite on SQLite.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store, StoreOptions } from '../../src/store/store.ts'
import { conformance } from './conformance.ts'
import { recordsConformance } from './records-conformance.ts'
import { searchConformance } from './search-conformance.ts'
import { searchIndexConformance } from './search-index-conformance.ts'
import { tempFolder } from './temp.ts'

const open = (options?: StoreOptions) => openSqliteStore(':memory:', options)

conformance('sqlite', open)
recordsConformance('sqlite', open)
searchConformance('sqlite', open)
searchConformance('sqlite, all indexed', async (options): Promise<Store> => {
  const store = await open(options)
  return {
    ...store,
    async search(owner, query) {
      await store.vacuum()
      return store.search(owner, query)
    },
  }
})
searchIndexConformance('sqlite', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  return {
    open: () => openSqliteStore(path),
    async indexed() {
      const db = new DatabaseSync(path, { readOnly: true })
      const { count } = db.prepare('SELECT count(*) AS count FROM search_docsize').get() ?? {}
      db.close()
      return Number(count)
    },
  }
})
