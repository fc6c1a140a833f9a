// Keys whose conversations are not stored: they stay in the memory of this process, for a limited time and number, so
// that their next requests continue; with `none` not even that. Their spending is stored.

import { openMemoryStore } from '../../store/memory.ts'
import type { Store } from '../../store/store.ts'
import type { ServerContext } from '../context.ts'
import type { Principal } from '../principal.ts'
import type { DoorRun } from './run.ts'

/** Of one owner. */
const mostConversations = 100
const lifetimeMs = 60 * 60_000

const memories = new WeakMap<Store, Store>()

/** The server as this key uses it. */
export async function retentionFor(server: ServerContext, { owner, keep = 'full' }: Principal): Promise<ServerContext> {
  if (keep === 'full') return server
  const { lasting = server } = server
  const memory = memories.get(lasting.store) ?? openMemoryStore()
  memories.set(lasting.store, memory)
  await forgetOld(memory, owner)
  const inMemory: ServerContext = { ...lasting, store: memory, accounts: server.store }
  return { ...inMemory, lasting: { ...inMemory, accounts: lasting.store } }
}

/** Active conversations are skipped until the next time. */
async function forgetOld(memory: Store, owner: string): Promise<void> {
  const before = new Date(Date.now() - lifetimeMs).toISOString()
  const { items } = await memory.conversations(owner, { limit: 500 })
  for (const [i, { id, updatedAt }] of items.entries()) {
    if ((i >= mostConversations || updatedAt < before) && !(await memory.lease(owner, id)))
      await memory.deleteConversation(owner, id)
  }
}

/** With `none`, a conversation ends with its answer. */
export function forgetAfter({ store }: ServerContext, { owner, keep }: Principal, run: DoorRun): void {
  if (keep !== 'none') return
  const forget = () => store.deleteConversation(owner, run.conversationId)
  run.ended.then(forget, forget).catch(() => {})
}
