// Data next to the log: overlays, states at providers, blobs and leases.

import type { Overlay, ProviderState } from '../../core/log.ts'
import { checkTtl, isHeld, leaseLost, leaseOf, nextLease } from '../fence.ts'
import { uuidv7 } from '../ids.ts'
import { checkId, jsonCopy } from '../new-entry.ts'
import { idTaken, isoTime, notFound } from '../store-errors.ts'
import type { Blobs, Leases, Overlays, States } from '../store.ts'
import { copyOf, type StoredConversation, type MemoryState } from './state.ts'

export function overlayAndLeaseMethods(state: MemoryState): Overlays & States & Blobs & Leases {
  return { ...overlayMethods(state), ...stateMethods(state), ...leaseMethods(state), blob }

  async function blob(owner: string, sha256: string): Promise<Uint8Array | undefined> {
    if (!state.hasBlob(owner, sha256)) return undefined
    return state.bytesOf(sha256)
  }
}

function overlayMethods(state: MemoryState): Overlays {
  return {
    async addOverlay(owner, conversationId, overlay, write) {
      const now = state.now()
      const id = checkId(overlay.id, now)
      const data = jsonCopy(overlay.data, 'The overlay')
      const conversation = state.writable(owner, conversationId, write)
      const { entryId, kind } = overlay
      state.entryIn(conversation, entryId)
      // A generated id is new.
      if (overlay.id !== undefined && findOverlay(id)) throw idTaken('overlay', id)
      const at = new Date(now).toISOString()
      const stored: Overlay = { id, conversationId, entryId, kind, data, undone: false, at }
      conversation.overlays.push(stored)
      return copyOf(stored)
    },

    async setOverlayUndone(owner, overlayId, undone, write) {
      const found = findOverlay(overlayId)
      if (!found || found.conversation.about.owner !== owner) throw notFound('overlay', overlayId)
      state.writable(owner, found.conversation.about.id, write)
      found.overlay.undone = undone
      return copyOf(found.overlay)
    },

    async overlays(owner, conversationId) {
      return copyOf(state.find(owner, conversationId)?.overlays ?? [])
    },
  }

  function findOverlay(id: string): { conversation: StoredConversation; overlay: Overlay } | undefined {
    for (const conversation of state.conversations.values()) {
      const overlay = conversation.overlays.find((one) => one.id === id)
      if (overlay) return { conversation, overlay }
    }
    return undefined
  }
}

function stateMethods(state: MemoryState): States {
  return {
    async keepState(owner, conversationId, { provider, protocol, kind, ref, covers, expiresAt }, write) {
      const now = state.now()
      const until = expiresAt === undefined ? undefined : isoTime(expiresAt, 'The end of a state')
      const conversation = state.writable(owner, conversationId, write)
      state.entryIn(conversation, covers)
      const stored: ProviderState = {
        id: uuidv7(now),
        conversationId,
        provider,
        protocol,
        kind,
        ref,
        covers,
        ...(until !== undefined && { expiresAt: until }),
        at: new Date(now).toISOString(),
      }
      conversation.states.push(stored)
      return { ...stored }
    },

    async stateAt(owner, entryId, { provider, protocol }) {
      const now = new Date(state.now()).toISOString()
      for (const entry of state.path(state.findEntry(owner, entryId))) {
        const found = entry.conversation.states.findLast(
          (one) =>
            one.covers === entry.id &&
            one.provider === provider &&
            one.protocol === protocol &&
            (one.expiresAt === undefined || one.expiresAt > now),
        )
        if (found) return { ...found }
      }
      return undefined
    },

    async dropState(owner, stateId) {
      for (const { about, states } of state.conversations.values()) {
        const at = states.findIndex((one) => one.id === stateId)
        if (at >= 0 && about.owner === owner) states.splice(at, 1)
      }
    },
  }
}

function leaseMethods(state: MemoryState): Leases {
  return {
    async takeLease(owner, conversationId, lease) {
      checkTtl(lease.ttlMs)
      const found = state.find(owner, conversationId)
      if (!found) throw notFound('conversation', conversationId)
      const held = nextLease(found.fence, lease, state.leaseNow())
      found.fence = held
      return leaseOf(held)
    },

    async renewLease(owner, conversationId, epoch, ttlMs) {
      checkTtl(ttlMs)
      const found = state.find(owner, conversationId)
      if (!found) throw notFound('conversation', conversationId)
      const { holder } = found.fence
      if (found.fence.epoch !== epoch || holder === null) throw leaseLost(found.fence, epoch)
      const held = { ...found.fence, holder, expires: state.leaseNow() + ttlMs }
      found.fence = held
      return leaseOf(held)
    },

    async releaseLease(owner, conversationId, epoch) {
      const found = state.find(owner, conversationId)
      if (found?.fence.epoch === epoch) found.fence = { ...found.fence, holder: null }
    },

    async lease(owner, conversationId) {
      const found = state.find(owner, conversationId)
      return found && isHeld(found.fence, state.leaseNow()) ? leaseOf(found.fence) : undefined
    },
  }
}
