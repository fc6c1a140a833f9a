// Options fitted to a target: the nearest effort, and `extra` merged into a body.

import { efforts, type Effort } from '../../settings/options.ts'
import { isObject, type JsonObject } from '../../core/json.ts'

/** 0 for the lowest effort. */
export function effortRank(effort: Effort): number {
  return efforts.indexOf(effort)
}

/** The supported effort nearest to the requested one; of two equally near, the one with the lower `tieBreak`. */
export function nearestEffort(
  requested: Effort,
  supported: readonly Effort[],
  tieBreak: (effort: Effort) => number = (effort) => -effortRank(effort),
): Effort | undefined {
  const distance = (effort: Effort) => Math.abs(effortRank(effort) - effortRank(requested))
  return supported.toSorted((a, b) => distance(a) - distance(b) || tieBreak(a) - tieBreak(b))[0]
}

/** `extra` over the body: objects are merged, everything else is replaced. */
export function mergeExtra(body: JsonObject, extra: JsonObject | undefined): JsonObject {
  if (!extra) return body
  const merged: JsonObject = { ...body }
  for (const [key, value] of Object.entries(extra)) {
    const old = merged[key]
    merged[key] = isObject(old) && isObject(value) ? mergeExtra(old, value) : value
  }
  return merged
}
