import type { QueryResultRow } from 'pg'
import type { Note } from '../../core/context.ts'
import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import type { Exchange } from '../../core/log.ts'
import type { Usage } from '../../core/usage.ts'
import { cutBlob } from '../blobs.ts'
import { pageOf, pageSize, readCursor } from '../page.ts'
import { givenId, jsonText, prepareEntry } from '../new-entry.ts'
import { timeSpan } from '../query.ts'
import type { UsageRow } from '../records.ts'
import { exchangeEnded, idTaken, journalGap, notFound } from '../store-errors.ts'
import type { Exchanges, Write } from '../store.ts'
import { storeBlobs } from './blobs.ts'
import { insertUnique, placeOf, writable } from './conversations.ts'
import type { Database, Queries } from './database.ts'
import { appendWhole } from './entries.ts'

export function exchangeMethods(db: Database): Exchanges {
  return {
    async openExchange(owner, conversationId, exchange, write) {
      const now = db.options.now()
      const id = givenId(exchange.id, now)
      const notes = jsonText(exchange.notes ?? [], 'The notes')
      const blob = cutBlob(exchange.body)
      const { basedOn, provider, protocol, model } = exchange
      return db.transaction(async (queries) => {
        const conversation = await writable(db, queries, owner, conversationId, write)
        const n = await placeOf(queries, conversation, basedOn)
        await storeBlobs(queries, owner, conversationId, [blob])
        await insertUnique(
          queries.all(
            `INSERT INTO synapse.exchanges (id, conversation, based_on, outcome, provider, protocol, model, body_sha256,
               started_at, attempts, notes) VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, 1, $9)`,
            [id, conversation.n, n, provider, protocol, model, blob.sha256, new Date(now).toISOString(), notes],
          ),
          () => idTaken('exchange', id),
        )
        return toExchange(await mustHave(queries, owner, id))
      })
    },

    retryExchange: (owner, exchangeId, write) =>
      db.transaction(async (queries) => {
        const { n, attempts } = await openOne(db, queries, owner, exchangeId, write)
        await queries.all('UPDATE synapse.exchanges SET attempts = attempts + 1 WHERE n = $1', [n])
        return attempts + 1
      }),

    async finishExchange(owner, exchangeId, end, write) {
      const now = db.options.now()
      const reply = end.reply && prepareEntry(end.reply, now)
      const usage = end.usage ? jsonText(end.usage, 'The usage') : null
      const tokens = end.usage ? tokenFields.map((field) => Number(end.usage?.[field] ?? 0)) : null
      const failure = end.failure ? jsonText(end.failure, 'The failure') : null
      const added = JSON.parse(jsonText(end.notes ?? [], 'The notes')) as Note[]
      return db.transaction(async (queries) => {
        const open = await openOne(db, queries, owner, exchangeId, write)
        const { conversation_id: conversationId } = open
        const entry = reply && (await appendWhole(db, queries, { owner, conversationId, entry: reply, write }))
        const notes = JSON.stringify([...(JSON.parse(open.notes) as Note[]), ...added])
        const endedAt = new Date(now).toISOString()
        await queries.all(
          `WITH cleared AS (DELETE FROM synapse.journal WHERE exchange = $1)
           UPDATE synapse.exchanges SET outcome = $2, ended_at = $3, cost = $5, usage = $6, failure = $7, notes = $8,
             reply = (SELECT n FROM synapse.entries WHERE id = $4), tokens = $9 WHERE n = $1`,
          [open.n, end.outcome, endedAt, entry?.id ?? null, end.cost ?? null, usage, failure, notes, tokens],
        )
        return { exchange: toExchange(await mustHave(queries, owner, exchangeId)), ...(entry && { entry }) }
      })
    },

    async exchange(owner, exchangeId) {
      const row = await find(db, owner, exchangeId)
      return row && toExchange(row)
    },

    async exchanges(owner, conversationId, page = {}) {
      const size = pageSize(page)
      const below = page.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(readCursor(page.cursor, ['number'])[0])
      const rows = await db.all<ExchangeRow>(
        `${select} WHERE c.id = $1 AND c.owner = $2 AND x.n < $3 AND ($4::text IS NULL OR x.outcome = $4::text)
         ORDER BY x.n DESC LIMIT $5`,
        [conversationId, owner, below, page.outcome ?? null, size + 1],
      )
      return pageOf(rows, size, (row) => [row.n], toExchange)
    },

    async usage(owner, query = {}) {
      const { after, before } = timeSpan(query)
      const sums = tokenFields.map((field, i) => `coalesce(sum(x.tokens[${i + 1}]), 0) AS "${field}"`)
      return db.all<UsageRow & QueryResultRow>(
        `SELECT substr(x.started_at, 1, 10) AS day, x.provider, x.model, count(*) AS exchanges, ${sums.join(', ')},
           coalesce(sum(x.cost), 0) AS cost, count(*) FILTER (WHERE x.usage IS NOT NULL AND x.cost IS NULL) AS unpriced
         FROM synapse.conversations c JOIN synapse.exchanges x ON x.conversation = c.n
         WHERE c.owner = $1 AND ($2::text IS NULL OR c.id = $2::text)
           AND x.started_at COLLATE "C" >= $3 AND x.started_at COLLATE "C" < $4
         GROUP BY 1, 2, 3 ORDER BY substr(x.started_at, 1, 10), x.provider COLLATE "C", x.model COLLATE "C"`,
        [owner, query.conversationId ?? null, after, before],
      )
    },

    async journal(owner, exchangeId, offset, events, write) {
      const json = jsonText(events, 'The events')
      return db.transaction(async (queries) => {
        const { n } = await openOne(db, queries, owner, exchangeId, write)
        const last = await queries.get<{ kept: number }>(
          'SELECT first + count AS kept FROM synapse.journal WHERE exchange = $1 ORDER BY first DESC LIMIT 1',
          [n],
        )
        const kept = last?.kept ?? 0
        if (kept !== offset) throw journalGap(exchangeId, kept, offset)
        if (events.length > 0) {
          await queries.all('INSERT INTO synapse.journal (exchange, first, count, events) VALUES ($1, $2, $3, $4)', [
            n,
            offset,
            events.length,
            json,
          ])
        }
        return offset + events.length
      })
    },

    async journaled(owner, exchangeId, from = 0) {
      const rows = await db.all<{ first: number; events: string }>(
        `SELECT j.first, j.events FROM synapse.journal j JOIN synapse.exchanges x ON x.n = j.exchange
         JOIN synapse.conversations c ON c.n = x.conversation
         WHERE x.id = $1 AND c.owner = $2 AND j.first + j.count > $3 ORDER BY j.first`,
        [exchangeId, owner, from],
      )
      return rows.flatMap(({ first, events }) => (JSON.parse(events) as ReplyEvent[]).slice(Math.max(0, from - first)))
    },
  }
}

