// One writer per conversation. The lease is renewed while the run goes on; when it was lost (this process was asleep
// for longer than it lasts, and another one took over) the next write is refused, and the run ends.

import { hostname } from 'node:os'
import type { Store, Write } from '../store/store.ts'

const leaseMs = 30_000

export interface Held {
  write(): Write
  release(): Promise<void>
}

export async function holdLease(store: Store, owner: string, conversationId: string): Promise<Held> {
  const holder = `${hostname()}:${process.pid}`
  const { epoch } = await store.takeLease(owner, conversationId, { holder, ttlMs: leaseMs })
  const renewal = setInterval(() => {
    // A renewal that fails needs no alarm: the epoch in the next write decides.
    store.renewLease(owner, conversationId, epoch, leaseMs).catch(() => {})
  }, leaseMs / 3)
  renewal.unref()
  return {
    write: () => ({ epoch }),
    async release() {
      clearInterval(renewal)
      await store.releaseLease(owner, conversationId, epoch)
    },
  }
}
