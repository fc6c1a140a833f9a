// JSON that every wire can carry: texts anywhere inside are made well-formed, as cleanText does for one.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { cleanText } from '../text.ts'

/** Gives back the same object where nothing had to be changed. */
export function cleanObject(value: JsonObject, at: string, notes: Note[]): JsonObject {
  const found: Note[] = []
  const clean = walkObject(value, at, found)
  const [first] = found
  if (!first) return value
  notes.push(first)
  return clean
}

function walk(value: Json, at: string, notes: Note[]): Json {
  if (typeof value === 'string') return cleanText(value, at, notes)
  if (Array.isArray(value)) return value.map((item) => walk(item, at, notes))
  return isObject(value) ? walkObject(value, at, notes) : value
}

function walkObject(value: JsonObject, at: string, notes: Note[]): JsonObject {
  const entries = Object.entries(value).flatMap(([key, item]): [string, Json][] =>
    item === undefined ? [] : [[cleanText(key, at, notes), walk(item, at, notes)]],
  )
  return Object.fromEntries(entries)
}
