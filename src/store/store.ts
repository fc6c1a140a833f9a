// The contract of a store: what every place to keep the log must do, whatever it is made of.
//
// Each call takes the owner, and an id of another owner is simply not found: reads give undefined or an empty list,
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
  /** Gives space back, and takes the last bytes of what was deleted out of the files. */
  vacuum(): Promise<void>
  /** Whether the database can be reached now. Absent where it is a part of this process. */
  outages?: Outages
  /**
   * The same store for a task that has this long: no call waits for a database that is away beyond that. By default a
   * call waits for as long as the store was opened with. Absent where nothing is ever waited for.
   */
  within?(ms: number): Store
  close(): Promise<void>
}

/** The database cannot be reached; calls wait for it. */
export interface Outage {
  since: string
  failure: Failure
}

export interface Outages {
  current(): Outage | undefined
  /** Calls back when an outage begins, and with undefined when it is over; gives a way to stop that. */
  watch(listener: (outage: Outage | undefined) => void): () => void
}

export interface Conversations {
  createConversation(owner: string, fields?: NewConversation): Promise<Conversation>
  conversation(owner: string, id: string): Promise<Conversation | undefined>
  /** The last changed first. Reads no messages. */
  conversations(owner: string, page?: PageOf & { label?: string }): Promise<Page<Conversation>>
  updateConversation(owner: string, id: string, change: ConversationChange): Promise<Conversation>
  /** Everything of it goes: entries, exchanges, index, and blobs that no other conversation uses. False: not found. */
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
    /** Put in the same transaction. */
    records?: readonly NewRecord[],
  ): Promise<Entry[]>
  entry(owner: string, entryId: string): Promise<Entry | undefined>
  /** The path from the root to the entry, or only its last few entries. Empty when there is no such entry. */
  history(owner: string, entryId: string, options?: { last?: number }): Promise<Entry[]>
  /** In the order they were written; of null: the roots. */
  children(owner: string, conversationId: string, entryId: string | null): Promise<Entry[]>
  /** The whole tree without messages, in the order it was written. */
  outline(owner: string, conversationId: string): Promise<EntryOutline[]>
}

export interface Branches {
  /** Where the next entry goes. A fork is this pointer moved back and an append; no entry is copied. */
  setHead(owner: string, conversationId: string, to: HeadTarget, write?: Write): Promise<Conversation>
  /** Named ones first, by name; then plain leaves, the last written first. */
  branches(owner: string, conversationId: string): Promise<Branch[]>
  /** Makes or moves a name. A head that was on this branch stays where it is, and is on no branch then. */
  nameBranch(owner: string, conversationId: string, name: string, entryId: string, write?: Write): Promise<void>
  /** Takes the name away and leaves the entries. Nothing happens when there is no such name. */
  dropBranch(owner: string, conversationId: string, name: string, write?: Write): Promise<void>
}

export interface Exchanges {
  /** To be called before the request goes out. */
  openExchange(owner: string, conversationId: string, exchange: NewExchange, write?: Write): Promise<Exchange>
  /** Counts one more attempt, before it goes out. Gives the number of attempts. */
  retryExchange(owner: string, exchangeId: string, write?: Write): Promise<number>
  /** Ends an open exchange, once; writes its reply and clears its journal in the same transaction. */
  finishExchange(owner: string, exchangeId: string, end: ExchangeEnd, write?: Write): Promise<FinishedExchange>
  exchange(owner: string, exchangeId: string): Promise<Exchange | undefined>
  /** The last opened first. */
  exchanges(owner: string, conversationId: string, page?: ExchangePage): Promise<Page<Exchange>>
  /** By day, provider and model, in that order. */
  usage(owner: string, query?: UsageQuery): Promise<UsageRow[]>
  /** Keeps events of a reply that is still coming, from the `offset`-th on; gives the next offset. No gaps, no repeats. */
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
  /** To be called before the tool runs. A second start is refused, unless the first has no outcome and is repeatable. */
  startTool(owner: string, conversationId: string, run: NewToolRun, write?: Write): Promise<RecordedToolRun>
  /** Writes the result and that the tool is done with, in one transaction. */
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
  /** In the order they were added, undone ones too, of all branches. */
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
  /** Nothing happens when there is no such state. */
  dropState(owner: string, stateId: string): Promise<void>
}

export interface Blobs {
  /** The bytes of media or of a request body, if some conversation of this owner uses them. */
  blob(owner: string, sha256: string): Promise<Uint8Array | undefined>
}

export interface Search {
  /** The last written first. */
  search(owner: string, query: SearchQuery): Promise<Page<Hit>>
}

export interface Leases {
  /** The one writer. While another holds it: kind 'conflict', saying who and since when. */
  takeLease(owner: string, conversationId: string, lease: NewLease): Promise<Lease>
  renewLease(owner: string, conversationId: string, epoch: number, ttlMs: number): Promise<Lease>
  /** Nothing happens when it was lost already. */
  releaseLease(owner: string, conversationId: string, epoch: number): Promise<void>
  /** Who holds it now. */
  lease(owner: string, conversationId: string): Promise<Lease | undefined>
}

export interface StoreOptions {
  /** For timestamps, in milliseconds. Leases do not look at it: they go by the database's clock. */
  now?: () => number
  /** Added to the database's clock where leases look at it, so that tests need not wait. */
  leaseSkewMs?: () => number
  /** Told in one sentence of what a person should know, such as changes that are missing; by default a warning of Node. */
  warn?: (sentence: string) => void
}

/** Who writes. Without an epoch a write is refused while somebody holds the lease. */
export interface Write {
  epoch?: number
}

export interface PageOf {
  /** 50 by default, 500 at most. */
  limit?: number
  /** `next` of the page before. */
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
  /** Null takes it away. */
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
   * `advance`: the parent must be the head, which moves on; else kind 'conflict'. `move`: the parent may be any entry,
   * and the head comes here. `stay`: the parent may be any entry, and the head stays.
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
  /** Notes that came up on the way back, added to those of the request. */
  notes?: readonly Note[]
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
  /** The epoch of a lease whose holder is known to be gone: it need not run out first. */
  over?: number
}

export interface SearchQuery extends PageOf {
  /** Words that must all be there, `"phrases"`, and `begin*` for three letters or more. */
  text: string
  conversationId?: string
  /** Only what this provider's models said and asked of tools. */
  provider?: string
  tool?: string
  kind?: HitKind
  label?: string
  /** ISO times: from `after` on, up to but without `before`. */
  after?: string
  before?: string
}

/** `title`: the conversation is called so; its entry is the one that it continues from. */
export type HitKind = 'title' | 'user' | 'reply' | 'input' | 'output'

/** Where a search found something. Titles come first, then the last written. */
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
