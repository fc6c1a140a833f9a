// Records and streams in SQLite. Events are stored as lines, several in one row: a row for each would be mostly index.

import { asFailure, SynapseError, type Failure } from '../../core/error.ts'
import { cursorNumber, pageOf, pageSize } from '../page.ts'
import { checkId, jsonText } from '../new-entry.ts'
import { toRecord, toStreamPage, type EventsRow, type RecordRow, type StreamRow } from '../sql/rows.ts'
import { sqliteSelects as selects } from '../sql/selects.ts'
import { badStream, isoTime, notFound, recordChanged } from '../store-errors.ts'
import {
  streamPage,
  type NewRecord,
  type Records,
  type StoredRecord,
  type StreamWrite,
  type Streams,
} from '../records.ts'
import type { Connection } from './connection.ts'

export function recordMethods(db: Connection): Records & Streams {
  return {
    putRecords: (records) => db.write(() => putAll(db, records)),

    record: (owner, kind, id) =>
      db.read(() => {
        const row = find(db, owner, kind, id)
        return row && toRecord(row)
      }),

    async records(owner, kind, page = {}) {
      const size = pageSize(page)
      const below = cursorNumber(page.cursor)
      const ofOne = page.conversationId === undefined ? '' : 'AND c.id = ?'
      const values = page.conversationId === undefined ? [] : [page.conversationId]
      const rows = await db.read(() =>
        db.all<RecordRow>(
          `${selects.records} WHERE r.owner = ? AND r.kind = ? AND r.n < ? AND (r.expires_at IS NULL OR r.expires_at > ?)
           ${ofOne} ORDER BY r.n DESC LIMIT ? + 0`,
          owner,
          kind,
          below,
          nowOf(db),
          ...values,
          size + 1,
        ),
      )
      return pageOf(rows, size, (row) => [row.n], toRecord)
    },

    deleteRecord: (owner, kind, id) =>
      db.write(() => {
        const row = find(db, owner, kind, id)
        if (row) db.run('DELETE FROM records WHERE n = ?', row.n)
        return row !== undefined
      }),

    openStream(owner, conversationId, streamId) {
      const id = checkId(streamId, db.options.now())
      return db.write(() => {
        const conversation = conversationNumber(db, owner, conversationId)
        const existing = db.get<StreamRow>('SELECT * FROM streams WHERE id = ?', id)
        if (existing && existing.conversation !== conversation) throw notFound('stream', id)
        if (existing) db.run('UPDATE streams SET epoch = epoch + 1 WHERE n = ?', existing.n)
        else db.run('INSERT INTO streams (id, conversation, epoch, next) VALUES (?, ?, 1, 0)', id, conversation)
        return { epoch: (existing?.epoch ?? 0) + 1, next: existing?.next ?? 0 }
      })
    },

    appendStreams: (writes) => db.write(() => writes.map((write) => appendOne(db, write))),

    stream: (owner, streamId, from = 0, limit = streamPage) =>
      db.read(() => {
        const stream = findStream(db, owner, streamId)
        if (!stream) return undefined
        const rows = db.all<EventsRow>(
          `SELECT first, events FROM stream_events WHERE stream = ? AND first + count > ? AND first < ? ORDER BY first`,
          stream.n,
          from,
          from + limit,
        )
        return toStreamPage(stream, rows, from, limit)
      }),

    currentStreams: (owner, conversationId) =>
      db.read(() =>
        db
          .all<{ id: string }>(
            `${selects.streams} WHERE c.id = ? AND c.owner = ? AND s.ended_at IS NULL ORDER BY s.n DESC`,
            conversationId,
            owner,
          )
          .map(({ id }) => id),
      ),

    dropStreams(endedBefore) {
      const before = isoTime(endedBefore, 'The end of a stream')
      return db.write(() => {
        const count = db.all('SELECT n FROM streams WHERE ended_at < ?', before).length
        if (count > 0) db.run('DELETE FROM streams WHERE ended_at < ?', before)
        return count
      })
    },
  }
}

