// The overlays of a conversation, read once for a run: while it has the lease, nothing else adds to them or undoes one
// (an attempt is refused). Otherwise each step would read all decisions of the steps before it.

import type { Overlay } from '../../core/log.ts'
import type { NewOverlay } from '../../store/store.ts'
import type { ConversationLog, RunContext, WritableLog } from '../run-context.ts'

export interface KnownOverlays {
  list?: Promise<Overlay[]>
}

export function overlaysOf({
  store,
  owner,
  conversationId,
  learned,
}: ConversationLog & Pick<RunContext, 'learned'>): Promise<Overlay[]> {
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
  { store, owner, conversationId, learned, write }: WritableLog & Pick<RunContext, 'learned'>,
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
