// The log: entries in a tree, only ever appended to, and beside it one Exchange per request to a model.

import type { Note } from './context.ts'
import type { Failure } from './error.ts'
import type { Message } from './message.ts'
import type { Usage } from './usage.ts'

export interface Conversation {
  id: string
  owner: string
  title?: string
  createdAt: string
  updatedAt: string
  /** The entry that the conversation goes on from. */
  head: string | null
}

/** A message at its place in the tree. */
export interface Entry {
  id: string
  conversationId: string
  parentId: string | null
  message: Message
  at: string
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
