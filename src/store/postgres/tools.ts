import type { RecordedToolRun } from '../../core/log.ts'
import { prepareEntry } from '../new-entry.ts'
import type { ToolRuns } from '../store.ts'
import { mayStartAgain, toolNotRunning } from '../tool-run.ts'
import { placeOf, writable } from './conversations.ts'
import type { Database, Queries } from './database.ts'
import { appendWhole } from './entries.ts'

export function toolMethods(db: Database): ToolRuns {
  return {
    startTool: (owner, conversationId, run, write) =>
      db.transaction(async (queries) => {
        const conversation = await writable(db, queries, owner, conversationId, write)
        const entry = await placeOf(queries, conversation, run.entryId)
        const before = await find(queries, conversation.n, run.callId)
        if (before) {
          mayStartAgain(toRun(before), run)
          await queries.all('UPDATE synapse.tool_runs SET starts = starts + 1 WHERE n = $1', [before.n])
        } else {
          const { callId, name, argsSha256, repeatable = false } = run
          const key = run.idempotencyKey ?? `${conversationId}/${callId}`
          await queries.all(
            `INSERT INTO synapse.tool_runs (conversation, call_id, entry, name, args_sha256, idempotency_key, repeatable,
               starts, started_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8)`,
            [conversation.n, callId, entry, name, argsSha256, key, repeatable, isoNow(db)],
          )
        }
        return mustHave(queries, conversation.n, run.callId)
      }),

    async finishTool(owner, conversationId, callId, end, write) {
      const result = prepareEntry(end.result, db.options.now())
      return db.transaction(async (queries) => {
        const conversation = await writable(db, queries, owner, conversationId, write)
        const run = await find(queries, conversation.n, callId)
        if (!run || run.outcome) throw toolNotRunning(callId, run && toRun(run))
        const entry = await appendWhole(db, queries, { owner, conversationId, entry: result, write })
        await queries.all(
          `UPDATE synapse.tool_runs SET outcome = $1, ended_at = $2,
             result = (SELECT n FROM synapse.entries WHERE id = $3) WHERE n = $4`,
          [end.outcome, isoNow(db), entry.id, run.n],
        )
        return { run: await mustHave(queries, conversation.n, callId), entry }
      })
    },

    async toolRuns(owner, conversationId, only) {
      const rows = await db.all<ToolRunRow>(
        `${select} WHERE c.id = $1 AND c.owner = $2 AND ($3::boolean IS FALSE OR t.outcome IS NULL) ORDER BY t.n`,
        [conversationId, owner, only?.unfinished ?? false],
      )
      return rows.map(toRun)
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

interface ToolRunRow {
  n: number
  conversation_id: string
  call_id: string
  entry: string
  result: string | null
  name: string
  args_sha256: string
  idempotency_key: string
  repeatable: boolean
  starts: number
  started_at: string
  ended_at: string | null
  outcome: NonNullable<RecordedToolRun['outcome']> | null
}

const select = `
  SELECT t.n, c.id AS conversation_id, t.call_id, e.id AS entry, r.id AS result, t.name, t.args_sha256,
    t.idempotency_key, t.repeatable, t.starts, t.started_at, t.ended_at, t.outcome
  FROM synapse.tool_runs t JOIN synapse.conversations c ON c.n = t.conversation
  JOIN synapse.entries e ON e.n = t.entry LEFT JOIN synapse.entries r ON r.n = t.result`

function find(queries: Queries, conversation: number, callId: string): Promise<ToolRunRow | undefined> {
  return queries.get<ToolRunRow>(`${select} WHERE t.conversation = $1 AND t.call_id = $2`, [conversation, callId])
}

async function mustHave(queries: Queries, conversation: number, callId: string): Promise<RecordedToolRun> {
  const row = await find(queries, conversation, callId)
  if (!row) throw toolNotRunning(callId, undefined)
  return toRun(row)
}

function isoNow(db: Database): string {
  return new Date(db.options.now()).toISOString()
}

function toRun(row: ToolRunRow): RecordedToolRun {
  return {
    conversationId: row.conversation_id,
    callId: row.call_id,
    entryId: row.entry,
    name: row.name,
    argsSha256: row.args_sha256,
    idempotencyKey: row.idempotency_key,
    repeatable: row.repeatable,
    starts: row.starts,
    startedAt: row.started_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.outcome && { outcome: row.outcome }),
    ...(row.result !== null && { resultEntryId: row.result }),
  }
}
