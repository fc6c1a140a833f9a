import { openSqliteStore } from '../../src/store/sqlite.ts'
import { conformance } from './conformance.ts'
import { recordsConformance } from './records-conformance.ts'
import { searchConformance } from './search-conformance.ts'

conformance('sqlite', (options) => openSqliteStore(':memory:', options))
searchConformance('sqlite', (options) => openSqliteStore(':memory:', options))
recordsConformance('sqlite', (options) => openSqliteStore(':memory:', options))
