// What providers store of a conversation, in PostgreSQL.

import { toState, type StateRow } from '../sql/rows.ts'
import { stateValues } from '../sql/values.ts'
import type { States } from '../store.ts'
import { entryNumber, writable } from './conversations.ts'
import type { Database } from './database.ts'

export function stateMethods(db: Database): States {
  return {
    async keepState(owner, conversationId, newState, write) {
      const { state, ends } = stateValues(conversationId, newState, db.options.now())
      return db.transaction(async (queries) => {
        const conversation = await writable(db, queries, owner, conversationId, write)
        const n = await entryNumber(queries, conversation, state.covers)
        await queries.all(
          `INSERT INTO synapse.states (id, conversation, covers, provider, protocol, kind, ref, expires_at, at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          [state.id, conversation.n, n, state.provider, state.protocol, state.kind, state.ref, ends, state.at],
        )
        return state
      })
    },

    async stateAt(owner, entryId, { provider, protocol }) {
      // From the entry upward, only to the first one found: usually one step.
      const row = await db.get<StateRow>(
        `WITH RECURSIVE up AS (
           SELECT e.n, e.parent, e.depth, e.id, c.id AS conversation_id
           FROM synapse.entries e JOIN synapse.conversations c ON c.n = e.conversation
           WHERE e.id = $1 AND c.owner = $2
           UNION ALL
           SELECT e.n, e.parent, e.depth, e.id, up.conversation_id
           FROM up JOIN synapse.entries e ON e.n = up.parent AND e.depth = up.depth - 1
         )
         SELECT s.id, up.conversation_id, up.id AS covers, s.provider, s.protocol, s.kind, s.ref, s.expires_at, s.at
         FROM up CROSS JOIN LATERAL (
           SELECT * FROM synapse.states t WHERE t.covers = up.n AND t.provider = $3 AND t.protocol = $4
             AND (t.expires_at IS NULL OR t.expires_at > $5) ORDER BY t.n DESC LIMIT 1
         ) s LIMIT 1`,
        [entryId, owner, provider, protocol, new Date(db.options.now()).toISOString()],
      )
      return row && toState(row)
    },

    async dropState(owner, stateId) {
      await db.all(
        `DELETE FROM synapse.states s USING synapse.conversations c
         WHERE s.id = $1 AND c.n = s.conversation AND c.owner = $2`,
        [stateId, owner],
      )
    },
  }
}
