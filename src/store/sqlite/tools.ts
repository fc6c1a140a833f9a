import type { RecordedToolRun } from '../../core/log.ts'
import { prepareEntry } from '../new-entry.ts'
import { toToolRun, type ToolRunRow } from '../sql/rows.ts'
import { sqliteSelects as selects } from '../sql/selects.ts'
import type { ToolRuns } from '../store.ts'
import { mayStartAgain, toolNotRunning } from '../tool-run.ts'
import type { Connection } from './connection.ts'
import { writable } from './conversations.ts'
import { appendEntry, placeOf } from './entries.ts'

export function toolMethods(db: Connection): ToolRuns {
  return {
    startTool: (owner, conversationId, run, write) =>
      db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const { n: entry } = placeOf(db, conversation, run.entryId)
        const before = find(db, conversation.n, run.callId)
        if (before) {
          mayStartAgain(toToolRun(before), run)
          db.run('UPDATE tool_runs SET starts = starts + 1 WHERE n = ?', before.n)
        } else {
          db.run(
            `INSERT INTO tool_runs (conversation, call_id, entry, name, args_sha256, idempotency_key, repeatable, starts,
               started_at) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)`,
            conversation.n,
            run.callId,
            entry,
            run.name,
            run.argsSha256,
            run.idempotencyKey ?? `${conversationId}/${run.callId}`,
            Number(run.repeatable ?? false),
            new Date(db.options.now()).toISOString(),
          )
        }
        return mustHave(db, conversation.n, run.callId)
      }),

    async finishTool(owner, conversationId, callId, end, write) {
      const result = prepareEntry(end.result, db.options.now())
      return db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const run = find(db, conversation.n, callId)
        if (!run || run.outcome) throw toolNotRunning(callId, run && toToolRun(run))
        const entry = appendEntry(db, conversation, result)
        db.run(
          'UPDATE tool_runs SET outcome = ?, ended_at = ?, result = (SELECT n FROM entries WHERE id = ?) WHERE n = ?',
          end.outcome,
          new Date(db.options.now()).toISOString(),
          entry.id,
          run.n,
        )
        return { run: mustHave(db, conversation.n, callId), entry }
      })
    },

    toolRuns: (owner, conversationId, only) =>
      db.read(() =>
        db
          .all<ToolRunRow<number>>(
            `${selects.toolRuns} WHERE c.id = ? AND c.owner = ? AND (? = 0 OR t.outcome IS NULL) ORDER BY t.n`,
            conversationId,
            owner,
            Number(only?.unfinished ?? false),
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

function mustHave(db: Connection, conversation: number, callId: string): RecordedToolRun {
  const row = find(db, conversation, callId)
  if (!row) throw toolNotRunning(callId, undefined)
  return toToolRun(row)
}
