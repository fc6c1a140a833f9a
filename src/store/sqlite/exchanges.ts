import type { ReplyEvent } from '../../core/event.ts'
import type { Note } from '../../core/context.ts'
import type { Failure } from '../../core/error.ts'
import type { Exchange } from '../../core/log.ts'
import type { Usage } from '../../core/usage.ts'
import { cutBlob } from '../blobs.ts'
import { pageOf, pageSize, readCursor } from '../page.ts'
import { givenId, jsonText, prepareEntry } from '../new-entry.ts'
import { timeSpan } from '../query.ts'
import type { UsageRow } from '../records.ts'
import { exchangeEnded, idTaken, journalGap, notFound } from '../store-errors.ts'
import type { Exchanges, Write } from '../store.ts'
import { storeBlob } from './blobs.ts'
import type { Connection, Row } from './connection.ts'
import { insertUnique, writable, type WritableRow } from './conversations.ts'
import { appendEntry, placeOf } from './entries.ts'

export function exchangeMethods(db: Connection): Exchanges {
  return {
    async openExchange(owner, conversationId, exchange, write) {
      const now = db.options.now()
      const id = givenId(exchange.id, now)
      const notes = jsonText(exchange.notes ?? [], 'The notes')
      const blob = cutBlob(exchange.body)
      const { basedOn, provider, protocol, model } = exchange
      return db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const { n } = placeOf(db, conversation, basedOn)
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
              new Date(now).toISOString(),
              notes,
            ),
          () => idTaken('exchange', id),
        )
        return toExchange(mustHave(db, owner, id))
      })
    },

    retryExchange: (owner, exchangeId, write) =>
      db.write(() => {
        const { n, attempts } = openOne(db, owner, exchangeId, write).exchange
        db.run('UPDATE exchanges SET attempts = attempts + 1 WHERE n = ?', n)
        return attempts + 1
      }),

    async finishExchange(owner, exchangeId, end, write) {
      const now = db.options.now()
      const reply = end.reply && prepareEntry(end.reply, now)
      const usage = end.usage ? jsonText(end.usage, 'The usage') : null
      const failure = end.failure ? jsonText(end.failure, 'The failure') : null
      const added = JSON.parse(jsonText(end.notes ?? [], 'The notes')) as Note[]
      return db.write(() => {
        const { conversation, exchange } = openOne(db, owner, exchangeId, write)
        const entry = reply && appendEntry(db, conversation, reply)
        const notes = [...(JSON.parse(exchange.notes) as Note[]), ...added]
        db.run(
          `UPDATE exchanges SET outcome = ?, ended_at = ?, reply = (SELECT n FROM entries WHERE id = ?), cost = ?,
             usage = ?, failure = ?, notes = ? WHERE n = ?`,
          end.outcome,
          new Date(now).toISOString(),
          entry?.id ?? null,
          end.cost ?? null,
          usage,
          failure,
          JSON.stringify(notes),
          exchange.n,
        )
        db.run('DELETE FROM journal WHERE exchange = ?', exchange.n)
        return { exchange: toExchange(mustHave(db, owner, exchangeId)), ...(entry && { entry }) }
      })
    },

    exchange: (owner, exchangeId) =>
      db.read(() => {
        const row = find(db, owner, exchangeId)
        return row && toExchange(row)
      }),

    async exchanges(owner, conversationId, page = {}) {
      const size = pageSize(page)
      const below = page.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(readCursor(page.cursor, ['number'])[0])
      const rows = await db.read(() =>
        db.all<ExchangeRow>(
          `${select} WHERE c.id = ? AND c.owner = ? AND x.n < ? AND (? IS NULL OR x.outcome = ?)
           ORDER BY x.n DESC LIMIT ? + 0`,
          conversationId,
          owner,
          below,
          page.outcome ?? null,
          page.outcome ?? null,
          size + 1,
        ),
      )
      return pageOf(rows, size, (row) => [row.n], toExchange)
    },

    async usage(owner, query = {}) {
      const { after, before } = timeSpan(query)
      const one = query.conversationId
      return db.read(() =>
        db.all<UsageRow & Row>(
          `SELECT substr(x.started_at, 1, 10) AS day, x.provider, x.model, count(*) AS exchanges,
             ${summed.map((field) => `coalesce(sum(json_extract(x.usage, '$.${field}')), 0) AS ${field}`).join(', ')},
             coalesce(sum(x.cost), 0.0) AS cost, sum(x.usage IS NOT NULL AND x.cost IS NULL) AS unpriced
           FROM conversations c JOIN exchanges x ON x.conversation = c.n
           WHERE c.owner = ? ${one === undefined ? '' : 'AND c.id = ?'} AND x.started_at >= ? AND x.started_at < ?
           GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
          owner,
          ...(one === undefined ? [] : [one]),
          after,
          before,
        ),
      )
    },

    async journal(owner, exchangeId, offset, events, write) {
      const json = jsonText(events, 'The events')
      return db.write(() => {
        const { n } = openOne(db, owner, exchangeId, write).exchange
        const last = db.get<{ kept: number }>(
          'SELECT first + count AS kept FROM journal WHERE exchange = ? ORDER BY first DESC LIMIT 1',
          n,
        )
        const kept = last?.kept ?? 0
        if (kept !== offset) throw journalGap(exchangeId, kept, offset)
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
        const rows = db.all<{ first: number; events: string }>(
          'SELECT first, events FROM journal WHERE exchange = ? AND first + count > ? ORDER BY first',
          n,
          from,
        )
        return rows.flatMap(({ first, events }) =>
          (JSON.parse(events) as ReplyEvent[]).slice(Math.max(0, from - first)),
        )
      }),
  }
}

/** `offline` is true or absent: its sum says how often. */
const summed = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'offline'] as const

type ExchangeRow = {
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
  FROM exchanges x JOIN conversations c ON c.n = x.conversation
  JOIN entries b ON b.n = x.based_on LEFT JOIN entries r ON r.n = x.reply`

function find(db: Connection, owner: string, exchangeId: string): ExchangeRow | undefined {
  return db.get<ExchangeRow>(`${select} WHERE x.id = ? AND c.owner = ?`, exchangeId, owner)
}

function mustHave(db: Connection, owner: string, exchangeId: string): ExchangeRow {
  const found = find(db, owner, exchangeId)
  if (!found) throw notFound('exchange', exchangeId)
  return found
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
