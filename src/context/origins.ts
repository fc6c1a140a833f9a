// Which messages each element of a body came from. Stored with the exchange as runs, because most elements are one
// message each.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Exchange } from '../core/log.ts'
import type { Origins } from '../wires/wire.ts'

const rule = 'origins'

/**
 * `[position, count]`: elements of consecutive messages, one each. A nested list: the positions of a single element.
 */
type Run = [place: number, count: number] | [places: number[]]

/** The same by number; the system prompt and added messages have no position. */
export function placesIn({ from }: Origins): number[][] {
  return from.map((names) => {
    let places = positions.get(names)
    if (!places) positions.set(names, (places = names.flatMap(positionIn)))
    return places
  })
}

/** By the names of an element, which are the same object from request to request. */
const positions = new WeakMap<readonly string[], number[]>()

function positionIn(name: string): number[] {
  const place = /^messages\[(\d+)\]/.exec(name)?.[1]
  return place === undefined ? [] : [Number(place)]
}

export function originsNote(origins: Origins | undefined): Note[] {
  if (!origins || origins.from.length === 0) return []
  const runs: Run[] = []
  for (const places of placesIn(origins)) {
    const [place] = places
    const last = runs.at(-1)
    if (place === undefined || places.length > 1) runs.push([places])
    else if (last?.length === 2 && last[0] + last[1] === place) last[1]++
    else runs.push([place, 1])
  }
  const what = `where ${origins.from.length} elements of the body came from`
  const data: JsonObject = { field: origins.field, runs }
  return [{ kind: 'added', what, why: 'each can be traced to its messages', rule, data }]
}

/** For each element, the positions of its messages; undefined for exchanges without this record. */
export function readOrigins({ notes }: Pick<Exchange, 'notes'>): { field: string; places: number[][] } | undefined {
  const data = notes.findLast((note) => note.rule === rule)?.data
  if (!isObject(data) || typeof data.field !== 'string' || !Array.isArray(data.runs)) return undefined
  return { field: data.field, places: data.runs.flatMap(positionsIn) }
}

function positionsIn(run: Json): number[][] {
  if (!Array.isArray(run)) return []
  const [first, count] = run
  if (Array.isArray(first)) return [first.map(Number)]
  return Array.from({ length: Number(count) }, (_, i) => [Number(first) + i])
}
