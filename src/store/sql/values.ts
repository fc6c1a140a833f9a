// What the SQL stores write, validated and converted to column values before a transaction begins.

import type { Note } from '../../core/context.ts'
import type { ProviderState } from '../../core/log.ts'
import type { Archive } from '../archive.ts'
import { bodyCutter, type Blob } from '../blobs.ts'
import { uuidv7 } from '../ids.ts'
import {
  checkOwner,
  cleanLabels,
  checkId,
  jsonText,
  plainText,
  prepareEntry,
  type PreparedEntry,
} from '../new-entry.ts'
import { isoTime } from '../store-errors.ts'
import type { ExchangeEnd, NewConversation, NewExchange, NewState } from '../store.ts'

export interface ConversationValues {
  id: string
  at: string
  title: string | null
  settings: string
  labels: string[]
}

export function conversationValues(owner: string, fields: NewConversation, now: number): ConversationValues {
  checkOwner(owner)
  return {
    id: checkId(fields.id, now),
    at: fields.at === undefined ? new Date(now).toISOString() : isoTime(fields.at, 'The time of a conversation'),
    title: fields.title === undefined ? null : plainText(fields.title),
    settings: jsonText(fields.settings ?? {}, 'The settings'),
    labels: cleanLabels(fields.labels),
  }
}

export interface ExchangeValues {
  id: string
  notes: string
  blob: Blob
  startedAt: string
}

const cutBody = bodyCutter()

/** The bodies that clients send: apart from those of the exchanges, because each is compared with the one before it. */
export const cutClientBody = bodyCutter()

export function exchangeValues(conversationId: string, exchange: NewExchange, now: number): ExchangeValues {
  return {
    id: checkId(exchange.id, now),
    notes: jsonText(exchange.notes ?? [], 'The notes'),
    blob: cutBody(conversationId, exchange.body),
    startedAt: new Date(now).toISOString(),
  }
}

export interface EndValues {
  endedAt: string
  reply: PreparedEntry | undefined
  cost: number | null
  usage: string | null
  failure: string | null
  /** The stored notes of the exchange, with those that its end adds. */
  notesAfter: (stored: string) => string
}

export function endValues(end: ExchangeEnd, now: number): EndValues {
  const added = JSON.parse(jsonText(end.notes ?? [], 'The notes')) as Note[]
  return {
    endedAt: new Date(now).toISOString(),
    reply: end.reply && prepareEntry(end.reply, now),
    cost: end.cost ?? null,
    usage: end.usage ? jsonText(end.usage, 'The usage') : null,
    failure: end.failure ? jsonText(end.failure, 'The failure') : null,
    notesAfter: (stored) => JSON.stringify([...(JSON.parse(stored) as Note[]), ...added]),
  }
}

/** The state of a provider as it is returned, and its end as a column. */
export function stateValues(
  conversationId: string,
  { provider, protocol, kind, ref, covers, expiresAt }: NewState,
  now: number,
): { state: ProviderState; ends: string | null } {
  const ends = expiresAt === undefined ? null : isoTime(expiresAt, 'The end of a state')
  const at = new Date(now).toISOString()
  const state = { id: uuidv7(now), conversationId, provider, protocol, kind, ref, covers, at }
  return { state: ends === null ? state : { ...state, expiresAt: ends }, ends }
}

/** The numbers of a usage that are added up; `offline` is true or absent, so its sum says how often. */
export const tokenFields = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'offline'] as const

type Value = string | number | boolean | null

/** A row of an archive, to be inserted unchanged. */
export interface ArchivedRow {
  table: 'branches' | 'exchanges' | 'tool_runs' | 'overlays'
  values: Record<string, Value>
  /** Its name in an error, if its id is taken. */
  id?: { kind: 'exchange' | 'overlay'; id: string }
  /** Of an exchange with a usage. */
  tokens?: number[]
}

/** All rows of an archive but its conversation and entries. `numberOf` returns the number of an entry. */
export function archivedRows(
  { branches, exchanges, toolRuns, overlays }: Archive,
  conversation: number,
  numberOf: (entryId: string) => number,
  now: number,
): ArchivedRow[] {
  return [
    ...branches.map(({ name, entryId }): ArchivedRow => ({
      table: 'branches',
      values: { conversation, name: plainText(name), entry: numberOf(entryId) },
    })),
    ...exchanges.map((exchange): ArchivedRow => ({
      table: 'exchanges',
      values: {
        id: checkId(exchange.id, now),
        conversation,
        based_on: numberOf(exchange.basedOn),
        reply: exchange.replyEntryId ? numberOf(exchange.replyEntryId) : null,
        outcome: exchange.outcome,
        provider: exchange.provider,
        protocol: exchange.protocol,
        model: exchange.model,
        body_sha256: exchange.bodySha256,
        started_at: exchange.startedAt,
        ended_at: exchange.endedAt ?? null,
        attempts: exchange.attempts,
        cost: exchange.cost ?? null,
        usage: exchange.usage ? jsonText(exchange.usage, 'The usage') : null,
        failure: exchange.failure ? jsonText(exchange.failure, 'The failure') : null,
        notes: jsonText(exchange.notes, 'The notes'),
      },
      id: { kind: 'exchange', id: exchange.id },
      ...(exchange.usage && { tokens: tokenNumbers(exchange.usage) }),
    })),
    ...toolRuns.map((run): ArchivedRow => ({
      table: 'tool_runs',
      values: {
        conversation,
        call_id: run.callId,
        entry: numberOf(run.entryId),
        result: run.resultEntryId ? numberOf(run.resultEntryId) : null,
        name: run.name,
        args_sha256: run.argsSha256,
        idempotency_key: run.idempotencyKey,
        repeatable: run.repeatable,
        starts: run.starts,
        started_at: run.startedAt,
        ended_at: run.endedAt ?? null,
        outcome: run.outcome ?? null,
      },
    })),
    ...overlays.map((overlay): ArchivedRow => ({
      table: 'overlays',
      values: {
        id: checkId(overlay.id, now),
        conversation,
        entry: numberOf(overlay.entryId),
        kind: overlay.kind,
        undone: overlay.undone,
        at: overlay.at,
        data: jsonText(overlay.data, 'The overlay'),
      },
      id: { kind: 'overlay', id: overlay.id },
    })),
  ]
}

export function tokenNumbers(usage: Partial<Record<(typeof tokenFields)[number], unknown>>): number[] {
  return tokenFields.map((field) => Number(usage[field] ?? 0))
}
