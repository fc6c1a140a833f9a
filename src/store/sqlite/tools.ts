import type { RecordedToolRun } from '../../core/log.ts'
import { prepareEntry } from '../new-entry.ts'
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
          mayStartAgain(toRun(before), run)
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
        if (!run || run.outcome) throw toolNotRunning(callId, run && toRun(run))
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
          .all<ToolRunRow>(
            `${select} WHERE c.id = ? AND c.owner = ? AND (? = 0 OR t.outcome IS NULL) ORDER BY t.n`,
            conversationId,
            owner,
            Number(only?.unfinished ?? false),
          )
          .map(toRun),
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

type ToolRunRow = {
  n: number
  conversation_id: string
  call_id: string
  entry: string
  result: string | null
  name: string
  args_sha256: string
  idempotency_key: string
  repeatable: number
  starts: number
  started_at: string
  ended_at: string | null
  outcome: NonNullable<RecordedToolRun['outcome']> | null
}

const select = `
  SELECT t.n, c.id AS conversation_id, t.call_id, e.id AS entry, r.id AS result, t.name, t.args_sha256,
    t.idempotency_key, t.repeatable, t.starts, t.started_at, t.ended_at, t.outcome
  FROM tool_runs t JOIN conversations c ON c.n = t.conversation
  JOIN entries e ON e.n = t.entry LEFT JOIN entries r ON r.n = t.result`

function find(db: Connection, conversation: number, callId: string): ToolRunRow | undefined {
  return db.get<ToolRunRow>(`${select} WHERE t.conversation = ? AND t.call_id = ?`, conversation, callId)
}

function mustHave(db: Connection, conversation: number, callId: string): RecordedToolRun {
  const row = find(db, conversation, callId)
  if (!row) throw toolNotRunning(callId, undefined)
  return toRun(row)
}

function toRun(row: ToolRunRow): RecordedToolRun {
  return {
    conversationId: row.conversation_id,
    callId: row.call_id,
    entryId: row.entry,
    name: row.name,
    argsSha256: row.args_sha256,
    idempotencyKey: row.idempotency_key,
    repeatable: row.repeatable === 1,
    starts: row.starts,
    startedAt: row.started_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.outcome && { outcome: row.outcome }),
    ...(row.result !== null && { resultEntryId: row.result }),
  }
}
