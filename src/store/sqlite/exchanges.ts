// Exchanges in SQLite: requests, their outcomes and journals, and the usage by day and model.

import type { Exchange } from '../../core/log.ts'
import { jsonText } from '../new-entry.ts'
import { cursorNumber, pageOf, pageSize } from '../page.ts'
import { timeSpan } from '../search/query.ts'
import type { UsageRow } from '../records.ts'
import { exchangeEnded, idTaken, journalGap, notFound } from '../store-errors.ts'
import { toEvents, toExchange, type EventsRow, type ExchangeRow } from '../sql/rows.ts'
import { sqliteSelects as selects, withOutcome } from '../sql/selects.ts'
import { cutClientBody, endValues, exchangeValues, tokenFields } from '../sql/values.ts'
import type { Exchanges, Write } from '../store.ts'
import { storeBlob } from './blobs.ts'
import type { Connection, Row } from './connection.ts'
import { insertUnique, writable, type WritableRow } from './conversations.ts'
import { appendEntry, findEntry } from './entries.ts'
import { putAll } from './records.ts'

export function exchangeMethods(db: Connection): Exchanges {
  return { ...writes(db), ...reads(db), ...journals(db) }
}

function writes(db: Connection): Pick<Exchanges, 'openExchange' | 'keepBody' | 'retryExchange' | 'finishExchange'> {
  return {
    async openExchange(owner, conversationId, exchange, write) {
      const { id, notes, blob, startedAt } = exchangeValues(conversationId, exchange, db.options.now())
      const { basedOn, provider, protocol, model } = exchange
      const request = { id, conversationId, basedOn, provider, protocol, model, bodySha256: blob.sha256, startedAt }
      return db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const { n } = findEntry(db, conversation, basedOn)
        storeBlob(db, conversation.n, blob)
        insertUnique(
          () =>
            db.run(
              `INSERT INTO exchanges (id, conversation, based_on, outcome, provider, protocol, model, body_sha256,
                 started_at, attempts, notes) VALUES (?, ?, ?, 'open', ?, ?, ?, ?, ?, 1, ?)`,
              id,
              conversation.n,
              n,
              provider,
              protocol,
              model,
              blob.sha256,
              startedAt,
              notes,
            ),
          () => idTaken('exchange', id),
        )
        return { ...request, notes: JSON.parse(notes) as Exchange['notes'], outcome: 'open', attempts: 1 }
      })
    },

    async keepBody(owner, conversationId, body, write) {
      const blob = cutClientBody(conversationId, body)
      return db.write(() => {
        storeBlob(db, writable(db, owner, conversationId, write).n, blob)
        return blob.sha256
      })
    },

    retryExchange: (owner, exchangeId, write) =>
      db.write(() => {
        const { n, attempts } = openOne(db, owner, exchangeId, write).exchange
        db.run('UPDATE exchanges SET attempts = attempts + 1 WHERE n = ?', n)
        return attempts + 1
      }),

    async finishExchange(owner, exchangeId, end, write) {
      const { endedAt, reply, cost, usage, failure, notesAfter } = endValues(end, db.options.now())
      return db.write(() => {
        const { conversation, exchange } = openOne(db, owner, exchangeId, write)
        const entry = reply && appendEntry(db, conversation, reply)
        if (end.records?.length) putAll(db, end.records)
        const notes = notesAfter(exchange.notes)
        const replyId = entry?.id ?? null
        db.run(
          `UPDATE exchanges SET outcome = ?, ended_at = ?, reply = ?, cost = ?, usage = ?, failure = ?, notes = ?
           WHERE n = ?`,
          end.outcome,
          endedAt,
          entry ? findEntry(db, conversation, entry.id).n : null,
          cost,
          usage,
          failure,
          notes,
          exchange.n,
        )
        db.run('DELETE FROM journal WHERE exchange = ?', exchange.n)
        const { outcome } = end
        const ended = { ...exchange, outcome, ended_at: endedAt, reply: replyId, cost, usage, failure, notes }
        return { exchange: toExchange(ended), ...(entry && { entry }) }
      })
    },
  }
}

