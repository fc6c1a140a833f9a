// Which messages each element of a body came from. Stored with the exchange as runs, because most elements are one
// message each.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { sharedLength } from '../core/lists.ts'
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
  const what = `where ${origins.from.length} elements of the body came from`
  const data: JsonObject = { field: origins.field, runs: runsOf(origins) }
  return [{ kind: 'added', what, why: 'each can be traced to its messages', rule, data }]
}

/** The last result, by the names of its first element: the next body nearly always begins with the same elements. */
const lastRuns = new WeakMap<readonly string[], { from: Origins['from']; runs: readonly Run[] }>()

function runsOf({ field, from }: Origins): Run[] {
  const [first = []] = from
  const known = lastRuns.get(first)
  const shared = known ? sharedLength(known.from, from) : 0
  const runs = known ? firstRuns(known.runs, shared) : []
  for (const places of placesIn({ field, from: from.slice(shared) })) {
    const [place] = places
    const last = runs.at(-1)
    if (place === undefined || places.length > 1) runs.push([places])
    else if (last?.length === 2 && last[0] + last[1] === place) runs[runs.length - 1] = [last[0], last[1] + 1]
    else runs.push([place, 1])
  }
  lastRuns.set(first, { from, runs })
  return runs
}

/** The runs of so many elements. */
function firstRuns(runs: readonly Run[], count: number): Run[] {
  const first: Run[] = []
  let rest = count
  for (const run of runs) {
    if (rest === 0) break
    const length = run.length === 2 ? Math.min(run[1], rest) : 1
    first.push(run.length === 2 ? [run[0], length] : run)
    rest -= length
  }
  return first
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
