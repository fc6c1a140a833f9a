// Records and streams in PostgreSQL. Events are stored as lines, several in one row: a row for each would be mostly
// index.

import { asFailure, type Failure } from '../../core/error.ts'
import { cursorNumber, pageOf, pageSize } from '../page.ts'
import { checkId, jsonText } from '../new-entry.ts'
import { toRecord, toStreamPage, type EventsRow, type RecordRow, type StreamRow } from '../sql/rows.ts'
import { postgresSelects as selects } from '../sql/selects.ts'
import { badStream, isoTime, notFound, recordChanged } from '../store-errors.ts'
import {
  streamPage,
  type NewRecord,
  type Records,
  type StoredRecord,
  type StreamWrite,
  type Streams,
} from '../records.ts'
import type { Database, Queries } from './database.ts'
import { channel } from './listen.ts'

export function recordMethods(db: Database): Records & Streams {
  return {
    putRecords: (records) => db.transaction((queries) => putAll(db, queries, records)),

    async record(owner, kind, id) {
      const row = await db.get<RecordRow>(
        `${selects.records} WHERE r.owner = $1 AND r.kind = $2 AND r.id = $3 AND ${live('$4')}`,
        [owner, kind, id, nowOf(db)],
      )
      return row && toRecord(row)
    },

    async records(owner, kind, page = {}) {
      const size = pageSize(page)
      const below = cursorNumber(page.cursor)
      const rows = await db.all<RecordRow>(
        `${selects.records} WHERE r.owner = $1 AND r.kind = $2 AND r.n < $3 AND ${live('$4')}
           AND ($5::text IS NULL OR c.id = $5::text) ORDER BY r.n DESC LIMIT $6`,
        [owner, kind, below, nowOf(db), page.conversationId ?? null, size + 1],
      )
      return pageOf(rows, size, (row) => [row.n], toRecord)
    },

    async deleteRecord(owner, kind, id) {
      const sql = `DELETE FROM synapse.records r WHERE r.owner = $1 AND r.kind = $2 AND r.id = $3 AND ${live('$4')} RETURNING n`
      // In a transaction: done twice, it would report that there was none.
      const deleted = await db.transaction((queries) => queries.all(sql, [owner, kind, id, nowOf(db)]))
      return deleted.length > 0
    },

    async openStream(owner, conversationId, streamId) {
      const id = checkId(streamId, db.options.now())
      const conversation = await conversationNumber(db, owner, conversationId)
      const opened = await db.get<{ epoch: number; next: number }>(
        `INSERT INTO synapse.streams AS s (id, conversation, epoch, next) VALUES ($1, $2, 1, 0)
         ON CONFLICT (id) DO UPDATE SET epoch = s.epoch + 1 WHERE s.conversation = excluded.conversation
         RETURNING s.epoch, s.next`,
        [id, conversation],
      )
      if (!opened) throw notFound('stream', id)
      return { epoch: opened.epoch, next: opened.next }
    },

    appendStreams: (writes) => db.transaction((queries) => appendAll(db, queries, writes)),

    async stream(owner, streamId, from = 0, limit = streamPage) {
      const stream = await db.get<StreamRow>(`${selects.streams} WHERE s.id = $1 AND c.owner = $2`, [streamId, owner])
      if (!stream) return undefined
      const rows = await db.all<EventsRow>(
        `SELECT first, events FROM synapse.stream_events
         WHERE stream = $1 AND first + count > $2::bigint AND first < $3::bigint AND first < $4 ORDER BY first`,
        [stream.n, from, from + limit, stream.next],
      )
      return toStreamPage(stream, rows, from, limit)
    },

    async currentStreams(owner, conversationId) {
      const rows = await db.all<{ id: string }>(
        `${selects.streams} WHERE c.id = $1 AND c.owner = $2 AND s.ended_at IS NULL ORDER BY s.n DESC`,
        [conversationId, owner],
      )
      return rows.map(({ id }) => id)
    },

    async dropStreams(endedBefore) {
      const before = isoTime(endedBefore, 'The end of a stream')
      return (await db.all('DELETE FROM synapse.streams WHERE ended_at < $1 RETURNING n', [before])).length
    },
  }
}

