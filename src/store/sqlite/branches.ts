// Branches in SQLite: the head, and names for entries.

import { plainText } from '../new-entry.ts'
import { toBranches, type BranchRow } from '../sql/rows.ts'
import { notFound } from '../store-errors.ts'
import type { Branches } from '../store.ts'
import type { Connection } from './connection.ts'
import { mustHave, writable } from './conversations.ts'
import { findEntry } from './entries.ts'

export function branchMethods(db: Connection): Branches {
  return {
    setHead: (owner, conversationId, target, write) =>
      db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const branch = 'branch' in target ? target.branch : null
        let head: number | null = null
        if ('branch' in target) {
          const named = db.get<{ entry: number }>(
            'SELECT entry FROM branches WHERE conversation = ? AND name = ?',
            conversation.n,
            target.branch,
          )
          if (!named) throw notFound('branch', target.branch)
          head = named.entry
        } else if (target.entryId !== null) {
          head = findEntry(db, conversation, target.entryId).n
        }
        db.run('UPDATE conversations SET head = ?, branch = ? WHERE n = ?', head, branch, conversation.n)
        return mustHave(db, owner, conversationId)
      }),

    async branches(owner, conversationId) {
      const rows = await db.read(() =>
        db.all<BranchRow<number>>(
          `SELECT b.name, e.id, e.depth, e.at, c.branch IS b.name AND c.head IS e.n AS current, 0 AS position
           FROM conversations c JOIN branches b ON b.conversation = c.n JOIN entries e ON e.n = b.entry
           WHERE c.id = ?1 AND c.owner = ?2
           UNION ALL
           SELECT NULL, e.id, e.depth, e.at, c.branch IS NULL AND c.head IS e.n, -e.n
           FROM conversations c JOIN entries e ON e.conversation = c.n
           WHERE c.id = ?1 AND c.owner = ?2
             AND NOT EXISTS (SELECT 1 FROM entries k WHERE k.conversation = c.n AND k.parent = e.n)
             AND e.n NOT IN (SELECT entry FROM branches WHERE conversation = c.n)
           ORDER BY 6`,
          conversationId,
          owner,
        ),
      )
      return toBranches(rows)
    },

    nameBranch: (owner, conversationId, name, entryId, write) =>
      db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const { n } = findEntry(db, conversation, entryId)
        const clean = plainText(name)
        db.run(
          `INSERT INTO branches (conversation, name, entry) VALUES (?, ?, ?)
           ON CONFLICT (conversation, name) DO UPDATE SET entry = excluded.entry`,
          conversation.n,
          clean,
          n,
        )
        db.run(
          'UPDATE conversations SET branch = NULL WHERE n = ? AND branch = ? AND head IS NOT ?',
          conversation.n,
          clean,
          n,
        )
      }),

    dropBranch: (owner, conversationId, name, write) =>
      db.write(() => {
        const { n } = writable(db, owner, conversationId, write)
        db.run('DELETE FROM branches WHERE conversation = ? AND name = ?', n, name)
        db.run('UPDATE conversations SET branch = NULL WHERE n = ? AND branch = ?', n, name)
      }),
  }
}
