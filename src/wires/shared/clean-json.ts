// JSON that every wire can carry: texts anywhere inside are made well-formed, as cleanText does for one.

import type { Note } from '../../core/context.ts'
import { isObject, type Json } from '../../core/json.ts'
import { cleanText, isClean } from './text.ts'

/** The same value where nothing has to be changed; one note for all that had to be. */
export function cleanJson<V extends Json>(value: V, at: string, notes: Note[]): V {
  if (isCleanJson(value)) return value
  const found: Note[] = []
  const clean = cleaned(value, at, found)
  notes.push(...found.slice(0, 1))
  return clean as V
}

function isCleanJson(value: Json | undefined): boolean {
  if (typeof value === 'string') return isClean(value)
  if (Array.isArray(value)) return value.every(isCleanJson)
  return !isObject(value) || Object.keys(value).every((key) => isClean(key) && isCleanJson(value[key]))
}

function cleaned(value: Json, at: string, notes: Note[]): Json {
  if (typeof value === 'string') return cleanText(value, at, notes)
  if (Array.isArray(value)) return value.map((item) => cleaned(item, at, notes))
  if (!isObject(value)) return value
  const entries = Object.entries(value).flatMap(([key, item]): [string, Json][] =>
    item === undefined ? [] : [[cleanText(key, at, notes), cleaned(item, at, notes)]],
  )
  return Object.fromEntries(entries)
}
