// On opening: what a killed process left in progress is closed, so that readers see what there is of it. A conversation
// with an active run elsewhere is left alone.

import { SynapseError } from '../../core/error.ts'
import { withFailpoints } from '../../store/failpoint.ts'
import type { Store } from '../../store/store.ts'
import { holdLease } from './lease.ts'
import { closeInterrupted } from './close-interrupted.ts'

export async function recover(runtime: Store, owner: string, conversationId: string): Promise<void> {
  const store = withFailpoints(runtime)
  const [open, unfinished] = await Promise.all([
    store.exchanges(owner, conversationId, { outcome: 'open', limit: 1 }),
    store.toolRuns(owner, conversationId, { unfinished: true }),
  ])
  if (open.items.length === 0 && unfinished.every((run) => run.repeatable)) return
  try {
    const held = await holdLease(store, owner, conversationId)
    try {
      await closeInterrupted({ store, owner, conversationId, write: held.write }, false)
    } finally {
      await held.release()
    }
  } catch (error) {
    if (!(error instanceof SynapseError && error.kind === 'conflict')) throw error
  }
}
