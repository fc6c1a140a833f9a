// What the memory store holds. Messages are kept as JSON text, so that no one has a reference into the log. Everything
// here runs without a pause: what checks first and changes then is a transaction.

import type { ReplyEvent } from '../../core/event.ts'
import type { Conversation, Entry, Exchange, Overlay, ProviderState, RecordedToolRun } from '../../core/log.ts'
import type { Blob } from '../blobs.ts'
import { checkWriter, type Fence } from '../fence.ts'
import type { FilteredDocument } from '../filter-words.ts'
import { documentsIn } from '../hits.ts'
import { readMessage, type PreparedEntry } from '../new-entry.ts'
import { headMoved, idTaken, notFound } from '../store-errors.ts'
import type { StoredRecord } from '../records.ts'
import type { StoreOptions, Write } from '../store.ts'

export interface StoredEntry {
  id: string
  conversation: StoredConversation
  parentId: string | null
  depth: number
  role: Entry['message']['role']
  at: string
  json: string
  checksum: number
  documents: FilteredDocument[]
}

export interface StoredExchange {
  about: Exchange
  conversation: StoredConversation
  events: ReplyEvent[]
}

export interface StoredConversation {
  about: Conversation
  fence: Fence
  entries: StoredEntry[]
  branches: Map<string, string>
  exchanges: StoredExchange[]
  tools: Map<string, RecordedToolRun>
  overlays: Overlay[]
  states: ProviderState[]
  blobs: Set<string>
}

export interface StoredRecordRow {
  n: number
  record: StoredRecord
}

export interface StoredStream {
  conversation: StoredConversation
  epoch: number
  events: string[]
  endedAt?: string
}

export class MemoryState {
  readonly now: () => number
  readonly leaseNow: () => number
  readonly conversations = new Map<string, StoredConversation>()
  /** In the order they were written. */
  readonly entries = new Map<string, StoredEntry>()
  readonly exchanges = new Map<string, StoredExchange>()
  readonly blobs = new Map<string, Blob>()
  /** In the order they were made. */
  records: StoredRecordRow[] = []
  lastRecord = 0
  readonly streams = new Map<string, StoredStream>()

  constructor(options: StoreOptions) {
    this.now = options.now ?? Date.now
    this.leaseNow = () => Date.now() + (options.leaseSkewMs?.() ?? 0)
  }

  find(owner: string, conversationId: string): StoredConversation | undefined {
    const found = this.conversations.get(conversationId)
    return found?.about.owner === owner ? found : undefined
  }

  writable(owner: string, conversationId: string, write: Write | undefined): StoredConversation {
    const found = this.find(owner, conversationId)
    if (!found) throw notFound('conversation', conversationId)
    const { takes } = checkWriter(found.fence, write, this.leaseNow())
    if (takes) found.fence = { ...found.fence, holder: null }
    return found
  }

  findEntry(owner: string, entryId: string): StoredEntry | undefined {
    const found = this.entries.get(entryId)
    return found?.conversation.about.owner === owner ? found : undefined
  }

  entryIn(conversation: StoredConversation, entryId: string): StoredEntry {
    const found = this.entries.get(entryId)
    if (found?.conversation !== conversation) throw notFound('entry', entryId)
    return found
  }

  /** From the entry up to the root. */
  *path(entry: StoredEntry | undefined): Generator<StoredEntry> {
    for (let at = entry; at; at = at.parentId === null ? undefined : this.entries.get(at.parentId)) yield at
  }

  /** Throws before it changes anything. */
  append(conversation: StoredConversation, entry: PreparedEntry): Entry {
    const { about } = conversation
    if (this.entries.has(entry.id)) throw idTaken('entry', entry.id)
    const parentId = entry.parentId === undefined ? about.head : entry.parentId
    if (entry.head === 'advance' && parentId !== about.head) throw headMoved(about.id, parentId, about.head)
    const parent = parentId === null ? undefined : this.entryIn(conversation, parentId)
    for (const sha256 of entry.named) if (!this.hasBlob(about.owner, sha256)) throw notFound('blob', sha256)

    const { id, role, at, json, checksum } = entry
    const documents = documentsIn(about.owner, { conversation_id: about.id, checksum, message: json })
    const depth = parent ? parent.depth + 1 : 0
    const kept: StoredEntry = { id, conversation, parentId, depth, role, at, json, checksum, documents }
    conversation.entries.push(kept)
    this.entries.set(id, kept)
    for (const blob of entry.blobs) this.keepBlob(conversation, blob)
    for (const sha256 of entry.named) conversation.blobs.add(sha256)
    about.entries++
    if (at > about.updatedAt) about.updatedAt = at
    if (entry.head !== 'stay') {
      if (parentId !== about.head) delete about.branch
      if (about.branch !== undefined) conversation.branches.set(about.branch, id)
      about.head = id
    }
    return toEntry(kept)
  }

  keepBlob(conversation: StoredConversation, blob: Blob): void {
    if (!this.blobs.has(blob.sha256)) this.blobs.set(blob.sha256, blob)
    conversation.blobs.add(blob.sha256)
  }

  hasBlob(owner: string, sha256: string): boolean {
    return this.conversations.values().some(({ about, blobs }) => about.owner === owner && blobs.has(sha256))
  }
}

export function toEntry(kept: StoredEntry): Entry {
  return {
    id: kept.id,
    conversationId: kept.conversation.about.id,
    parentId: kept.parentId,
    depth: kept.depth,
    message: readMessage({ ...kept, message: kept.json }),
    at: kept.at,
  }
}
