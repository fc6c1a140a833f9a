import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store, StoreOptions } from '../../src/store/store.ts'
import { conformance } from './conformance.ts'
import { recordsConformance } from './records-conformance.ts'
import { searchConformance } from './search-conformance.ts'

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
