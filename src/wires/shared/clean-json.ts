// JSON that every wire can carry: strings anywhere inside are made well-formed, as cleanText does for one.

import type { Note } from '../../core/context.ts'
import { isObject, type Json } from '../../core/json.ts'
import { cleanText, isClean } from './text.ts'

/** The same value if nothing has to be changed; one note for all changes. */
export function cleanJson<V extends Json>(value: V, at: string, notes: Note[]): V {
  if (isCleanJson(value)) return value
  const found: Note[] = []
  const clean = cleaned(value, at, found)
  notes.push(...found.slice(0, 1))
  return clean as V
}

/** Without recursion: what a provider sends may be nested to any depth. */
function isCleanJson(value: Json): boolean {
  const open: (Json | undefined)[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string') {
      if (!isClean(next)) return false
    } else if (Array.isArray(next)) {
      for (const item of next) open.push(item)
    } else if (isObject(next)) {
      for (const key in next) {
        if (!isClean(key)) return false
        open.push(next[key])
      }
    }
  }
  return true
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
