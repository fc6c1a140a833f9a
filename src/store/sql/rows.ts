// The rows of the SQL stores, and their conversion. SQLite and PostgreSQL have the same tables, so both read them here;
// `Flag` is a boolean column, which SQLite returns as 0 or 1.

import type { Note } from '../../core/context.ts'
import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type {
  Branch,
  Conversation,
  Entry,
  EntryOutline,
  Exchange,
  Overlay,
  ProviderState,
  RecordedToolRun,
} from '../../core/log.ts'
import type { Usage } from '../../core/usage.ts'
import { inBranchOrder } from '../branch-order.ts'
import type { Fence } from '../fence.ts'
import { readMessage } from '../new-entry.ts'
import type { StoredRecord, StreamPage } from '../records.ts'
import { damaged } from '../store-errors.ts'

type Flag = number | boolean

export type ConversationRow = {
  id: string
  owner: string
  title: string | null
  settings: string
  created_at: string
  updated_at: string
  head_n: number | null
  head: string | null
  branch: string | null
  entries: number
}

export function toConversation(row: ConversationRow, labels: string[]): Conversation {
  if (row.head_n !== null && row.head === null) throw damaged(`The head of conversation ${row.id}`)
  return {
    id: row.id,
    owner: row.owner,
    ...(row.title !== null && { title: row.title }),
    labels: labels.sort(),
    settings: JSON.parse(row.settings) as JsonObject,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    head: row.head,
    ...(row.branch !== null && { branch: row.branch }),
    entries: row.entries,
  }
}

export type FenceRow = {
  id: string
  lease_holder: string | null
  lease_epoch: number
  lease_since: number
  lease_expires: number
  clock: number
}

export function fenceOf(row: FenceRow): Fence {
  return {
    conversationId: row.id,
    holder: row.lease_holder,
    epoch: row.lease_epoch,
    since: row.lease_since,
    expires: row.lease_expires,
  }
}

export type BranchRow<F extends Flag> = { name: string | null; id: string; depth: number; at: string; current: F }

export function toBranches(rows: readonly BranchRow<Flag>[]): Branch[] {
  return inBranchOrder(
    rows.map(({ name, id, depth, at, current }) => ({
      ...(name !== null && { name }),
      entryId: id,
      depth,
      at,
      current: Boolean(current),
    })),
  )
}

export type EntryRow = {
  id: string
  conversation_id: string
  parent_id: string | null
  depth: number
  at: string
  checksum: number
  message: string
}

export function toEntry(row: EntryRow): Entry {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    parentId: row.parent_id,
    depth: row.depth,
    message: readMessage(row.id, row.checksum, row.message),
    at: row.at,
  }
}

export type OutlineRow = { id: string; parent_id: string | null; depth: number; role: EntryOutline['role']; at: string }

export function toOutline({ id, parent_id, depth, role, at }: OutlineRow): EntryOutline {
  return { id, parentId: parent_id, depth, role, at }
}

export type ExchangeRow = {
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

export function toExchange(row: ExchangeRow): Exchange {
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

/** Several events in one row, the first of them with this number. */
export type EventsRow = { first: number; events: string }

/** The journaled events from a number on. */
export function toEvents(rows: readonly EventsRow[], from: number): ReplyEvent[] {
  return rows.flatMap(({ first, events }) => (JSON.parse(events) as ReplyEvent[]).slice(Math.max(0, from - first)))
}

export type ToolRunRow<F extends Flag> = {
  n: number
  conversation_id: string
  call_id: string
  entry: string
  result: string | null
  name: string
  args_sha256: string
  idempotency_key: string
  repeatable: F
  starts: number
  started_at: string
  ended_at: string | null
  outcome: NonNullable<RecordedToolRun['outcome']> | null
}

export function toToolRun(row: ToolRunRow<Flag>): RecordedToolRun {
  return {
    conversationId: row.conversation_id,
    callId: row.call_id,
    entryId: row.entry,
    name: row.name,
    argsSha256: row.args_sha256,
    idempotencyKey: row.idempotency_key,
    repeatable: Boolean(row.repeatable),
    starts: row.starts,
    startedAt: row.started_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.outcome && { outcome: row.outcome }),
    ...(row.result !== null && { resultEntryId: row.result }),
  }
}

export type StateRow = {
  id: string
  conversation_id: string
  covers: string
  provider: string
  protocol: string
  kind: ProviderState['kind']
  ref: string
  expires_at: string | null
  at: string
}

export function toState(row: StateRow): ProviderState {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    provider: row.provider,
    protocol: row.protocol,
    kind: row.kind,
    ref: row.ref,
    covers: row.covers,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    at: row.at,
  }
}

export type OverlayRow<F extends Flag> = {
  id: string
  conversation_id: string
  entry: string
  kind: string
  undone: F
  at: string
  data: string
}

export function toOverlay(row: OverlayRow<Flag>): Overlay {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    entryId: row.entry,
    kind: row.kind,
    data: JSON.parse(row.data) as JsonObject,
    undone: Boolean(row.undone),
    at: row.at,
  }
}

export type RecordRow = {
  n: number
  owner: string
  kind: string
  id: string
  conversation_id: string | null
  version: number
  expires_at: string | null
  at: string
  data: string
}

export function toRecord(row: Omit<RecordRow, 'n'>): StoredRecord {
  return {
    owner: row.owner,
    kind: row.kind,
    id: row.id,
    data: JSON.parse(row.data) as JsonObject,
    ...(row.conversation_id !== null && { conversationId: row.conversation_id }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    version: row.version,
    at: row.at,
  }
}

export type StreamRow = {
  n: number
  id: string
  owner: string
  conversation: number
  epoch: number
  next: number
  ended_at: string | null
}

/** At most this many events of a stream from a number on; a row has several of them, one per line. */
export function toStreamPage(stream: StreamRow, rows: readonly EventsRow[], from: number, limit: number): StreamPage {
  const events: string[] = []
  for (const row of rows) events.push(...row.events.split('\n').slice(Math.max(0, from - row.first)))
  const page = events.slice(0, limit)
  const next = from + page.length
  return { events: page, next, ended: stream.ended_at !== null && next >= stream.next }
}
