// The decision that a note is about: a note names positions in the history, a decision names entries.

import type { Note } from '../../core/context.ts'
import type { Overlay } from '../../core/log.ts'

const kindOfRule: Record<string, string> = { 'tool-turns': 'fold', window: 'cut', compaction: 'compaction' }

/** Absent if a policy cuts by counting: then there is no decision to undo. */
export function decisionOf(
  note: Note,
  places: ReadonlyMap<string, number>,
  overlays: readonly Overlay[],
): Overlay | undefined {
  const kind = kindOfRule[note.rule ?? '']
  const match = /^messages\[(\d+)(?:\.\.(\d+))?\]/.exec(note.at ?? '')
  if (kind === undefined || !match) return undefined
  const first = Number(match[1])
  const last = Number(match[2] ?? match[1])
  const placeOf = (id: unknown) => (typeof id === 'string' ? (places.get(id) ?? -1) : -1)
  return overlays.findLast(({ kind: overlayKind, data, undone }) => {
    if (overlayKind !== kind || undone) return false
    if (kind === 'cut') return placeOf(data['before']) > first
    const through = placeOf(data['through'])
    if (kind === 'compaction') return through >= first
    const from = placeOf(data['from'])
    return from >= 0 && from <= last && through >= first
  })
}
