// Options fitted to a target: the nearest effort, and `extra` merged into a body.

import type { Effort } from '../../settings/options.ts'
import { isObject, type JsonObject } from '../../core/json.ts'

const ladder: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The supported effort nearest to the requested one; the higher one of two equally near. */
export function nearestEffort(requested: Effort, supported: readonly Effort[]): Effort | undefined {
  const distance = (effort: Effort) => Math.abs(ladder.indexOf(effort) - ladder.indexOf(requested))
  return supported.toSorted((a, b) => distance(a) - distance(b) || ladder.indexOf(b) - ladder.indexOf(a))[0]
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
