// Tool runs in SQLite: the start of each tool, and its result.

import { prepareEntry } from '../new-entry.ts'
import { toToolRun, type ToolRunRow } from '../sql/rows.ts'
import { isUnfinished, sqliteSelects as selects } from '../sql/selects.ts'
import type { ToolRuns } from '../store.ts'
import { checkToolRestart, toolNotRunning } from '../store-errors.ts'
import type { Connection } from './connection.ts'
import { writable } from './conversations.ts'
import { appendEntry, findEntry } from './entries.ts'

export function toolMethods(db: Connection): ToolRuns {
  return {
    startTool: (owner, conversationId, run, write) =>
      db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const { n: entry } = findEntry(db, conversation, run.entryId)
        const before = find(db, conversation.n, run.callId)
        if (before) {
          checkToolRestart(toToolRun(before), run)
          db.run('UPDATE tool_runs SET starts = starts + 1 WHERE n = ?', before.n)
          return toToolRun({ ...before, starts: before.starts + 1 })
        }
        const { callId, entryId, name, argsSha256, repeatable = false } = run
        const idempotencyKey = run.idempotencyKey ?? `${conversationId}/${callId}`
        const startedAt = isoNow(db)
        db.run(
          `INSERT INTO tool_runs (conversation, call_id, entry, name, args_sha256, idempotency_key, repeatable, starts,
             started_at) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)`,
          conversation.n,
          callId,
          entry,
          name,
          argsSha256,
          idempotencyKey,
          Number(repeatable),
          startedAt,
        )
        return { conversationId, callId, entryId, name, argsSha256, idempotencyKey, repeatable, starts: 1, startedAt }
      }),

    async finishTool(owner, conversationId, callId, end, write) {
      const result = prepareEntry(end.result, db.options.now())
      return db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const run = find(db, conversation.n, callId)
        if (!run || run.outcome) throw toolNotRunning(callId, run && toToolRun(run))
        const entry = appendEntry(db, conversation, result)
        const [{ outcome }, endedAt] = [end, isoNow(db)]
        db.run(
          'UPDATE tool_runs SET outcome = ?, ended_at = ?, result = ? WHERE n = ?',
          outcome,
          endedAt,
          findEntry(db, conversation, entry.id).n,
          run.n,
        )
        return { run: toToolRun({ ...run, outcome, ended_at: endedAt, result: entry.id }), entry }
      })
    },

    toolRuns: (owner, conversationId, only) =>
      db.read(() =>
        db
          .all<ToolRunRow<number>>(
            `${selects.toolRuns} WHERE c.id = ? AND c.owner = ? ${only?.unfinished ? isUnfinished : ''} ORDER BY t.n`,
            conversationId,
            owner,
          )
          .map(toToolRun),
      ),

    unsettled: (owner) =>
      db.read(() =>
        db
          .all<{ id: string }>(
            `SELECT c.id FROM (
               SELECT conversation AS n FROM exchanges WHERE outcome = 'open'
               UNION SELECT conversation FROM tool_runs WHERE outcome IS NULL
             ) open CROSS JOIN conversations c ON c.n = open.n
             WHERE c.owner = ? ORDER BY c.id`,
            owner,
          )
          .map((row) => row.id),
      ),
  }
}

function find(db: Connection, conversation: number, callId: string): ToolRunRow<number> | undefined {
  return db.get<ToolRunRow<number>>(
    `${selects.toolRuns} WHERE t.conversation = ? AND t.call_id = ?`,
    conversation,
    callId,
  )
}

function isoNow(db: Connection): string {
  return new Date(db.options.now()).toISOString()
}
