// How a text differs from what it was, for a person who has to decide about the change.

import { readFileSync } from 'node:fs'
import { shownPath } from '../config/load.ts'
import { lineDiff } from './inspect/body-diff.ts'

/** The lines of a file that were added and taken out; a sentence where its old text was not kept. */
export function changedLines(path: string, before: string | undefined): string[] {
  if (before === undefined) return [`${shownPath(path)} is another file now; its old text was not kept.`]
  const now = readFileSync(path, 'utf8')
  return [`${shownPath(path)}:`, ...textDiff(before, now)]
}

export function textDiff(before: string, now: string): string[] {
  return lineDiff(before.split('\n'), now.split('\n')).map(({ sign, text }) => `  ${sign} ${text}`)
}