/** Call it inside the transaction. */
export function putAll(db: Connection, records: readonly NewRecord[]): StoredRecord[] {
  const now = nowOf(db)
  db.run('DELETE FROM records WHERE expires_at <= ?', now)
  // Most often all of them belong to one conversation.
  let last: { owner: string; id: string; n: number } | undefined
  return records.map((record) => {
    const { owner, conversationId } = record
    if (conversationId === undefined) return put(db, record, null, now)
    if (last?.owner !== owner || last.id !== conversationId) {
      last = { owner, id: conversationId, n: conversationNumber(db, owner, conversationId) }
    }
    return put(db, record, last.n, now)
  })
}

/** Expired records are gone already. */
function put(db: Connection, record: NewRecord, conversation: number | null, now: string): StoredRecord {
  const { owner, kind, conversationId, version: expected } = record
  const id = checkId(record.id, db.options.now())
  const data = jsonText(record.data, 'The record')
  const expires = record.expiresAt === undefined ? null : isoTime(record.expiresAt, 'The end of a record')
  if (expected !== undefined && expected !== (find(db, owner, kind, id)?.version ?? 0)) throw recordChanged(kind, id)
  const row = db.get<{ version: number; at: string }>(
    `INSERT INTO records (owner, kind, id, conversation, version, expires_at, at, data) VALUES (?, ?, ?, ?, 1, ?, ?, ?)
     ON CONFLICT (owner, kind, id) DO UPDATE SET conversation = excluded.conversation, version = version + 1,
       expires_at = excluded.expires_at, data = excluded.data
     RETURNING version, at`,
    owner,
    kind,
    id,
    conversation,
    expires,
    now,
    data,
  )
  if (!row) throw notFound(kind, id)
  return toRecord({ owner, kind, id, conversation_id: conversationId ?? null, expires_at: expires, data, ...row })
}

function find(db: Connection, owner: string, kind: string, id: string): RecordRow | undefined {
  return db.get<RecordRow>(
    `${selects.records} WHERE r.owner = ? AND r.kind = ? AND r.id = ? AND (r.expires_at IS NULL OR r.expires_at > ?)`,
    owner,
    kind,
    id,
    nowOf(db),
  )
}

function conversationNumber(db: Connection, owner: string, id: string): number {
  const row = db.get<{ n: number }>('SELECT n FROM conversations WHERE id = ? AND owner = ?', id, owner)
  if (!row) throw notFound('conversation', id)
  return row.n
}

function findStream(db: Connection, owner: string, streamId: string): StreamRow | undefined {
  return db.get<StreamRow>(`${selects.streams} WHERE s.id = ? AND c.owner = ?`, streamId, owner)
}

function appendOne(db: Connection, write: StreamWrite): Failure | undefined {
  try {
    const count = write.events.length
    const isInLines = write.events.every((event) => !event.includes('\n'))
    const updated =
      isInLines &&
      db.get<{ n: number }>(
        `UPDATE streams SET next = next + ?, ended_at = ?
       WHERE id = ? AND epoch = ? AND next = ? AND ended_at IS NULL
         AND EXISTS (SELECT 1 FROM conversations c WHERE c.n = conversation AND c.owner = ?) RETURNING n`,
        count,
        write.end ? nowOf(db) : null,
        write.streamId,
        write.epoch,
        write.offset,
        write.owner,
      )
    if (!updated) throw whyNot(db, write)
    if (count > 0) {
      db.run(
        'INSERT INTO stream_events (stream, first, count, events) VALUES (?, ?, ?, ?)',
        updated.n,
        write.offset,
        count,
        write.events.join('\n'),
      )
    }
    return undefined
  } catch (error) {
    if (error instanceof SynapseError) return asFailure(error)
    throw error
  }
}

function whyNot(db: Connection, write: StreamWrite): SynapseError {
  const stream = findStream(db, write.owner, write.streamId)
  const state = stream && { epoch: stream.epoch, next: stream.next, ended: stream.ended_at !== null }
  return (state && badStream(write, state)) ?? notFound('stream', write.streamId)
}

function nowOf(db: Connection): string {
  return new Date(db.options.now()).toISOString()
}