/** Call it inside a transaction. */
export async function putAll(db: Database, queries: Queries, records: readonly NewRecord[]): Promise<StoredRecord[]> {
  // Those that another transaction has locked are left to it.
  await queries.all(
    `DELETE FROM synapse.records WHERE n IN (
       SELECT n FROM synapse.records WHERE expires_at <= $1 FOR UPDATE SKIP LOCKED)`,
    [nowOf(db)],
  )
  const stored: StoredRecord[] = []
  for (const record of records) stored.push(await put(db, queries, record))
  return stored
}

async function put(db: Database, queries: Queries, record: NewRecord): Promise<StoredRecord> {
  const { owner, kind, conversationId, version } = record
  const id = checkId(record.id, db.options.now())
  const data = jsonText(record.data, 'The record')
  const expires = record.expiresAt === undefined ? null : isoTime(record.expiresAt, 'The end of a record')
  const conversation = conversationId === undefined ? null : await conversationNumber(queries, owner, conversationId)
  const values = [owner, kind, id, conversation, expires, data]
  const row =
    version !== undefined && version > 0
      ? await queries.get<{ n: number }>(
          `UPDATE synapse.records SET conversation = $4, version = version + 1, expires_at = $5, data = $6
           WHERE owner = $1 AND kind = $2 AND id = $3 AND version = $7 RETURNING n`,
          [...values, version],
        )
      : await queries.get<{ n: number }>(
          `INSERT INTO synapse.records AS r (owner, kind, id, conversation, expires_at, data, version, at)
           VALUES ($1, $2, $3, $4, $5, $6, 1, $7) ON CONFLICT (owner, kind, id) ${
             version === 0
               ? 'DO NOTHING'
               : `DO UPDATE SET conversation = excluded.conversation, version = r.version + 1,
                  expires_at = excluded.expires_at, data = excluded.data`
           } RETURNING n`,
          [...values, nowOf(db)],
        )
  const stored = row && (await queries.get<RecordRow>(`${selects.records} WHERE r.n = $1`, [row.n]))
  if (!stored) throw recordChanged(kind, id)
  return toRecord(stored)
}

function live(now: string): string {
  return `(r.expires_at IS NULL OR r.expires_at > ${now})`
}

async function conversationNumber(queries: Queries, owner: string, id: string): Promise<number> {
  const row = await queries.get<{ n: number }>('SELECT n FROM synapse.conversations WHERE id = $1 AND owner = $2', [
    id,
    owner,
  ])
  if (!row) throw notFound('conversation', id)
  return row.n
}

async function appendAll(
  db: Database,
  queries: Queries,
  writes: readonly StreamWrite[],
): Promise<(Failure | undefined)[]> {
  // Locked in a fixed order, so that two writers of several streams cannot deadlock.
  const rows = await queries.all<StreamRow>(
    `${selects.streams} WHERE s.id = ANY ($1::text[]) ORDER BY s.id FOR UPDATE OF s`,
    [writes.map((write) => write.streamId)],
  )
  const streams = new Map(rows.map((row) => [row.id, row]))
  const failures: (Failure | undefined)[] = []
  for (const write of writes) failures.push(await appendOne(db, queries, write, streams.get(write.streamId)))
  await notifyStreams(queries, [...streams.keys()])
  return failures
}

/** A payload has less than 8,000 bytes, and an id at most 100. */
const idsAtOnce = 75

async function notifyStreams(queries: Queries, ids: readonly string[]): Promise<void> {
  for (let i = 0; i < ids.length; i += idsAtOnce) {
    await queries.all('SELECT pg_notify($1, $2)', [channel, ids.slice(i, i + idsAtOnce).join(' ')])
  }
}

async function appendOne(
  db: Database,
  queries: Queries,
  write: StreamWrite,
  stream: StreamRow | undefined,
): Promise<Failure | undefined> {
  if (stream?.owner !== write.owner) return asFailure(notFound('stream', write.streamId))
  const refused = badStream(write, { epoch: stream.epoch, next: stream.next, ended: stream.ended_at !== null })
  if (refused) return asFailure(refused)
  const count = write.events.length
  if (count > 0) {
    await queries.all('INSERT INTO synapse.stream_events (stream, first, count, events) VALUES ($1, $2, $3, $4)', [
      stream.n,
      write.offset,
      count,
      write.events.join('\n'),
    ])
  }
  stream.next += count
  stream.ended_at = write.end ? nowOf(db) : null
  await queries.all('UPDATE synapse.streams SET next = $1, ended_at = $2 WHERE n = $3', [
    stream.next,
    stream.ended_at,
    stream.n,
  ])
  return undefined
}

function nowOf(db: Database): string {
  return new Date(db.options.now()).toISOString()
}
