// The contract of a store: what every implementation must do.
//
// Each call takes the owner, and an id of another owner is simply not found: reads return undefined or an empty list,
// writes fail with kind 'not-found'. A promise that resolves means durable: the rows survive a crash. Each write is one
// transaction, all or nothing.

import type { Note, StateRef } from '../core/context.ts'
import type { Failure } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import type { JsonObject } from '../core/json.ts'
import type {
  Branch,
  Conversation,
  Entry,
  EntryOutline,
  Exchange,
  Lease,
  Overlay,
  ProviderState,
  RecordedToolRun,
} from '../core/log.ts'
import type { Message, Reply, ToolMessage } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import type { Archives } from './archive.ts'
import type { NewRecord, Records, Streams, UsageQuery, UsageRow } from './records.ts'

export interface Store
  extends
    Conversations,
    Entries,
    Branches,
    Exchanges,
    ToolRuns,
    Overlays,
    States,
    Blobs,
    Search,
    Leases,
    Records,
    Streams,
    Archives {
  /**
   * Present if writes are made in the order of the calls, and those of one turn of the event loop in one commit: a
   * write may build on one that is not durable yet. Its clock dates the entries.
   */
  ordered?: { now(): number }
  /** Reclaims space, and erases the last bytes of deleted data from the files. */
  vacuum(): Promise<void>
  /** Whether the database can be reached now. Absent if it is part of this process. */
  outages?: Outages
  /**
   * The same store for a task with a deadline: no call waits longer for an unreachable database. By default a call
   * waits as long as the store was opened with. Absent if nothing ever waits.
   */
  within?(ms: number): Store
  close(): Promise<void>
}

/** The database is unreachable; calls wait for it. */
export interface Outage {
  since: string
  failure: Failure
}

export interface Outages {
  current(): Outage | undefined
  /** Calls back when an outage begins, and with undefined when it is over; returns a function that stops it. */
  watch(listener: (outage: Outage | undefined) => void): () => void
}

export interface Conversations {
  createConversation(owner: string, fields?: NewConversation): Promise<Conversation>
  conversation(owner: string, id: string): Promise<Conversation | undefined>
  /** Most recently changed first. Reads no messages. `withoutLabel`: those with this label are left out. */
  conversations(owner: string, page?: PageOf & { label?: string; withoutLabel?: string }): Promise<Page<Conversation>>
  updateConversation(owner: string, id: string, change: ConversationChange): Promise<Conversation>
  /** Deletes all of it: entries, exchanges, index, and blobs that no other conversation uses. False: not found. */
  deleteConversation(owner: string, id: string): Promise<boolean>
}

export interface Entries {
  append(owner: string, conversationId: string, entry: NewEntry, write?: Write): Promise<Entry>
  /** Several in one transaction. An entry may name an earlier one of the list as its parent. */
  appendAll(
    owner: string,
    conversationId: string,
    entries: readonly NewEntry[],
    write?: Write,
    /** Written in the same transaction. */
    records?: readonly NewRecord[],
  ): Promise<Entry[]>
  entry(owner: string, entryId: string): Promise<Entry | undefined>
  /**
   * The path from the root to the entry, or only its last few entries. Empty if there is no such entry. A store may
   * return the messages up to the entry `outlineThrough` without their content, except for the first one and those of
   * the system.
   */
  history(owner: string, entryId: string, options?: { last?: number; outlineThrough?: string }): Promise<Entry[]>
  /** In the order of writing; of null: the roots. */
  children(owner: string, conversationId: string, entryId: string | null): Promise<Entry[]>
  /** The whole tree without messages, in the order of writing; or its last entries, of all or of those before one. */
  outline(owner: string, conversationId: string, part?: { last: number; before?: string }): Promise<EntryOutline[]>
}

export interface Branches {
  /** The position of the next entry. A fork moves this pointer back and appends; no entry is copied. */
  setHead(owner: string, conversationId: string, to: HeadTarget, write?: Write): Promise<Conversation>
  /** Named ones first, by name; then plain leaves, newest first. */
  branches(owner: string, conversationId: string): Promise<Branch[]>
  /** Creates or moves a name. A head that was on this branch stays in place, and is on no branch then. */
  nameBranch(owner: string, conversationId: string, name: string, entryId: string, write?: Write): Promise<void>
  /** Removes the name and leaves the entries. Does nothing if there is no such name. */
  dropBranch(owner: string, conversationId: string, name: string, write?: Write): Promise<void>
}

