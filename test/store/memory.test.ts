// The store conformance suite on the memory store.

import { openMemoryStore } from '../../src/store/memory.ts'
import { conformance } from './conformance.ts'
import { recordsConformance } from './records-conformance.ts'
import { searchConformance } from './search-conformance.ts'

conformance('memory', async (options) => openMemoryStore(options))
searchConformance('memory', async (options) => openMemoryStore(options))
recordsConformance('memory', async (options) => openMemoryStore(options))
