// What providers store of a conversation, in SQLite.

import { toState, type StateRow } from '../sql/rows.ts'
import { stateValues } from '../sql/values.ts'
import type { States } from '../store.ts'
import type { Connection } from './connection.ts'
import { writable } from './conversations.ts'
import { findEntry } from './entries.ts'

export function stateMethods(db: Connection): States {
  return {
    async keepState(owner, conversationId, newState, write) {
      const { state, ends } = stateValues(conversationId, newState, db.options.now())
      return db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const { n } = findEntry(db, conversation, state.covers)
        db.run(
          `INSERT INTO states (id, conversation, covers, provider, protocol, kind, ref, expires_at, at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          state.id,
          conversation.n,
          n,
          state.provider,
          state.protocol,
          state.kind,
          state.ref,
          ends,
          state.at,
        )
        return state
      })
    },

    stateAt: (owner, entryId, { provider, protocol }) =>
      db.read(() => {
        // From the entry upward, only to the first one found: usually one step.
        const row = db.get<StateRow>(
          `WITH RECURSIVE up (n, parent, depth) AS (
             SELECT e.n, e.parent, e.depth FROM entries e JOIN conversations c ON c.n = e.conversation
             WHERE e.id = ? AND c.owner = ?
             UNION ALL
             SELECT e.n, e.parent, e.depth FROM up JOIN entries e ON e.n = up.parent AND e.depth = up.depth - 1
           ), best (n) AS (
             SELECT s.n FROM up CROSS JOIN states s ON s.n = (
               SELECT max(t.n) FROM states t WHERE t.covers = up.n AND t.provider = ? AND t.protocol = ?
                 AND (t.expires_at IS NULL OR t.expires_at > ?))
             LIMIT 1
           )
           SELECT s.id, c.id AS conversation_id, e.id AS covers, s.provider, s.protocol, s.kind, s.ref, s.expires_at, s.at
           FROM best CROSS JOIN states s ON s.n = best.n
           JOIN conversations c ON c.n = s.conversation JOIN entries e ON e.n = s.covers`,
          entryId,
          owner,
          provider,
          protocol,
          new Date(db.options.now()).toISOString(),
        )
        return row && toState(row)
      }),

    dropState: (owner, stateId) =>
      db.write(() => {
        db.run(
          'DELETE FROM states WHERE id = ? AND conversation IN (SELECT n FROM conversations WHERE owner = ?)',
          stateId,
          owner,
        )
      }),
  }
}
