// JSON that every wire can carry: strings anywhere inside are made well-formed, as cleanText does for one.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { cleanText, isClean } from './text.ts'

/** The same value if nothing has to be changed; one note for all changes. */
export function cleanJson<V extends Json>(value: V, at: string, notes: Note[]): V {
  if (isCleanJson(value)) return value
  const problems: Note[] = []
  const clean = cleanValue(value, at, problems)
  notes.push(...problems.slice(0, 1))
  return clean as V
}

/** Without recursion: what a provider sends may be nested to any depth. */
function isCleanJson(value: Json): boolean {
  if (typeof value === 'string') return isClean(value)
  if (typeof value !== 'object' || value === null) return true
  const open: Json[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (!isCleanHere(item, open)) return false
    } else {
      for (const key in next as JsonObject) {
        if (!isClean(key) || !isCleanHere((next as JsonObject)[key], open)) return false
      }
    }
  }
  return true
}

/** Of a list or an object nothing is known yet: it is added to `open`. */
function isCleanHere(value: Json | undefined, open: Json[]): boolean {
  if (typeof value === 'string') return isClean(value)
  if (typeof value === 'object' && value !== null) open.push(value)
  return true
}

function cleanValue(value: Json, at: string, notes: Note[]): Json {
  if (typeof value === 'string') return cleanText(value, at, notes)
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, at, notes))
  if (!isObject(value)) return value
  const entries = Object.entries(value).flatMap(([key, item]): [string, Json][] =>
    item === undefined ? [] : [[cleanText(key, at, notes), cleanValue(item, at, notes)]],
  )
  return Object.fromEntries(entries)
}
