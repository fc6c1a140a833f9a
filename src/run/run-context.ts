// What the parts of a run share: the log of the conversation, the current settings, and what one run remembers.

import type { GuardReason, RunEvent } from '../core/event.ts'
import type { Entry, Exchange } from '../core/log.ts'
import type { Message, Reply, TextPart, UserMessage } from '../core/message.ts'
import type { Options } from '../settings/options.ts'
import type { Tool } from '../core/tool.ts'
import type { Policy } from '../settings/policy.ts'
import type { Note } from '../core/context.ts'
import type { Budget, Fallback, Hooks, Route } from '../settings/run.ts'
import type { Endpoint } from '../providers/resolve.ts'
import type { ReplyCall } from '../transport/reply.ts'
import type { NewRecord } from '../store/records.ts'
import type { ExchangeEnd, NewEntry, Store, Write } from '../store/store.ts'
import type { Meter } from './budget.ts'
import type { Cooldown } from './request/cooldown.ts'
import type { KnownOverlays } from './log/known-overlays.ts'
import type { PathTo } from './log/path-cache.ts'
import type { PendingWrites } from './log/pending-writes.ts'
import type { RepeatLimits } from './tools/repeats.ts'
import type { ToolLimits } from './guards.ts'

/** One conversation in a store. */
export interface ConversationLog {
  store: Store
  owner: string
  conversationId: string
}

/** With the current lease: every write carries its epoch. */
export interface WritableLog extends ConversationLog {
  write(): Write
}

/** What one request to a model needs. */
export interface RunContext extends WritableLog {
  endpoint: Endpoint
  system: readonly TextPart[]
  tools: readonly Tool[]
  /** Names of tools that the conversation was started with and that are missing. */
  readonly absentTools?: readonly string[] | undefined
  options: Options
  /** What the caller has already changed in the messages or settings of the request. */
  readonly notes?: readonly Note[] | undefined
  /** What hooks of the application did to this request. */
  readonly hookNotes?: readonly Note[] | undefined
  policy: Policy
  /** Sent in place of what would be encoded from the history, as long as nothing has to be corrected. */
  verbatim?: Verbatim | undefined
  maxSteps: number
  signal: AbortSignal
  transport: ObservedTransport
  /** Writes that are committed together with the next request; absent if the store does not write in order. */
  readonly pending?: PendingWrites | undefined
  /** The events of a reply are stored by the caller of the run, so that no journal is written. */
  readonly storesEvents?: boolean | undefined
  /** What the run has learned from its own requests. */
  readonly learned?: Learned | undefined
  /** Records to write in the same transaction as the end of an exchange and its reply. */
  recordsOf?: RecordsOf | undefined
  emit(event: RunEvent): void
  /** Counts each exchange when it has ended. */
  readonly meter?: Meter | undefined
}

interface Learned {
  /** The last one: while the run has the lease, there is no newer one on its path. */
  exchange?: Exchange
  /** Absent if other runs may add some under the same lease. */
  overlays?: KnownOverlays
}

/** `basedOn`: the entry that the request ends with. `entryId`: of the reply; absent if it has no content. */
export type RecordsOf = (end: {
  exchangeId: string
  basedOn: string
  outcome: ExchangeEnd['outcome']
  reply: Reply
  entryId?: string
}) => Promise<readonly NewRecord[]>

/** A request written by a client, sent as it is to this provider on this wire. */
export interface Verbatim {
  provider: string
  protocol: string
  path: string
  /** In addition to those of the endpoint. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  /** The reply was requested without streaming. */
  whole: boolean
  /** What the client did not write. */
  notes?: readonly Note[]
}

/** What a client has added to a conversation. */
export interface Opening {
  /** The entry that the first message follows; null: it begins the conversation, or a branch from its beginning. */
  after: string | null
  messages: readonly Message[]
  write(entries: readonly NewEntry[]): Promise<readonly Entry[]>
}

export type Transport = Pick<ReplyCall, 'authorize' | 'fetch' | 'limits' | 'retry' | 'budget' | 'sleep'>

/** The transport of a model, with an observer of its responses. */
export type ObservedTransport = Transport & Pick<ReplyCall, 'observe'>

/** What the loop needs. Its fields are read again at each step: tools, model and policy may change during the run. */
export interface LoopContext extends Omit<RunContext, 'endpoint' | 'transport'> {
  readonly model: string
  readonly protocol?: string | undefined
  endpointOf(model: string, protocol: string | undefined): Promise<{ endpoint: Endpoint; transport: ObservedTransport }>
  /** After a failure: a key or an address may have been replaced. */
  forgetEndpoints(): void
  readonly route?: Route | undefined
  readonly fallback: readonly Fallback[]
  readonly cooldown: Cooldown
  readonly meter: Meter
  readonly repeats?: RepeatLimits | undefined
  readonly limits: ToolLimits
  readonly budget?: Budget | undefined
  /** A value from the application for its tools. */
  readonly context?: unknown
  readonly hooks?: Hooks | undefined
  /** The schema that the caller gave for the final answer. */
  readonly answer?: object | undefined
  pathTo: PathTo
  /** Written first, in place of a message of the user. */
  readonly opening?: Opening | undefined
  /** User messages that arrived during the run; each is returned once. */
  incoming(): UserMessage[]
  /** The run ends with the first reply that asks for more than `recall` or `serverTools`: the client runs its tools. */
  readonly oneReply?: boolean | undefined
  /** Tools that this run still answers when the client runs the others. */
  readonly serverTools?: readonly string[] | undefined
  /** The guard that aborted the signal, if one did. */
  stoppedBy(): GuardReason | undefined
  now(): number
  /** Called with each finished exchange. */
  onExchange?: ((exchange: Exchange) => void) | undefined
}

/** Sees all events of one run, such as telemetry. */
export interface Observer {
  onEvent(event: RunEvent): void
}
