// Decisions about what is sent, as text.

import type { Overlay } from '../api/types.ts'

export const decisionWords: Record<string, string> = {
  compaction: 'A summary replaces earlier messages',
  fold: 'Old tool turns are shortened to one line each',
  cut: 'Older messages are not sent',
  plain: 'Earlier replies are sent as plain text',
}

/** Other records are stored in the same place, such as permissions: those cannot be undone here. */
export const isDecision = (overlay: Overlay): boolean => Object.hasOwn(decisionWords, overlay.kind)
