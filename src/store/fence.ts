// Who may write. A lease admits one writer; its epoch fences off those that lost it: a process that was suspended past its
// lease does not know that it has lost it, so the check must be in the transaction of each write, not before it.

import { badInput, type SynapseError } from '../core/error.ts'
import type { Lease } from '../core/log.ts'
import { conflict } from './store-errors.ts'
import type { NewLease, Write } from './store.ts'

/** The lease as it is stored with its conversation. Times are milliseconds of the database's clock. */
export interface Fence {
  conversationId: string
  /** Null: free, or released. */
  holder: string | null
  epoch: number
  since: number
  expires: number
}

/**
 * Throws unless the writer has the lease or it is free. An expired epoch is valid until another writer takes over, or
 * writes without a lease: the store then revokes it, because its holder cannot know what was written.
 */
export function checkWriter(fence: Fence, write: Write | undefined, now: number): { takes: boolean } {
  if (write?.epoch === undefined) {
    if (isHeld(fence, now)) throw leaseHeld(fence)
    return { takes: fence.holder !== null }
  }
  if (write.epoch !== fence.epoch || fence.holder === null) throw leaseLost(fence, write.epoch)
  return { takes: false }
}

export type Held = Fence & { holder: string }

export function isHeld(fence: Fence, now: number): fence is Held {
  return fence.holder !== null && fence.expires > now
}

/** The lease of the next holder; throws while another one has it. */
export function nextLease(fence: Fence, lease: NewLease, now: number): Held {
  if (isHeld(fence, now) && fence.epoch !== lease.over) throw leaseHeld(fence)
  const { conversationId } = fence
  return { conversationId, holder: lease.holder, epoch: fence.epoch + 1, since: now, expires: now + lease.ttlMs }
}

export function leaseOf(fence: Held): Lease {
  return {
    conversationId: fence.conversationId,
    holder: fence.holder,
    epoch: fence.epoch,
    since: new Date(fence.since).toISOString(),
    expiresAt: new Date(fence.expires).toISOString(),
  }
}

function leaseHeld(fence: Held): SynapseError {
  const { conversationId, holder, epoch, since, expiresAt } = leaseOf(fence)
  return conflict(
    'lease-held',
    `Conversation ${conversationId} is being written by ${holder} since ${since}. ` +
      `Wait until that is done; it can be taken over after ${expiresAt}.`,
    { holder, epoch, since, expiresAt },
  )
}

export function leaseLost(fence: Fence, epoch: number): SynapseError {
  const since = new Date(fence.since).toISOString()
  const reason = fence.holder === null ? 'it was released, or expired' : `${fence.holder} took over at ${since}`
  return conflict(
    'lease-lost',
    `The lease number ${epoch} on conversation ${fence.conversationId} has expired: ${reason}. ` +
      'Nothing was written; stop, and read the conversation again.',
    { holder: fence.holder, since, epoch: fence.epoch },
  )
}

export function checkTtl(ttlMs: number): void {
  if (!Number.isFinite(ttlMs) || ttlMs <= 0) throw badInput(`A lease must last longer than ${ttlMs} ms.`)
}
