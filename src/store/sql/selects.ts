// The selects that both SQL stores read their rows with. The tables of PostgreSQL are in their own schema. What is
// tuned to one database (an append, a search, a path) is in the folder of that database.

import type { Exchange } from '../../core/log.ts'
import type { ExchangePage } from '../store.ts'

interface Selects {
  /** Without the labels, which each database collects in its own way. */
  conversationColumns: string
  entries: string
  outline: string
  pathEnd: string
  exchanges: string
  toolRuns: string
  overlays: string
  records: string
  streams: string
}

// Conditions as constants, because only these use the indexes of what has not ended: a run looks for it whenever it
// starts, and must not read all that has ended before.

export const isUnfinished = 'AND t.outcome IS NULL'

const outcomes: Readonly<Record<Exchange['outcome'], string>> = {
  open: `AND x.outcome = 'open'`,
  done: `AND x.outcome = 'done'`,
  failed: `AND x.outcome = 'failed'`,
  cancelled: `AND x.outcome = 'cancelled'`,
  interrupted: `AND x.outcome = 'interrupted'`,
}

export function withOutcome({ outcome }: ExchangePage): string {
  return outcome === undefined ? '' : outcomes[outcome]
}

export const sqliteSelects: Selects = selectsOf('')
export const postgresSelects: Selects = selectsOf('synapse.')

function selectsOf(schema: '' | 'synapse.'): Selects {
  return {
    conversationColumns:
      'c.id, c.owner, c.title, c.settings, c.created_at, c.updated_at, c.branch, c.entries, c.head AS head_n, h.id AS head',
    entries: `
      SELECT e.id, c.id AS conversation_id, p.id AS parent_id, e.depth, e.at, e.checksum, e.message
      FROM ${schema}entries e JOIN ${schema}conversations c ON c.n = e.conversation
      LEFT JOIN ${schema}entries p ON p.n = e.parent`,
    outline: `
      SELECT e.id, p.id AS parent_id, e.depth, e.role, e.at FROM ${schema}conversations c
      JOIN ${schema}entries e ON e.conversation = c.n LEFT JOIN ${schema}entries p ON p.n = e.parent`,
    pathEnd: `
      SELECT e.n, e.depth, c.n AS conversation, c.id AS conversation_id, c.entries
      FROM ${schema}entries e JOIN ${schema}conversations c ON c.n = e.conversation`,
    exchanges: `
      SELECT x.n, x.id, c.id AS conversation_id, b.id AS based_on, r.id AS reply, x.outcome, x.provider, x.protocol,
        x.model, x.body_sha256, x.started_at, x.ended_at, x.attempts, x.cost, x.usage, x.failure, x.notes
      FROM ${schema}exchanges x JOIN ${schema}conversations c ON c.n = x.conversation
      JOIN ${schema}entries b ON b.n = x.based_on LEFT JOIN ${schema}entries r ON r.n = x.reply`,
    toolRuns: `
      SELECT t.n, c.id AS conversation_id, t.call_id, e.id AS entry, r.id AS result, t.name, t.args_sha256,
        t.idempotency_key, t.repeatable, t.starts, t.started_at, t.ended_at, t.outcome
      FROM ${schema}tool_runs t JOIN ${schema}conversations c ON c.n = t.conversation
      JOIN ${schema}entries e ON e.n = t.entry LEFT JOIN ${schema}entries r ON r.n = t.result`,
    overlays: `
      SELECT o.id, c.id AS conversation_id, e.id AS entry, o.kind, o.undone, o.at, o.data
      FROM ${schema}overlays o JOIN ${schema}conversations c ON c.n = o.conversation
      JOIN ${schema}entries e ON e.n = o.entry`,
    records: `
      SELECT r.n, r.owner, r.kind, r.id, c.id AS conversation_id, r.version, r.expires_at, r.at, r.data
      FROM ${schema}records r LEFT JOIN ${schema}conversations c ON c.n = r.conversation`,
    streams: `
      SELECT s.n, s.id, c.owner, s.conversation, s.epoch, s.next, s.ended_at
      FROM ${schema}streams s JOIN ${schema}conversations c ON c.n = s.conversation`,
  }
}
