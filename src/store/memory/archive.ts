// Imports into memory.

import type { Archives } from '../archive.ts'
import { cleanLabels, checkId, jsonCopy, plainText, checkEntry } from '../new-entry.ts'
import { idTaken, isoTime } from '../store-errors.ts'
import { copyOf, newConversation, type MemoryState } from './state.ts'

export function archiveMethods(state: MemoryState): Archives {
  return {
    async importConversation(owner, { conversation: about, ...archive }) {
      const copy = jsonCopy(archive, 'The archive')
      const id = checkId(about.id, state.now())
      if (state.conversations.has(id)) throw idTaken('conversation', id)
      for (const { id: entryId } of copy.entries) if (state.entries.has(entryId)) throw idTaken('entry', entryId)
      for (const exchange of copy.exchanges)
        if (state.exchanges.has(exchange.id)) throw idTaken('exchange', exchange.id)
      const createdAt = isoTime(about.createdAt, 'The time of a conversation')
      const stored = newConversation({
        id,
        owner,
        ...(about.title !== undefined && { title: plainText(about.title) }),
        labels: cleanLabels(about.labels),
        settings: jsonCopy(about.settings, 'The settings'),
        createdAt,
        updatedAt: createdAt,
        head: null,
        entries: 0,
      })
      const prepared = copy.entries.map((entry) => checkEntry({ ...entry, head: 'stay' }, state.now()))
      try {
        for (const entry of prepared) state.append(stored, entry)
        for (const pointer of pointersOf(about.head, copy)) state.entryIn(stored, pointer)
      } catch (error) {
        for (const entry of stored.entries) state.entries.delete(entry.id)
        throw error
      }
      for (const { name, entryId } of copy.branches) stored.branches.set(plainText(name), entryId)
      stored.exchanges = copy.exchanges.map((exchange) => ({
        about: { ...exchange, conversationId: id },
        conversation: stored,
        events: [],
      }))
      for (const exchange of stored.exchanges) state.exchanges.set(exchange.about.id, exchange)
      stored.tools = new Map(copy.toolRuns.map((run) => [run.callId, { ...run, conversationId: id }]))
      stored.overlays = copy.overlays.map((overlay) => ({ ...overlay, conversationId: id }))
      stored.about.head = about.head
      if (about.branch !== undefined) stored.about.branch = about.branch
      state.conversations.set(id, stored)
      return copyOf(stored.about)
    },
  }
}

function pointersOf(
  head: string | null,
  { branches, exchanges, toolRuns, overlays }: Omit<Parameters<Archives['importConversation']>[1], 'conversation'>,
): string[] {
  return [
    ...(head === null ? [] : [head]),
    ...branches.map(({ entryId }) => entryId),
    ...exchanges.flatMap(({ basedOn, replyEntryId }) =>
      replyEntryId === undefined ? [basedOn] : [basedOn, replyEntryId],
    ),
    ...toolRuns.flatMap(({ entryId, resultEntryId }) =>
      resultEntryId === undefined ? [entryId] : [entryId, resultEntryId],
    ),
    ...overlays.map(({ entryId }) => entryId),
  ]
}
