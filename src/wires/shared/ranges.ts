// The ranges of sampling parameters: for requests, and for the rules of OpenAI's wires.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Issue } from '../wire.ts'

const ranges: Record<string, readonly [number, number]> = {
  temperature: [0, 2],
  top_p: [0, 1],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
}

export const penaltyRange = { least: -2, most: 2 }

export function rangeIssues(fields: JsonObject): Issue[] {
  return Object.entries(ranges).flatMap(([param, [least, most]]): Issue[] => {
    const value = fields[param]
    if (typeof value !== 'number' || (value >= least && value <= most)) return []
    const [side, bound, code] =
      value < least
        ? ['below minimum', `>= ${least}`, 'decimal_below_min_value']
        : ['above maximum', `<= ${most}`, 'decimal_above_max_value']
    const message = `Invalid '${param}': decimal ${side} value. Expected a value ${bound}, but got ${value} instead.`
    return [{ rule: 'range', status: 400, message, type: 'invalid_request_error', param, code }]
  })
}

/** The nearest accepted value; `most` if a service accepts less than OpenAI. */
export function inRange(param: 'temperature' | 'top_p', value: number, notes: Note[], most = highest(param)): number {
  return within(param, value, { least: 0, most }, notes)
}

export function within(
  param: string,
  value: number,
  { least, most }: { least: number; most: number },
  notes: Note[],
): number {
  const near = Math.min(most, Math.max(least, value))
  if (near !== value) {
    notes.push({ kind: 'changed', what: `${param} ${value} to ${near}`, why: `it must be from ${least} to ${most}` })
  }
  return near
}

function highest(param: string): number {
  return ranges[param]?.[1] ?? Infinity
}
