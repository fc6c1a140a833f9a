// Leases in PostgreSQL: one row per conversation, by the clock of the database.

import { checkTtl, isHeld, leaseLost, leaseOf, nextLease, type Held } from '../fence.ts'
import { fenceOf, type FenceRow } from '../sql/rows.ts'
import { notFound } from '../store-errors.ts'
import type { Leases } from '../store.ts'
import { clock, fenceColumns } from './conversations.ts'
import type { Database, Queries } from './database.ts'

export function leaseMethods(db: Database): Leases {
  return {
    async takeLease(owner, conversationId, lease) {
      checkTtl(lease.ttlMs)
      const { row: free } = await db.once(take, [
        conversationId,
        owner,
        lease.holder,
        lease.ttlMs,
        db.options.leaseSkewMs(),
      ])
      if (free) return leaseOf(fenceOf(free as FenceRow) as Held)
      // It is not free, or the answer was lost: if it was taken then, the caller itself is the holder.
      return db.transaction(async (queries) => {
        const row = await locked(queries, owner, conversationId)
        const fence = nextLease(fenceOf(row), lease, clockOf(db, row))
        queries.change(
          `UPDATE synapse.conversations SET lease_holder = $1, lease_epoch = $2, lease_since = $3, lease_expires = $4
           WHERE id = $5`,
          [fence.holder, fence.epoch, fence.since, fence.expires, conversationId],
        )
        return leaseOf(fence)
      })
    },

    async renewLease(owner, conversationId, epoch, ttlMs) {
      checkTtl(ttlMs)
      return db.transaction(async (queries) => {
        const row = await locked(queries, owner, conversationId)
        const fence = fenceOf(row)
        if (fence.epoch !== epoch || fence.holder === null) throw leaseLost(fence, epoch)
        const expires = clockOf(db, row) + ttlMs
        queries.change('UPDATE synapse.conversations SET lease_expires = $1 WHERE id = $2', [expires, conversationId])
        return leaseOf({ ...fence, holder: fence.holder, expires })
      })
    },

    async releaseLease(owner, conversationId, epoch) {
      await db.all(
        'UPDATE synapse.conversations SET lease_holder = NULL WHERE id = $1 AND owner = $2 AND lease_epoch = $3',
        [conversationId, owner, epoch],
      )
    },

    async lease(owner, conversationId) {
      const row = await db.get<FenceRow>(select, [conversationId, owner])
      if (!row) return undefined
      const fence = fenceOf(row)
      return isHeld(fence, clockOf(db, row)) ? leaseOf(fence) : undefined
    },
  }
}

/** Where it is free. */
const take = `
  UPDATE synapse.conversations c SET lease_holder = $3, lease_epoch = c.lease_epoch + 1, lease_since = now.at,
    lease_expires = now.at + $4::bigint
  FROM (SELECT ${clock} + $5::bigint AS at) now
  WHERE c.id = $1 AND c.owner = $2 AND (c.lease_holder IS NULL OR c.lease_expires <= now.at)
  RETURNING ${fenceColumns}`

const select = `SELECT ${fenceColumns} FROM synapse.conversations c WHERE c.id = $1 AND c.owner = $2`

async function locked(queries: Queries, owner: string, conversationId: string): Promise<FenceRow> {
  const row = await queries.get<FenceRow>(`${select} FOR NO KEY UPDATE`, [conversationId, owner])
  if (!row) throw notFound('conversation', conversationId)
  return row
}

function clockOf(db: Database, row: FenceRow): number {
  return row.clock + db.options.leaseSkewMs()
}
