// Tool runs in PostgreSQL: the start of each tool, and its result.

import { prepareEntry } from '../new-entry.ts'
import { toToolRun, type ToolRunRow } from '../sql/rows.ts'
import { isUnfinished, postgresSelects as selects } from '../sql/selects.ts'
import type { ToolRuns } from '../store.ts'
import { checkToolRestart, toolNotRunning } from '../store-errors.ts'
import { entryIn, lockConversation } from './conversations.ts'
import type { Database, Queries } from './database.ts'
import { appendWhole } from './entries.ts'

export function toolMethods(db: Database): ToolRuns {
  return {
    startTool: (owner, conversationId, run, write) =>
      db.transaction(async (queries) => {
        const [conversation, entry, before] = await Promise.all([
          lockConversation(db, queries, owner, conversationId, write),
          entryIn(queries, conversationId, run.entryId),
          find(queries, conversationId, run.callId),
        ])
        if (before) {
          checkToolRestart(toToolRun(before), run)
          queries.change('UPDATE synapse.tool_runs SET starts = starts + 1 WHERE n = $1', [before.n])
          return toToolRun({ ...before, starts: before.starts + 1 })
        }
        const { callId, entryId, name, argsSha256, repeatable = false } = run
        const idempotencyKey = run.idempotencyKey ?? `${conversationId}/${callId}`
        const startedAt = isoNow(db)
        queries.change(
          `INSERT INTO synapse.tool_runs (conversation, call_id, entry, name, args_sha256, idempotency_key, repeatable,
             starts, started_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8)`,
          [conversation.n, callId, entry, name, argsSha256, idempotencyKey, repeatable, startedAt],
        )
        return { conversationId, callId, entryId, name, argsSha256, idempotencyKey, repeatable, starts: 1, startedAt }
      }),

    async finishTool(owner, conversationId, callId, end, write) {
      const result = prepareEntry(end.result, db.options.now())
      return db.transaction(async (queries) => {
        const [, run] = await Promise.all([
          lockConversation(db, queries, owner, conversationId, write),
          find(queries, conversationId, callId),
        ])
        if (!run || run.outcome) throw toolNotRunning(callId, run && toToolRun(run))
        const entry = await appendWhole(db, queries, { owner, conversationId, entry: result, write })
        const [{ outcome }, endedAt] = [end, isoNow(db)]
        queries.change(
          `UPDATE synapse.tool_runs SET outcome = $1, ended_at = $2,
             result = (SELECT n FROM synapse.entries WHERE id = $3) WHERE n = $4`,
          [outcome, endedAt, entry.id, run.n],
        )
        return { run: toToolRun({ ...run, outcome, ended_at: endedAt, result: entry.id }), entry }
      })
    },

    async toolRuns(owner, conversationId, only) {
      const rows = await db.all<ToolRunRow<boolean>>(
        `${selects.toolRuns} WHERE c.id = $1 AND c.owner = $2 ${only?.unfinished ? isUnfinished : ''} ORDER BY t.n`,
        [conversationId, owner],
      )
      return rows.map(toToolRun)
    },

    async unsettled(owner) {
      const rows = await db.all<{ id: string }>(
        `SELECT c.id FROM (
           SELECT conversation AS n FROM synapse.exchanges WHERE outcome = 'open'
           UNION SELECT conversation FROM synapse.tool_runs WHERE outcome IS NULL
         ) open JOIN synapse.conversations c ON c.n = open.n
         WHERE c.owner = $1 ORDER BY c.id`,
        [owner],
      )
      return rows.map((row) => row.id)
    },
  }
}

function find(queries: Queries, conversationId: string, callId: string): Promise<ToolRunRow<boolean> | undefined> {
  return queries.get<ToolRunRow<boolean>>(`${selects.toolRuns} WHERE c.id = $1 AND t.call_id = $2`, [
    conversationId,
    callId,
  ])
}

function isoNow(db: Database): string {
  return new Date(db.options.now()).toISOString()
}
