// Beside the log: what is built on a store (a server, a command) has things of its own to keep, and a store keeps them
// without knowing what they are. A record is a small JSON document under a name; a stream is a list of events that is
// only ever appended to, each at its number. What belongs to a conversation goes with it when it is deleted.

import type { Failure } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Page, PageOf } from './store.ts'

export interface Records {
  /** All of them or none. One whose version is not the expected one: kind 'conflict', code 'record-changed'. */
  putRecords(records: readonly NewRecord[]): Promise<StoredRecord[]>
  record(owner: string, kind: string, id: string): Promise<StoredRecord | undefined>
  /** The last made first. */
  records(owner: string, kind: string, page?: PageOf & { conversationId?: string }): Promise<Page<StoredRecord>>
  /** False: there was none. */
  deleteRecord(owner: string, kind: string, id: string): Promise<boolean>
}

export interface Streams {
  /** Makes a stream, or takes it over: whoever wrote to it before is fenced off. */
  openStream(owner: string, conversationId: string, streamId: string): Promise<{ epoch: number; next: number }>
  /**
   * Appends to several streams in one transaction; gives the failure of each one that was refused, which leaves the
   * others alone: 'conflict' with code 'stream-taken' (an older epoch), 'stream-gap' or 'stream-ended', or 'not-found'.
   */
  appendStreams(writes: readonly StreamWrite[]): Promise<(Failure | undefined)[]>
  /** Events from a number on, not more than some; undefined: no such stream. */
  stream(owner: string, streamId: string, from?: number, most?: number): Promise<StreamPage | undefined>
  /**
   * Tells when any process has written to a stream; gives a way to stop that, once it is heard. Absent where there is no
   * such sign, and it must be looked for.
   */
  listen?(streamId: string, listener: StreamListener): Promise<() => void>
  /** Takes away streams of all owners that ended before this time; gives how many. */
  dropStreams(endedBefore: string): Promise<number>
}

export interface NewRecord {
  owner: string
  kind: string
  id: string
  data: JsonObject
  conversationId?: string
  /** From then on it is not found any more. */
  expiresAt?: string
  /** The version it must have now; 0: there must be none. Absent: whatever is there is replaced. */
  version?: number
}

export interface StoredRecord {
  owner: string
  kind: string
  id: string
  data: JsonObject
  conversationId?: string
  expiresAt?: string
  /** 1 at first, and one more with each put. */
  version: number
  /** When it was made. */
  at: string
}

export interface StreamWrite {
  owner: string
  streamId: string
  epoch: number
  /** The number of the first of these events: how many the stream holds already. */
  offset: number
  /** Each a text in one line. */
  events: readonly string[]
  /** Nothing comes after these. */
  end?: boolean
}

export interface StreamListener {
  more(): void
  /** Nothing more will be heard: listen again, and look for what was missed. */
  lost(): void
}

interface StreamPage {
  events: string[]
  /** The number after the last event of this page. */
  next: number
  /** The stream has ended, and this page reaches its end. */
  ended: boolean
}

/** Tokens and money of one day, in UTC, at one model. */
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
  /** Exchanges with usage whose price is not known. */
  unpriced: number
  /** Exchanges that the built-in emulator answered, which cost nothing. */
  offline: number
}

export interface UsageQuery {
  conversationId?: string
  /** ISO times: from `after` on, up to but without `before`. */
  after?: string
  before?: string
}

/** How many events a page of a stream has at most, by default. */
export const streamPage = 1000
