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
      const match = findOverlay(overlayId)
      if (!match || match.conversation.about.owner !== owner) throw notFound('overlay', overlayId)
      state.writable(owner, match.conversation.about.id, write)
      match.overlay.undone = undone
      return copyOf(match.overlay)
    },

    async overlays(owner, conversationId) {
      return copyOf(state.find(owner, conversationId)?.overlays ?? [])
    },
  }

  function findOverlay(id: string): { conversation: StoredConversation; overlay: Overlay } | undefined {
    for (const conversation of state.conversations.values()) {
      const overlay = conversation.overlays.find((candidate) => candidate.id === id)
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
        const match = entry.conversation.states.findLast(
          (candidate) =>
            candidate.covers === entry.id &&
            candidate.provider === provider &&
            candidate.protocol === protocol &&
            (candidate.expiresAt === undefined || candidate.expiresAt > now),
        )
        if (match) return { ...match }
      }
      return undefined
    },

    async dropState(owner, stateId) {
      for (const { about, states } of state.conversations.values()) {
        const index = states.findIndex((candidate) => candidate.id === stateId)
        if (index >= 0 && about.owner === owner) states.splice(index, 1)
      }
    },
  }
}

function leaseMethods(state: MemoryState): Leases {
  return {
    async takeLease(owner, conversationId, lease) {
      checkTtl(lease.ttlMs)
      const conversation = state.find(owner, conversationId)
      if (!conversation) throw notFound('conversation', conversationId)
      const fence = nextLease(conversation.fence, lease, state.leaseNow())
      conversation.fence = fence
      return leaseOf(fence)
    },

    async renewLease(owner, conversationId, epoch, ttlMs) {
      checkTtl(ttlMs)
      const conversation = state.find(owner, conversationId)
      if (!conversation) throw notFound('conversation', conversationId)
      const { holder } = conversation.fence
      if (conversation.fence.epoch !== epoch || holder === null) throw leaseLost(conversation.fence, epoch)
      const fence = { ...conversation.fence, holder, expires: state.leaseNow() + ttlMs }
      conversation.fence = fence
      return leaseOf(fence)
    },

    async releaseLease(owner, conversationId, epoch) {
      const conversation = state.find(owner, conversationId)
      if (conversation?.fence.epoch === epoch) conversation.fence = { ...conversation.fence, holder: null }
    },

    async lease(owner, conversationId) {
      const conversation = state.find(owner, conversationId)
      return conversation && isHeld(conversation.fence, state.leaseNow()) ? leaseOf(conversation.fence) : undefined
    },
  }
}
