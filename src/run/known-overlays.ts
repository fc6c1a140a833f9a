// The overlays of a conversation, read once for a run: while it has the lease, only the run itself adds to them. Otherwise
// each step would read all decisions of the steps before it. One that is undone over HTTP meanwhile takes effect with the
// next run.

import type { Overlay } from '../core/log.ts'
import type { NewOverlay } from '../store/store.ts'
import type { RunContext } from './run-context.ts'

export interface KnownOverlays {
  list?: Promise<Overlay[]>
}

type Place = Pick<RunContext, 'store' | 'owner' | 'conversationId' | 'learned'>

export function overlaysOf({ store, owner, conversationId, learned }: Place): Promise<Overlay[]> {
  const known = learned?.overlays
  if (!known) return store.overlays(owner, conversationId)
  if (!known.list) {
    known.list = store.overlays(owner, conversationId)
    known.list.catch(() => delete known.list)
  }
  return known.list
}

/** Every overlay that a run adds is added here. */
export async function addOverlay(
  { store, owner, conversationId, learned, write }: Place & Pick<RunContext, 'write'>,
  overlay: NewOverlay,
): Promise<Overlay> {
  const known = learned?.overlays
  try {
    const added = await store.addOverlay(owner, conversationId, overlay, write())
    if (known?.list) known.list = known.list.then((list) => [...list, added])
    return added
  } catch (error) {
    // It may have been added all the same.
    if (known) delete known.list
    throw error
  }
}