/** Kept beside the usage itself, whose raw numbers can be any JSON, so that they can be added up; `offline` counts as 1. */
export const tokenFields = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'offline'] as const

interface ExchangeRow {
  n: number
  id: string
  conversation_id: string
  based_on: string
  reply: string | null
  outcome: Exchange['outcome']
  provider: string
  protocol: string
  model: string
  body_sha256: string
  started_at: string
  ended_at: string | null
  attempts: number
  cost: number | null
  usage: string | null
  failure: string | null
  notes: string
}

const select = `
  SELECT x.n, x.id, c.id AS conversation_id, b.id AS based_on, r.id AS reply, x.outcome, x.provider, x.protocol,
    x.model, x.body_sha256, x.started_at, x.ended_at, x.attempts, x.cost, x.usage, x.failure, x.notes
  FROM synapse.exchanges x JOIN synapse.conversations c ON c.n = x.conversation
  JOIN synapse.entries b ON b.n = x.based_on LEFT JOIN synapse.entries r ON r.n = x.reply`

function find(queries: Queries, owner: string, exchangeId: string): Promise<ExchangeRow | undefined> {
  return queries.get<ExchangeRow>(`${select} WHERE x.id = $1 AND c.owner = $2`, [exchangeId, owner])
}

async function mustHave(queries: Queries, owner: string, exchangeId: string): Promise<ExchangeRow> {
  const found = await find(queries, owner, exchangeId)
  if (!found) throw notFound('exchange', exchangeId)
  return found
}

/** The exchange as it is once its conversation is locked. */
async function openOne(
  db: Database,
  queries: Queries,
  owner: string,
  exchangeId: string,
  write: Write | undefined,
): Promise<ExchangeRow> {
  const { conversation_id: conversationId } = await mustHave(queries, owner, exchangeId)
  await writable(db, queries, owner, conversationId, write)
  const exchange = await mustHave(queries, owner, exchangeId)
  if (exchange.outcome !== 'open') throw exchangeEnded(exchangeId, exchange.outcome)
  return exchange
}

function toExchange(row: ExchangeRow): Exchange {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    basedOn: row.based_on,
    provider: row.provider,
    protocol: row.protocol,
    model: row.model,
    bodySha256: row.body_sha256,
    notes: JSON.parse(row.notes) as Note[],
    startedAt: row.started_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    outcome: row.outcome,
    ...(row.reply !== null && { replyEntryId: row.reply }),
    attempts: row.attempts,
    ...(row.usage !== null && { usage: JSON.parse(row.usage) as Usage }),
    ...(row.cost !== null && { cost: row.cost }),
    ...(row.failure !== null && { failure: JSON.parse(row.failure) as Failure }),
  }
}