function reads(db: Connection): Pick<Exchanges, 'exchange' | 'exchanges' | 'usage'> {
  return {
    exchange: (owner, exchangeId) =>
      db.read(() => {
        const row = find(db, owner, exchangeId)
        return row && toExchange(row)
      }),

    async exchanges(owner, conversationId, page = {}) {
      const size = pageSize(page)
      const below = cursorNumber(page.cursor)
      const rows = await db.read(() =>
        db.all<ExchangeRow>(
          `${selects.exchanges} WHERE c.id = ? AND c.owner = ? AND x.n < ? ${withOutcome(page)}
           ORDER BY x.n DESC LIMIT ? + 0`,
          conversationId,
          owner,
          below,
          size + 1,
        ),
      )
      return pageOf(rows, size, (row) => [row.n], toExchange)
    },

    async usage(owner, query = {}) {
      const { after, before } = timeSpan(query)
      const conversationId = query.conversationId
      return db.read(() =>
        db.all<UsageRow & Row>(
          `SELECT substr(x.started_at, 1, 10) AS day, x.provider, x.model, count(*) AS exchanges,
             ${tokenFields.map((field) => `coalesce(sum(json_extract(x.usage, '$.${field}')), 0) AS ${field}`).join(', ')},
             coalesce(sum(x.cost), 0.0) AS cost, sum(x.usage IS NOT NULL AND x.cost IS NULL) AS unpriced
           FROM conversations c JOIN exchanges x ON x.conversation = c.n
           WHERE c.owner = ? ${conversationId === undefined ? '' : 'AND c.id = ?'} AND x.started_at >= ? AND x.started_at < ?
           GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
          owner,
          ...(conversationId === undefined ? [] : [conversationId]),
          after,
          before,
        ),
      )
    },
  }
}

function journals(db: Connection): Pick<Exchanges, 'journal' | 'journaled'> {
  return {
    async journal(owner, exchangeId, offset, events, write) {
      const json = jsonText(events, 'The events')
      return db.write(() => {
        const { n } = openOne(db, owner, exchangeId, write).exchange
        const last = db.get<{ next: number }>(
          'SELECT first + count AS next FROM journal WHERE exchange = ? ORDER BY first DESC LIMIT 1',
          n,
        )
        const next = last?.next ?? 0
        if (next !== offset) throw journalGap(exchangeId, next, offset)
        if (events.length > 0) {
          db.run(
            'INSERT INTO journal (exchange, first, count, events) VALUES (?, ?, ?, ?)',
            n,
            offset,
            events.length,
            json,
          )
        }
        return offset + events.length
      })
    },

    journaled: (owner, exchangeId, from = 0) =>
      db.read(() => {
        const n = find(db, owner, exchangeId)?.n
        if (n === undefined) return []
        const rows = db.all<EventsRow>(
          'SELECT first, events FROM journal WHERE exchange = ? AND first + count > ? ORDER BY first',
          n,
          from,
        )
        return toEvents(rows, from)
      }),
  }
}

function find(db: Connection, owner: string, exchangeId: string): ExchangeRow | undefined {
  return db.get<ExchangeRow>(`${selects.exchanges} WHERE x.id = ? AND c.owner = ?`, exchangeId, owner)
}

function mustHave(db: Connection, owner: string, exchangeId: string): ExchangeRow {
  const exchange = find(db, owner, exchangeId)
  if (!exchange) throw notFound('exchange', exchangeId)
  return exchange
}

function openOne(
  db: Connection,
  owner: string,
  exchangeId: string,
  write: Write | undefined,
): { exchange: ExchangeRow; conversation: WritableRow } {
  const exchange = mustHave(db, owner, exchangeId)
  const conversation = writable(db, owner, exchange.conversation_id, write)
  if (exchange.outcome !== 'open') throw exchangeEnded(exchangeId, exchange.outcome)
  return { exchange, conversation }
}
