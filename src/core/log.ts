// The log: an append-only tree of entries, and the records around it: one Exchange per request to a model, one record
// per tool that was started, and the decisions (overlays) that change what is sent but never what is stored. All of it
// is stored under these names: renaming a field needs a migration.

import type { Note, StateRef } from './context.ts'
import type { Failure } from './error.ts'
import type { JsonObject } from './json.ts'
import type { Message } from './message.ts'
import type { Usage } from './usage.ts'

/** The label of conversations that a client uses internally, such as for a title: lists leave them out. */
export const sideCall = 'side-call'

export interface Conversation {
  id: string
  owner: string
  title?: string
  labels: string[]
  settings: JsonObject
  createdAt: string
  /** The time of its latest entry; a new title or label does not count. */
  updatedAt: string
  /** The entry that the conversation continues from. */
  head: string | null
  /** The named branch that moves along with the head; absent on a plain one. */
  branch?: string
  /** How many entries the log has, on all branches. */
  entries: number
}

/** A message at its position in the tree. */
export interface Entry {
  id: string
  conversationId: string
  parentId: string | null
  /** How many entries are between it and the root. */
  depth: number
  message: Message
  at: string
}

/** An entry without its message: enough to draw the tree. */
export interface EntryOutline {
  id: string
  parentId: string | null
  depth: number
  role: Message['role']
  at: string
}

/**
 * A position that the conversation can continue from: every leaf of the tree, and every entry that was given a name.
 */
export interface Branch {
  name?: string
  entryId: string
  depth: number
  at: string
  /** The head is here. */
  current: boolean
}

/** One request to a model and its outcome. */
export interface Exchange {
  id: string
  conversationId: string
  /** The last entry that the request was built from. */
  basedOn: string
  provider: string
  protocol: string
  model: string
  bodySha256: string
  notes: Note[]
  startedAt: string
  endedAt?: string
  outcome: 'open' | 'done' | 'failed' | 'cancelled' | 'interrupted'
  /** The entry with the reply. */
  replyEntryId?: string
  attempts: number
  usage?: Usage
  /** In US dollars; absent if the price is unknown. */
  cost?: number
  failure?: Failure
}

/**
 * A tool that was started for a call. A record without an outcome after a crash means that it is unknown whether the
 * tool ran.
 */
export interface RecordedToolRun {
  conversationId: string
  callId: string
  /** The reply that contains the call. */
  entryId: string
  name: string
  argsSha256: string
  /** Lets the tool recognise a second start of the same call. */
  idempotencyKey: string
  repeatable: boolean
  /** More than one only for repeatable tools. */
  starts: number
  startedAt: string
  endedAt?: string
  outcome?: 'done' | 'failed' | 'unknown'
  /** The entry with the result. */
  resultEntryId?: string
}

/** A decision about what is sent, such as a compaction. It applies to every path through `entryId` unless undone. */
export interface Overlay {
  id: string
  conversationId: string
  /** The last entry at the time of the decision. */
  entryId: string
  kind: string
  data: JsonObject
  undone: boolean
  at: string
}

/** What a provider stores of this conversation: a cache of the log, never the source of truth. */
export interface ProviderState {
  id: string
  conversationId: string
  provider: string
  protocol: string
  kind: StateRef['kind']
  /** The provider's id for it. */
  ref: string
  /** The provider has the history up to and including this entry. */
  covers: string
  expiresAt?: string
  at: string
}

/** The right to write to a conversation. `epoch` grows with every holder: a write with an older one is refused. */
export interface Lease {
  conversationId: string
  holder: string
  epoch: number
  since: string
  expiresAt: string
}
