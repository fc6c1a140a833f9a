// A store that lasts as long as the process: for tests, and for runs that store nothing. It is also the simplest
// definition of what the other stores must do.

import { archiveMethods } from './memory/archive.ts'
import { overlayAndLeaseMethods } from './memory/overlays.ts'
import { conversationMethods } from './memory/conversations.ts'
import { entryMethods } from './memory/entries.ts'
import { exchangeMethods } from './memory/exchanges.ts'
import { recordMethods } from './memory/records.ts'
import { searchMethods } from './memory/search.ts'
import { MemoryState } from './memory/state.ts'
import { toolMethods } from './memory/tools.ts'
import type { Store, StoreOptions } from './store.ts'

export function openMemoryStore(options: StoreOptions = {}): Store {
  const state = new MemoryState(options)
  return {
    ...conversationMethods(state),
    ...entryMethods(state),
    ...exchangeMethods(state),
    ...toolMethods(state),
    ...overlayAndLeaseMethods(state),
    ...searchMethods(state),
    ...recordMethods(state),
    ...archiveMethods(state),
    async vacuum() {},
    async close() {},
  }
}
