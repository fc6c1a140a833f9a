// A text diff, for a person who has to decide about the change.

import { readFileSync } from 'node:fs'
import { shownPath } from '../config/load.ts'
import { lineDiff } from '../core/line-diff.ts'

/** The lines of a file that were added and removed; a sentence if its old text was not stored. */
export function changedLines(path: string, before: string | undefined): string[] {
  if (before === undefined) return [`${shownPath(path)} has changed; its previous text was not saved.`]
  const now = readFileSync(path, 'utf8')
  return [`${shownPath(path)}:`, ...textDiff(before, now)]
}

export function textDiff(before: string, now: string): string[] {
  return lineDiff(before.split('\n'), now.split('\n')).map(({ sign, text }) => `  ${sign} ${text}`)
}
