// Conversations in memory.

import type { Conversation } from '../../core/log.ts'
import { pageOf, pageSize, readCursor } from '../page.ts'
import { cleanLabels, checkId, jsonCopy, plainText } from '../new-entry.ts'
import { idTaken, isoTime, notFound } from '../store-errors.ts'
import type { Conversations } from '../store.ts'
import { newConversation, copyOf, type MemoryState } from './state.ts'

export function conversationMethods(state: MemoryState): Conversations {
  return {
    async createConversation(owner, fields = {}) {
      const now = state.now()
      const id = checkId(fields.id, now)
      const at =
        fields.at === undefined ? new Date(now).toISOString() : isoTime(fields.at, 'The time of a conversation')
      const about: Conversation = {
        id,
        owner,
        ...(fields.title !== undefined && { title: plainText(fields.title) }),
        labels: cleanLabels(fields.labels),
        settings: jsonCopy(fields.settings ?? {}, 'The settings'),
        createdAt: at,
        updatedAt: at,
        head: null,
        entries: 0,
      }
      if (state.conversations.has(id)) throw idTaken('conversation', id)
      state.conversations.set(id, newConversation(about))
      return copyOf(about)
    },

    async conversation(owner, id) {
      return copyOf(state.find(owner, id)?.about)
    },

    async conversations(owner, page = {}) {
      const size = pageSize(page)
      const after = page.cursor === undefined ? undefined : readCursor(page.cursor, ['string', 'string'])
      const rows: Conversation[] = []
      for (const { about } of state.conversations.values()) {
        if (about.owner !== owner || (page.label !== undefined && !about.labels.includes(page.label))) continue
        if (page.withoutLabel !== undefined && about.labels.includes(page.withoutLabel)) continue
        if (!after || newestFirst(about, { updatedAt: String(after[0]), id: String(after[1]) }) > 0) rows.push(about)
      }
      rows.sort(newestFirst)
      return pageOf(rows, size, (row) => [row.updatedAt, row.id], copyOf)
    },

    async updateConversation(owner, id, change) {
      const about = state.find(owner, id)?.about
      if (!about) throw notFound('conversation', id)
      if (change.settings !== undefined) about.settings = jsonCopy(change.settings, 'The settings')
      if (change.labels !== undefined) about.labels = cleanLabels(change.labels)
      if (change.title === null) delete about.title
      else if (change.title !== undefined) about.title = plainText(change.title)
      return copyOf(about)
    },

    async deleteConversation(owner, id) {
      const conversation = state.find(owner, id)
      if (!conversation) return false
      state.conversations.delete(id)
      for (const entry of conversation.entries) state.entries.delete(entry.id)
      for (const exchange of conversation.exchanges) state.exchanges.delete(exchange.about.id)
      for (const [streamId, stream] of state.streams)
        if (stream.conversation === conversation) state.streams.delete(streamId)
      for (const [key, { record }] of state.records) if (record.conversationId === id) state.records.delete(key)
      state.dropUnused(conversation.blobs)
      return true
    },
  }
}

type Sorted = Pick<Conversation, 'updatedAt' | 'id'>

function newestFirst(a: Sorted, b: Sorted): number {
  if (a.updatedAt !== b.updatedAt) return a.updatedAt < b.updatedAt ? 1 : -1
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1
}
