// A second copy of a conversation in the same store needs new ids. Call ids stay: they are only used inside of it.

import type { Archive } from '../store/archive.ts'
import { uuidv7 } from '../store/ids.ts'

export function withNewIds(archive: Archive): Archive {
  const entries = new Map(archive.entries.map(({ id }) => [id, uuidv7()]))
  const entry = (id: string): string => entries.get(id) ?? id
  const { head } = archive.conversation
  return {
    conversation: { ...archive.conversation, id: uuidv7(), head: head === null ? null : entry(head) },
    branches: archive.branches.map(({ name, entryId }) => ({ name, entryId: entry(entryId) })),
    entries: archive.entries.map((one) => ({
      ...one,
      id: entry(one.id),
      parentId: one.parentId === null ? null : entry(one.parentId),
    })),
    exchanges: archive.exchanges.map((one) => ({
      ...one,
      id: uuidv7(),
      basedOn: entry(one.basedOn),
      ...(one.replyEntryId !== undefined && { replyEntryId: entry(one.replyEntryId) }),
    })),
    toolRuns: archive.toolRuns.map((run) => ({
      ...run,
      entryId: entry(run.entryId),
      ...(run.resultEntryId !== undefined && { resultEntryId: entry(run.resultEntryId) }),
    })),
    overlays: archive.overlays.map((overlay) => ({ ...overlay, id: uuidv7(), entryId: entry(overlay.entryId) })),
  }
}
