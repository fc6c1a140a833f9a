// Two request bodies, line by line.

import type { Json } from '../../core/json.ts'
import { lineDiff, type DiffLine } from '../../core/line-diff.ts'

/** Empty if both are the same. */
export function bodyDiff(before: Json, now: Json): DiffLine[] {
  return lineDiff(linesOf(before), linesOf(now))
}

function linesOf(body: Json): string[] {
  return JSON.stringify(body, null, 2).split('\n')
}
