// A lease has to be seen by every process and to survive the one that holds it. It need not survive a loss of power,
// which no process of the file survives either: so it does not wait for the disk.

import { checkTtl, isHeld, leaseLost, leaseOf, nextLease } from '../fence.ts'
import { fenceOf, type FenceRow } from '../sql/rows.ts'
import { notFound } from '../store-errors.ts'
import type { Leases } from '../store.ts'
import type { Connection } from './connection.ts'
import { fenceColumns } from './conversations.ts'

export function leaseMethods(db: Connection): Leases {
  return {
    async takeLease(owner, conversationId, lease) {
      checkTtl(lease.ttlMs)
      const take = () => {
        const row = mustHave(db, owner, conversationId)
        const fence = nextLease(fenceOf(row), lease, clockOf(db, row))
        db.run(
          'UPDATE conversations SET lease_holder = ?, lease_epoch = ?, lease_since = ?, lease_expires = ? WHERE id = ?',
          fence.holder,
          fence.epoch,
          fence.since,
          fence.expires,
          conversationId,
        )
        return leaseOf(fence)
      }
      return db.write(take, false, lease.onTaken)
    },

    async renewLease(owner, conversationId, epoch, ttlMs) {
      checkTtl(ttlMs)
      return db.write(() => {
        const row = mustHave(db, owner, conversationId)
        const fence = fenceOf(row)
        if (fence.epoch !== epoch || fence.holder === null) throw leaseLost(fence, epoch)
        const expires = clockOf(db, row) + ttlMs
        db.run('UPDATE conversations SET lease_expires = ? WHERE id = ?', expires, conversationId)
        return leaseOf({ ...fence, holder: fence.holder, expires })
      }, false)
    },

    releaseLease: (owner, conversationId, epoch) =>
      db.write(() => {
        db.run(
          'UPDATE conversations SET lease_holder = NULL WHERE id = ? AND owner = ? AND lease_epoch = ?',
          conversationId,
          owner,
          epoch,
        )
      }, false),

    lease: (owner, conversationId) =>
      db.read(() => {
        const row = find(db, owner, conversationId)
        if (!row) return undefined
        const fence = fenceOf(row)
        return isHeld(fence, clockOf(db, row)) ? leaseOf(fence) : undefined
      }),
  }
}

function find(db: Connection, owner: string, conversationId: string): FenceRow | undefined {
  return db.get<FenceRow>(
    `SELECT ${fenceColumns} FROM conversations c WHERE c.id = ? AND c.owner = ?`,
    conversationId,
    owner,
  )
}

function mustHave(db: Connection, owner: string, conversationId: string): FenceRow {
  const row = find(db, owner, conversationId)
  if (!row) throw notFound('conversation', conversationId)
  return row
}

function clockOf(db: Connection, row: FenceRow): number {
  return row.clock + db.options.leaseSkewMs()
}
