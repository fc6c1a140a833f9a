// Records and streams in memory.

import { SynapseError, asFailure, type Failure } from '../../core/error.ts'
import { cursorNumber, pageOf, pageSize } from '../page.ts'
import { checkId, jsonCopy } from '../new-entry.ts'
import { badStream, isoTime, notFound, recordChanged } from '../store-errors.ts'
import {
  streamPage,
  type NewRecord,
  type Records,
  type StoredRecord,
  type StreamWrite,
  type Streams,
} from '../records.ts'
import { copyOf, type StoredRecordRow, type StoredStream, type MemoryState } from './state.ts'

export function recordMethods(state: MemoryState): Records & Streams {
  return {
    async putRecords(records) {
      return putAll(state, records)
    },

    async record(owner, kind, id) {
      const stored = state.records.get(keyOf({ owner, kind, id }))
      return stored && isLive(state)(stored) ? copy(stored) : undefined
    },

    async records(owner, kind, page = {}) {
      const size = pageSize(page)
      const from = cursorNumber(page.cursor)
      const rows = [...state.records.values()].filter(isLive(state)).filter(({ n, record }) => {
        const isWanted = page.conversationId === undefined || record.conversationId === page.conversationId
        return n < from && record.owner === owner && record.kind === kind && isWanted
      })
      return pageOf(rows.toReversed(), size, (row) => [row.n], copy)
    },

    async deleteRecord(owner, kind, id) {
      return state.records.delete(keyOf({ owner, kind, id }))
    },

    async openStream(owner, conversationId, streamId) {
      const id = checkId(streamId, state.now())
      const conversation = state.find(owner, conversationId)
      if (!conversation) throw notFound('conversation', conversationId)
      const existing = state.streams.get(id)
      if (existing && existing.conversation !== conversation) throw notFound('stream', id)
      const stream: StoredStream = existing ?? { conversation, epoch: 0, events: [] }
      stream.epoch++
      state.streams.set(id, stream)
      return { epoch: stream.epoch, next: stream.events.length }
    },

    async appendStreams(writes) {
      return writes.map((write) => appendStream(state, write))
    },

    async stream(owner, streamId, from = 0, limit = streamPage) {
      const stream = findStream(state, owner, streamId)
      if (!stream) return undefined
      const events = stream.events.slice(from, from + limit)
      const next = from + events.length
      return { events, next, ended: stream.endedAt !== undefined && next >= stream.events.length }
    },

    async currentStreams(owner, conversationId) {
      const conversation = state.find(owner, conversationId)
      const all = [...state.streams].filter(
        ([, stream]) => stream.conversation === conversation && stream.endedAt === undefined,
      )
      return all.map(([id]) => id).toReversed()
    },

    async dropStreams(endedBefore) {
      const before = isoTime(endedBefore, 'The end of a stream')
      const ended = [...state.streams].filter(([, { endedAt }]) => endedAt !== undefined && endedAt < before)
      for (const [id] of ended) state.streams.delete(id)
      return ended.length
    },
  }
}

/** Puts them all, or throws before anything has changed. */
export function putAll(state: MemoryState, records: readonly NewRecord[]): StoredRecord[] {
  if (records.length === 0) return []
  const now = new Date(state.now()).toISOString()
  const isCurrent = isLive(state)
  for (const [key, row] of state.records) if (!isCurrent(row)) state.records.delete(key)
  const before = new Map(state.records)
  try {
    return records.map((record) => put(state, record, now))
  } catch (error) {
    state.records = before
    throw error
  }
}

function put(state: MemoryState, record: NewRecord, now: string): StoredRecord {
  const { owner, kind, conversationId } = record
  const id = checkId(record.id, state.now())
  const data = jsonCopy(record.data, 'The record')
  const key = keyOf({ owner, kind, id })
  const existing = state.records.get(key)
  if (record.version !== undefined && record.version !== (existing?.record.version ?? 0)) {
    throw recordChanged(kind, id)
  }
  if (conversationId !== undefined && !state.find(owner, conversationId)) {
    throw notFound('conversation', conversationId)
  }
  const row: StoredRecordRow = {
    n: existing?.n ?? ++state.lastRecord,
    record: {
      owner,
      kind,
      id,
      data,
      ...(conversationId !== undefined && { conversationId }),
      ...(record.expiresAt !== undefined && { expiresAt: isoTime(record.expiresAt, 'The end of a record') }),
      version: (existing?.record.version ?? 0) + 1,
      at: existing?.record.at ?? now,
    },
  }
  state.records.set(key, row)
  return copy(row)
}

function isLive(state: MemoryState): (row: StoredRecordRow) => boolean {
  const now = new Date(state.now()).toISOString()
  return ({ record }) => record.expiresAt === undefined || record.expiresAt > now
}

function keyOf({ owner, kind, id }: Pick<StoredRecord, 'owner' | 'kind' | 'id'>): string {
  return JSON.stringify([owner, kind, id])
}

function copy({ record }: StoredRecordRow): StoredRecord {
  return copyOf(record)
}

function findStream(state: MemoryState, owner: string, streamId: string): StoredStream | undefined {
  const stream = state.streams.get(streamId)
  return stream?.conversation.about.owner === owner ? stream : undefined
}

function appendStream(state: MemoryState, write: StreamWrite): Failure | undefined {
  try {
    const stream = findStream(state, write.owner, write.streamId)
    if (!stream) throw notFound('stream', write.streamId)
    const refused = badStream(write, {
      epoch: stream.epoch,
      next: stream.events.length,
      ended: stream.endedAt !== undefined,
    })
    if (refused) throw refused
    stream.events.push(...write.events)
    if (write.end) stream.endedAt = new Date(state.now()).toISOString()
    return undefined
  } catch (error) {
    if (error instanceof SynapseError) return asFailure(error)
    throw error
  }
}
