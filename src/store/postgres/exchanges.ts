// Exchanges in PostgreSQL: requests, their outcomes and journals, and the usage by day and model.

import type { QueryResultRow } from 'pg'
import type { Exchange } from '../../core/log.ts'
import { jsonText } from '../new-entry.ts'
import { cursorNumber, pageOf, pageSize } from '../page.ts'
import { timeSpan } from '../search/query.ts'
import type { UsageRow } from '../records.ts'
import { exchangeEnded, idTaken, journalGap, notFound } from '../store-errors.ts'
import { toEvents, toExchange, type EventsRow, type ExchangeRow } from '../sql/rows.ts'
import { postgresSelects as selects, withOutcome } from '../sql/selects.ts'
import { cutClientBody, endValues, exchangeValues, tokenFields, tokenNumbers } from '../sql/values.ts'
import type { Exchanges, Write } from '../store.ts'
import { storeBlobs, storeBody } from './blobs.ts'
import { entryIn, lockConversation, lockByExchange, writable } from './conversations.ts'
import type { Database, Queries, Transaction } from './database.ts'
import { isUniqueViolation } from './errors.ts'
import { appendWhole } from './entries.ts'
import { putAll } from './records.ts'

export function exchangeMethods(db: Database): Exchanges {
  return { ...writes(db), ...reads(db), ...journals(db) }
}

function writes(db: Database): Pick<Exchanges, 'openExchange' | 'keepBody' | 'retryExchange' | 'finishExchange'> {
  return {
    async openExchange(owner, conversationId, exchange, write) {
      const { id, notes, blob, startedAt } = exchangeValues(conversationId, exchange, db.options.now())
      const { basedOn, provider, protocol, model } = exchange
      const request = { id, conversationId, basedOn, provider, protocol, model, bodySha256: blob.sha256, startedAt }
      let attempts = 0
      return db.transaction(async (queries) => {
        const isFirst = attempts++ === 0
        const [{ n: conversation }, entry, store] = await Promise.all([
          lockConversation(db, queries, owner, conversationId, write),
          entryIn(queries, conversationId, basedOn),
          isFirst ? storeBody(queries, blob) : undefined,
        ])
        if (store) store(conversation)
        // Something was deleted meanwhile: now the body is locked before its pieces are looked for.
        else await storeBlobs(queries, owner, conversationId, [blob])
        queries.change(
          `INSERT INTO synapse.exchanges (id, conversation, based_on, outcome, provider, protocol, model, body_sha256,
             started_at, attempts, notes) VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, 1, $9)`,
          [id, conversation, entry, provider, protocol, model, blob.sha256, startedAt, notes],
          (error) => (isUniqueViolation(error) ? idTaken('exchange', id) : error),
        )
        return { ...request, outcome: 'open', attempts: 1, notes: JSON.parse(notes) as Exchange['notes'] }
      })
    },

    async keepBody(owner, conversationId, body, write) {
      const blob = cutClientBody(conversationId, body)
      return db.transaction(async (queries) => {
        await writable(db, queries, owner, conversationId, write)
        await storeBlobs(queries, owner, conversationId, [blob])
        return blob.sha256
      })
    },

    retryExchange: (owner, exchangeId, write) =>
      db.transaction(async (queries) => {
        const { n, attempts } = await openOne(db, queries, owner, exchangeId, write)
        queries.change('UPDATE synapse.exchanges SET attempts = attempts + 1 WHERE n = $1', [n])
        return attempts + 1
      }),

    async finishExchange(owner, exchangeId, end, write) {
      const { endedAt, reply, cost, usage, failure, notesAfter } = endValues(end, db.options.now())
      const tokens = end.usage ? tokenNumbers(end.usage) : null
      return db.transaction(async (queries) => {
        const open = await openOne(db, queries, owner, exchangeId, write)
        const { conversation_id: conversationId, n } = open
        const entry = reply && (await appendWhole(db, queries, { owner, conversationId, entry: reply, write }))
        if (end.records?.length) await putAll(db, queries, end.records)
        const notes = notesAfter(open.notes)
        const replyId = entry?.id ?? null
        queries.change(
          `WITH cleared AS (DELETE FROM synapse.journal WHERE exchange = $1)
           UPDATE synapse.exchanges SET outcome = $2, ended_at = $3, cost = $5, usage = $6, failure = $7, notes = $8,
             reply = (SELECT n FROM synapse.entries WHERE id = $4), tokens = $9 WHERE n = $1`,
          [n, end.outcome, endedAt, replyId, cost, usage, failure, notes, tokens],
        )
        const { outcome } = end
        const ended = { ...open, outcome, ended_at: endedAt, reply: replyId, cost, usage, failure, notes }
        return { exchange: toExchange(ended), ...(entry && { entry }) }
      })
    },
  }
}

function reads(db: Database): Pick<Exchanges, 'exchange' | 'exchanges' | 'usage'> {
  return {
    async exchange(owner, exchangeId) {
      const row = await find(db, owner, exchangeId)
      return row && toExchange(row)
    },

    async exchanges(owner, conversationId, page = {}) {
      const size = pageSize(page)
      const below = cursorNumber(page.cursor)
      const rows = await db.all<ExchangeRow>(
        `${selects.exchanges} WHERE c.id = $1 AND c.owner = $2 AND x.n < $3 ${withOutcome(page)}
         ORDER BY x.n DESC LIMIT $4`,
        [conversationId, owner, below, size + 1],
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
  }
}

function journals(db: Database): Pick<Exchanges, 'journal' | 'journaled'> {
  return {
    async journal(owner, exchangeId, offset, events, write) {
      const json = jsonText(events, 'The events')
      return db.transaction(async (queries) => {
        const [{ n }, last] = await Promise.all([
          openOne(db, queries, owner, exchangeId, write),
          queries.get<{ next: number }>(
            `SELECT j.first + j.count AS next FROM synapse.journal j JOIN synapse.exchanges x ON x.n = j.exchange
             WHERE x.id = $1 ORDER BY j.first DESC LIMIT 1`,
            [exchangeId],
          ),
        ])
        const next = last?.next ?? 0
        if (next !== offset) throw journalGap(exchangeId, next, offset)
        if (events.length > 0) {
          queries.change('INSERT INTO synapse.journal (exchange, first, count, events) VALUES ($1, $2, $3, $4)', [
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
      const rows = await db.all<EventsRow>(
        `SELECT j.first, j.events FROM synapse.journal j JOIN synapse.exchanges x ON x.n = j.exchange
         JOIN synapse.conversations c ON c.n = x.conversation
         WHERE x.id = $1 AND c.owner = $2 AND j.first + j.count > $3 ORDER BY j.first`,
        [exchangeId, owner, from],
      )
      return toEvents(rows, from)
    },
  }
}

function find(queries: Queries, owner: string, exchangeId: string): Promise<ExchangeRow | undefined> {
  return queries.get<ExchangeRow>(`${selects.exchanges} WHERE x.id = $1 AND c.owner = $2`, [exchangeId, owner])
}

/** The exchange after its conversation is locked. */
async function openOne(
  db: Database,
  queries: Transaction,
  owner: string,
  exchangeId: string,
  write: Write | undefined,
): Promise<ExchangeRow> {
  const [conversation, exchange] = await Promise.all([
    lockByExchange(db, queries, owner, exchangeId, write),
    find(queries, owner, exchangeId),
  ])
  if (!conversation || !exchange) throw notFound('exchange', exchangeId)
  if (exchange.outcome !== 'open') throw exchangeEnded(exchangeId, exchange.outcome)
  return exchange
}
