// Decisions about what is sent, as text, and the decision of a note: a note names positions in the history, a decision
// names entries.

import type { Note, Overlay } from '../api/types.ts'

export const decisionWords: Record<string, string> = {
  compaction: 'A summary replaces earlier messages',
  fold: 'Old tool turns are shortened to one line each',
  cut: 'Older messages are not sent',
  plain: 'Earlier replies are sent as plain text',
}

/** Other records are stored in the same place, such as permissions: those cannot be undone here. */
export const isDecision = (overlay: Overlay): boolean => Object.hasOwn(decisionWords, overlay.kind)

const kindOfRule: Record<string, string> = { 'tool-turns': 'fold', window: 'cut', compaction: 'compaction' }

/** Absent if a policy cuts by counting: then there is no decision to undo. */
export function decisionOf(
  note: Note,
  entryIds: readonly (string | undefined)[],
  overlays: readonly Overlay[],
): Overlay | undefined {
  const kind = kindOfRule[note.rule ?? '']
  const found = /^messages\[(\d+)(?:\.\.(\d+))?\]/.exec(note.at ?? '')
  if (kind === undefined || !found) return undefined
  const first = Number(found[1])
  const last = Number(found[2] ?? found[1])
  const placeOf = (id: unknown) => (typeof id === 'string' ? entryIds.indexOf(id) : -1)
  return overlays.findLast(({ kind: of, data, undone }) => {
    if (of !== kind || undone) return false
    if (kind === 'cut') return placeOf(data['before']) > first
    const through = placeOf(data['through'])
    if (kind === 'compaction') return through >= first
    const from = placeOf(data['from'])
    return from >= 0 && from <= last && through >= first
  })
}
