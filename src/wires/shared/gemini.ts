// What both Gemini wires have in common: model versions, signatures, efforts, and how `extra` is merged.

import type { Effort } from '../../settings/options.ts'
import { isObject, type JsonObject } from '../../core/json.ts'

/** 2.5 as 205, 3.8 as 308; undefined if the name has no version. Names without a number follow the newest models. */
export function geminiVersion(model: string | undefined): number | undefined {
  if (model === undefined) return undefined
  const match = /gemini-(\d+)(?:\.(\d+))?(?=-|$)/.exec(model)
  if (match) return Number(match[1]) * 100 + Number(match[2] ?? 0)
  return /gemini-[a-z-]*latest$/.test(model) ? 300 : undefined
}

/** Allows a call that Gemini did not sign (checked 2026-11: Gemini API and Vertex). */
export const skipSignature = 'skip_thought_signature_validator'

const ladder: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The supported effort nearest to the requested one; the higher one of two equally near. */
export function nearestEffort(asked: Effort, knows: readonly Effort[]): Effort | undefined {
  const distance = (effort: Effort) => Math.abs(ladder.indexOf(effort) - ladder.indexOf(asked))
  return knows.toSorted((a, b) => distance(a) - distance(b) || ladder.indexOf(b) - ladder.indexOf(a))[0]
}

/** `extra` over the body: objects are merged, everything else is replaced. */
export function mergeExtra(body: JsonObject, extra: JsonObject): JsonObject {
  const merged: JsonObject = { ...body }
  for (const [key, value] of Object.entries(extra)) {
    const old = merged[key]
    merged[key] = isObject(old) && isObject(value) ? mergeExtra(old, value) : value
  }
  return merged
}
