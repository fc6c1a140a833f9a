// Branches in PostgreSQL: the head, and names for entries.

import { plainText } from '../new-entry.ts'
import { toBranches, type BranchRow } from '../sql/rows.ts'
import { notFound } from '../store-errors.ts'
import type { Branches } from '../store.ts'
import { mustHave, entryNumber, writable } from './conversations.ts'
import type { Database, Queries } from './database.ts'

export function branchMethods(db: Database): Branches {
  return {
    setHead: (owner, conversationId, target, write) =>
      db.transaction(async (queries) => {
        const conversation = await writable(db, queries, owner, conversationId, write)
        const branch = 'branch' in target ? target.branch : null
        let head: number | null = null
        if ('branch' in target) head = await branchHead(queries, conversation.n, target.branch)
        else if (target.entryId !== null) head = await entryNumber(queries, conversation, target.entryId)
        await queries.all('UPDATE synapse.conversations SET head = $1, branch = $2 WHERE n = $3', [
          head,
          branch,
          conversation.n,
        ])
        return mustHave(queries, owner, conversationId)
      }),

    async branches(owner, conversationId) {
      const rows = await db.all<BranchRow<boolean>>(
        `SELECT b.name, e.id, e.depth, e.at, c.branch IS NOT DISTINCT FROM b.name AND c.head = e.n AS current,
           0::bigint AS position
         FROM synapse.conversations c JOIN synapse.branches b ON b.conversation = c.n
         JOIN synapse.entries e ON e.n = b.entry WHERE c.id = $1 AND c.owner = $2
         UNION ALL
         SELECT NULL, e.id, e.depth, e.at, c.branch IS NULL AND c.head IS NOT DISTINCT FROM e.n, -e.n
         FROM synapse.conversations c JOIN synapse.entries e ON e.conversation = c.n
         WHERE c.id = $1 AND c.owner = $2
           AND NOT EXISTS (SELECT 1 FROM synapse.entries k WHERE k.conversation = c.n AND k.parent = e.n)
           AND NOT EXISTS (SELECT 1 FROM synapse.branches b WHERE b.conversation = c.n AND b.entry = e.n)
         ORDER BY position`,
        [conversationId, owner],
      )
      return toBranches(rows)
    },

    nameBranch: (owner, conversationId, name, entryId, write) =>
      db.transaction(async (queries) => {
        const conversation = await writable(db, queries, owner, conversationId, write)
        const n = await entryNumber(queries, conversation, entryId)
        const clean = plainText(name)
        await queries.all(
          `INSERT INTO synapse.branches (conversation, name, entry) VALUES ($1, $2, $3)
           ON CONFLICT (conversation, name) DO UPDATE SET entry = excluded.entry`,
          [conversation.n, clean, n],
        )
        await queries.all(
          `UPDATE synapse.conversations SET branch = NULL
           WHERE n = $1 AND branch = $2 AND head IS DISTINCT FROM $3`,
          [conversation.n, clean, n],
        )
      }),

    dropBranch: (owner, conversationId, name, write) =>
      db.transaction(async (queries) => {
        const { n } = await writable(db, queries, owner, conversationId, write)
        await queries.all('DELETE FROM synapse.branches WHERE conversation = $1 AND name = $2', [n, plainText(name)])
        await queries.all('UPDATE synapse.conversations SET branch = NULL WHERE n = $1 AND branch = $2', [
          n,
          plainText(name),
        ])
      }),
  }
}

async function branchHead(queries: Queries, conversation: number, name: string): Promise<number> {
  const named = await queries.get<{ entry: number }>(
    'SELECT entry FROM synapse.branches WHERE conversation = $1 AND name = $2',
    [conversation, plainText(name)],
  )
  if (!named) throw notFound('branch', name)
  return named.entry
}