export interface Exchanges {
  /** Call it before the request is sent. */
  openExchange(owner: string, conversationId: string, exchange: NewExchange, write?: Write): Promise<Exchange>
  /**
   * Stores the bytes of a client's request with its exchanges, as long as the conversation exists; returns their hash.
   */
  keepBody(owner: string, conversationId: string, body: string | Uint8Array, write?: Write): Promise<string>
  /** Counts one more attempt, before it is sent. Returns the number of attempts. */
  retryExchange(owner: string, exchangeId: string, write?: Write): Promise<number>
  /** Ends an open exchange, once; writes its reply and clears its journal in the same transaction. */
  finishExchange(owner: string, exchangeId: string, end: ExchangeEnd, write?: Write): Promise<FinishedExchange>
  exchange(owner: string, exchangeId: string): Promise<Exchange | undefined>
  /** Most recently opened first. */
  exchanges(owner: string, conversationId: string, page?: ExchangePage): Promise<Page<Exchange>>
  /** By day, provider and model, in that order. */
  usage(owner: string, query?: UsageQuery): Promise<UsageRow[]>
  /**
   * Stores events of a reply that is still streaming, from the `offset`-th on; returns the next offset. No gaps, no
   * repeats.
   */
  journal(
    owner: string,
    exchangeId: string,
    offset: number,
    events: readonly ReplyEvent[],
    write?: Write,
  ): Promise<number>
  journaled(owner: string, exchangeId: string, from?: number): Promise<ReplyEvent[]>
}

export interface ToolRuns {
  /** Call it before the tool runs. A second start is refused, unless the first has no outcome and is repeatable. */
  startTool(owner: string, conversationId: string, run: NewToolRun, write?: Write): Promise<RecordedToolRun>
  /** Writes the result and the end of the tool run, in one transaction. */
  finishTool(
    owner: string,
    conversationId: string,
    callId: string,
    end: ToolRunEnd,
    write?: Write,
  ): Promise<{ run: RecordedToolRun; entry: Entry }>
  /** In the order of their first start. */
  toolRuns(owner: string, conversationId: string, only?: { unfinished: true }): Promise<RecordedToolRun[]>
  /** The conversations that a crash may have left with an open exchange or an unfinished tool. */
  unsettled(owner: string): Promise<string[]>
}

export interface Overlays {
  addOverlay(owner: string, conversationId: string, overlay: NewOverlay, write?: Write): Promise<Overlay>
  setOverlayUndone(owner: string, overlayId: string, undone: boolean, write?: Write): Promise<Overlay>
  /** In the order of creation, including undone ones, of all branches. */
  overlays(owner: string, conversationId: string): Promise<Overlay[]>
}

export interface States {
  keepState(owner: string, conversationId: string, state: NewState, write?: Write): Promise<ProviderState>
  /** The one that covers most of the path to the entry and has not expired. */
  stateAt(
    owner: string,
    entryId: string,
    at: { provider: string; protocol: string },
  ): Promise<ProviderState | undefined>
  /** Does nothing if there is no such state. */
  dropState(owner: string, stateId: string): Promise<void>
}

export interface Blobs {
  /** The bytes of media or of a request body, if some conversation of this owner uses them. */
  blob(owner: string, sha256: string): Promise<Uint8Array | undefined>
}

export interface Search {
  /** Newest first. */
  search(owner: string, query: SearchQuery): Promise<Page<Hit>>
}

/** Durable as long as a process that could hold one lives: on a file of this machine, until it loses power. */
export interface Leases {
  /** The single writer. While another one has it: kind 'conflict', with its holder and since when. */
  takeLease(owner: string, conversationId: string, lease: NewLease): Promise<Lease>
  renewLease(owner: string, conversationId: string, epoch: number, ttlMs: number): Promise<Lease>
  /** Does nothing if it was already lost. */
  releaseLease(owner: string, conversationId: string, epoch: number): Promise<void>
  /** The current holder. */
  lease(owner: string, conversationId: string): Promise<Lease | undefined>
}

