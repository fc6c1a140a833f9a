// Records and streams: a program on top of a store (a server, a command) has its own data, and a store keeps it without
// interpreting it. A record is a small JSON document under a name; a stream is an append-only list of numbered events.
// What belongs to a conversation is deleted with it.

import type { Failure } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Page, PageOf } from './store.ts'

export interface Records {
  /** All of them or none. If a version does not match: kind 'conflict', code 'record-changed'. */
  putRecords(records: readonly NewRecord[]): Promise<StoredRecord[]>
  record(owner: string, kind: string, id: string): Promise<StoredRecord | undefined>
  /** Newest first. */
  records(owner: string, kind: string, page?: PageOf & { conversationId?: string }): Promise<Page<StoredRecord>>
  /** False: there was none. */
  deleteRecord(owner: string, kind: string, id: string): Promise<boolean>
}

export interface Streams {
  /** Creates a stream, or takes it over: earlier writers are fenced off. */
  openStream(owner: string, conversationId: string, streamId: string): Promise<{ epoch: number; next: number }>
  /**
   * Appends to several streams in one transaction; returns the failure of each one that was refused, which does not
   * affect the others: 'conflict' with code 'stream-taken' (an older epoch), 'stream-gap' or 'stream-ended', or
   * 'not-found'.
   */
  appendStreams(writes: readonly StreamWrite[]): Promise<(Failure | undefined)[]>
  /** Events from a number on, up to a limit; undefined: no such stream. */
  stream(owner: string, streamId: string, from?: number, most?: number): Promise<StreamPage | undefined>
  /** The streams of a conversation that have not ended, newest first. */
  currentStreams(owner: string, conversationId: string): Promise<string[]>
  /**
   * Reports when any process has written to a stream; resolves to a function that stops it, once listening has started.
   * Absent if there are no notifications, and the caller must poll.
   */
  listen?(streamId: string, listener: StreamListener): Promise<() => void>
  /** Deletes streams of all owners that ended before this time; returns how many. */
  dropStreams(endedBefore: string): Promise<number>
}

export interface NewRecord {
  owner: string
  kind: string
  id: string
  data: JsonObject
  conversationId?: string
  /** After this time it is not found any more. */
  expiresAt?: string
  /** The version it must have now; 0: it must not exist. Absent: any existing one is replaced. */
  version?: number
}

export interface StoredRecord extends Omit<NewRecord, 'version'> {
  /** 1 at first, incremented with each put. */
  version: number
  /** When it was made. */
  at: string
}

export interface StreamWrite {
  owner: string
  streamId: string
  epoch: number
  /** The number of the first of these events: how many the stream already has. */
  offset: number
  /** Each a single line of text. */
  events: readonly string[]
  /** Nothing comes after these. */
  end?: boolean
}

export interface StreamListener {
  more(): void
  /** Nothing more will be received: listen again, and check for what was missed. */
  lost(): void
}

export interface StreamPage {
  events: string[]
  /** The number after the last event of this page. */
  next: number
  /** The stream has ended, and this page reaches its end. */
  ended: boolean
}

/** Tokens and cost of one day, in UTC, at one model. */
export interface UsageRow {
  day: string
  provider: string
  model: string
  exchanges: number
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning: number
  cost: number
  /** Exchanges with usage and an unknown price. */
  unpriced: number
  /** Exchanges that the built-in emulator answered, which cost nothing. */
  offline: number
}

export interface UsageQuery {
  conversationId?: string
  /** ISO times: from `after` on, up to but not including `before`. */
  after?: string
  before?: string
}

/** The default maximum of events in a page of a stream. */
export const streamPage = 1000
