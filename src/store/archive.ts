// A whole conversation as data, to leave one store and enter another: its tree, its branches, and what happened on the
// way. Bodies of requests and what a provider remembers are not in it: the one can be made again, the other is a cache.

import type { Conversation, Entry, Exchange, Overlay, RecordedToolRun } from '../core/log.ts'

export interface Archives {
  /** All of it in one transaction, under the ids that it has. One that is taken: kind 'conflict', code 'id-taken'. */
  importConversation(owner: string, archive: Archive): Promise<Conversation>
}

export interface Archive {
  conversation: Pick<Conversation, 'id' | 'title' | 'labels' | 'settings' | 'createdAt' | 'head' | 'branch'>
  branches: { name: string; entryId: string }[]
  /** In the order they were written: a parent comes before its children. */
  entries: ArchivedEntry[]
  /** In the order they were opened. */
  exchanges: Omit<Exchange, 'conversationId'>[]
  /** In the order they were started. */
  toolRuns: Omit<RecordedToolRun, 'conversationId'>[]
  overlays: Omit<Overlay, 'conversationId'>[]
}

export type ArchivedEntry = Pick<Entry, 'id' | 'parentId' | 'message' | 'at'>