export interface StoreOptions {
  /** For timestamps, in milliseconds. Leases ignore it: they use the database's clock. */
  now?: () => number
  /** Added to the database's clock for leases, so that tests need not wait. */
  leaseSkewMs?: () => number
  /**
   * Called with one sentence that the user should know, such as about missing changes; by default a warning of Node.
   */
  warn?: (sentence: string) => void
  /** Called after each step that upgrades an older store to the format of this version, all in one transaction. */
  migrating?: (done: number, steps: number) => void
}

/** The writer. Without an epoch a write is refused while another one has the lease. */
export interface Write {
  epoch?: number
}

export interface PageOf {
  /** 50 by default, 500 at most. */
  limit?: number
  /** `next` of the previous page. */
  cursor?: string
}

export interface Page<T> {
  items: T[]
  next?: string
}

export interface NewConversation {
  id?: string
  title?: string
  labels?: readonly string[]
  settings?: JsonObject
  at?: string
}

export interface ConversationChange {
  /** Null removes it. */
  title?: string | null
  labels?: readonly string[]
  settings?: JsonObject
}

export interface NewEntry<M extends Message = Message> {
  id?: string
  message: M
  /** The parent that the writer saw; absent: the head, whatever it is. */
  parentId?: string | null
  /**
   * `advance`: the parent must be the head, which moves forward; otherwise kind 'conflict'. `move`: the parent may be
   * any entry, and the head moves here. `stay`: the parent may be any entry, and the head stays.
   */
  head?: 'advance' | 'move' | 'stay'
  at?: string
}

export type HeadTarget = { entryId: string | null } | { branch: string }

export interface NewExchange {
  id?: string
  basedOn: string
  provider: string
  protocol: string
  model: string
  /** The exact bytes of the request. */
  body: string | Uint8Array
  notes?: readonly Note[]
}

export interface ExchangePage extends PageOf {
  outcome?: Exchange['outcome']
}

export interface ExchangeEnd {
  outcome: Exclude<Exchange['outcome'], 'open'>
  reply?: NewEntry<Reply>
  usage?: Usage
  cost?: number
  failure?: Failure
  /** Notes that arose with the reply, added to those of the request. */
  notes?: readonly Note[]
  /** Written in the same transaction. */
  records?: readonly NewRecord[]
}

export interface FinishedExchange {
  exchange: Exchange
  entry?: Entry
}

export interface NewToolRun {
  callId: string
  entryId: string
  name: string
  argsSha256: string
  /** `<conversation id>/<call id>` by default. */
  idempotencyKey?: string
  repeatable?: boolean
}

export interface ToolRunEnd {
  outcome: NonNullable<RecordedToolRun['outcome']>
  result: NewEntry<ToolMessage>
}

export interface NewOverlay {
  id?: string
  entryId: string
  kind: string
  data: JsonObject
}

export interface NewState {
  provider: string
  protocol: string
  kind: StateRef['kind']
  ref: string
  covers: string
  expiresAt?: string
}

export interface NewLease {
  holder: string
  ttlMs: number
  /** The epoch of a lease whose holder is known to be gone: it need not expire first. */
  over?: number
  /**
   * A store that is `ordered` may call it before the lease is committed: what is written in the same turn of the event
   * loop is then in the same commit. If that fails, the lease was never taken and its epoch must not be used.
   */
  onTaken?: (lease: Lease) => void
}

export interface SearchQuery extends PageOf {
  /** Words that must all match, `"phrases"`, and `prefix*` with three letters or more. */
  text: string
  conversationId?: string
  /** Only texts and tool calls of this provider's models. */
  provider?: string
  tool?: string
  kind?: HitKind
  label?: string
  /** ISO times: from `after` on, up to but not including `before`. */
  after?: string
  before?: string
}

/** `title`: the title of the conversation matches; its entry is the head. */
export type HitKind = 'title' | 'user' | 'reply' | 'input' | 'output'

/** A search hit. Titles come first, then the newest. */
export interface Hit {
  conversationId: string
  title?: string
  entryId: string
  kind: HitKind
  tool?: string
  at: string
  /** Some words around the first match. */
  snippet: string
  /** Where in the snippet the words are: start and end. */
  marks: [number, number][]
}
