// A whole conversation as data, to move from one store to another: its tree, its branches, and its records. Request
// bodies and state at providers are not in it: the former can be rebuilt, the latter is a cache.

import type { Conversation, Entry, Exchange, Overlay, RecordedToolRun } from '../core/log.ts'

export interface Archives {
  /** All of it in one transaction, under its ids. If one is taken: kind 'conflict', code 'id-taken'. */
  importConversation(owner: string, archive: Archive): Promise<Conversation>
}

export interface Archive {
  conversation: Pick<Conversation, 'id' | 'title' | 'labels' | 'settings' | 'createdAt' | 'head' | 'branch'>
  branches: { name: string; entryId: string }[]
  /** In the order of writing: a parent comes before its children. */
  entries: ArchivedEntry[]
  /** In the order of opening. */
  exchanges: Omit<Exchange, 'conversationId'>[]
  /** In the order of starting. */
  toolRuns: Omit<RecordedToolRun, 'conversationId'>[]
  overlays: Omit<Overlay, 'conversationId'>[]
}

export type ArchivedEntry = Pick<Entry, 'id' | 'parentId' | 'message' | 'at'>
