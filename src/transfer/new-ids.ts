// Gives a conversation new ids, for a second copy in the same store. Call ids stay: they are only used inside it.

import type { Archive } from '../store/archive.ts'
import { uuidv7 } from '../store/ids.ts'

export function withNewIds(archive: Archive): Archive {
  const newIds = new Map(archive.entries.map(({ id }) => [id, uuidv7()]))
  const newId = (id: string): string => newIds.get(id) ?? id
  const { head } = archive.conversation
  return {
    conversation: { ...archive.conversation, id: uuidv7(), head: head === null ? null : newId(head) },
    branches: archive.branches.map(({ name, entryId }) => ({ name, entryId: newId(entryId) })),
    entries: archive.entries.map((entry) => ({
      ...entry,
      id: newId(entry.id),
      parentId: entry.parentId === null ? null : newId(entry.parentId),
    })),
    exchanges: archive.exchanges.map((exchange) => ({
      ...exchange,
      id: uuidv7(),
      basedOn: newId(exchange.basedOn),
      ...(exchange.replyEntryId !== undefined && { replyEntryId: newId(exchange.replyEntryId) }),
    })),
    toolRuns: archive.toolRuns.map((run) => ({
      ...run,
      entryId: newId(run.entryId),
      ...(run.resultEntryId !== undefined && { resultEntryId: newId(run.resultEntryId) }),
    })),
    overlays: archive.overlays.map((overlay) => ({ ...overlay, id: uuidv7(), entryId: newId(overlay.entryId) })),
  }
}
