// The log: entries in a tree, only ever appended to, and beside it what happened on the way: one Exchange per request
// to a model, one record per tool that was started, and the decisions (overlays) that change what is sent but never
// what is kept. All of it is stored under these names: renaming a field needs a migration.

import type { Note, StateRef } from './context.ts'
import type { Failure } from './error.ts'
import type { JsonObject } from './json.ts'
import type { Message } from './message.ts'
import type { Usage } from './usage.ts'

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
  /** How many entries the log holds, on all branches. */
  entries: number
}

/** A message at its place in the tree. */
export interface Entry {
  id: string
  conversationId: string
  parentId: string | null
  /** How many entries lie between it and the root. */
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

/** A place that the conversation can continue from: every leaf of the tree, and every entry that was given a name. */
export interface Branch {
  name?: string
  entryId: string
  depth: number
  at: string
  /** The head is here. */
  current: boolean
}

/** One request to a model and what came of it. */
export interface Exchange {
  id: string
  conversationId: string
  /** The last entry that the request was made from. */
  basedOn: string
  provider: string
  protocol: string
  model: string
  bodySha256: string
  notes: Note[]
  startedAt: string
  endedAt?: string
  outcome: 'open' | 'done' | 'failed' | 'cancelled' | 'interrupted'
  /** The entry that holds the reply. */
  replyEntryId?: string
  attempts: number
  usage?: Usage
  /** In US dollars; absent where the price is not known. */
  cost?: number
  failure?: Failure
}

/** A tool that was started for a call. A record without an outcome after a crash means: no one knows if it ran. */
export interface RecordedToolRun {
  conversationId: string
  callId: string
  /** The reply that asked for it. */
  entryId: string
  name: string
  argsSha256: string
  /** For the tool to recognise a second start of the same call. */
  idempotencyKey: string
  repeatable: boolean
  /** More than one only for repeatable tools. */
  starts: number
  startedAt: string
  endedAt?: string
  outcome?: 'done' | 'failed' | 'unknown'
  /** The entry that holds the result. */
  resultEntryId?: string
}

/** A decision about what is sent, such as a compaction. It counts on every path through `entryId` unless undone. */
export interface Overlay {
  id: string
  conversationId: string
  /** The last entry that was there when it was decided. */
  entryId: string
  kind: string
  data: JsonObject
  undone: boolean
  at: string
}

/** What a provider remembers of this conversation: a cache of the log, never the truth. */
export interface ProviderState {
  id: string
  conversationId: string
  provider: string
  protocol: string
  kind: StateRef['kind']
  /** The provider's id for it. */
  ref: string
  /** The provider knows the history up to and with this entry. */
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
