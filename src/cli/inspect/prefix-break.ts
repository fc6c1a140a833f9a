// Where a request first differs from the previous one: the byte, and the content there. Cache marks are not part of
// what a provider compares, so they are left out on both sides.

import { isObject, type Json } from '../../core/json.ts'
import { type DiffLine, lineDiff } from '../../core/line-diff.ts'

export interface PrefixBreak {
  /** The first byte of the body that differs, without cache marks. */
  byte: number
  /** Bytes of the body. */
  size: number
  /** The path in the body, such as `messages[4].content[0].text`. */
  at: string
  /** The previous content is unchanged: something was only appended. */
  appended: boolean
  /** The content before and now, shortened. */
  before: string
  now: string
}

/** Undefined if both are the same. */
export function prefixBreak(before: Json, now: Json): PrefixBreak | undefined {
  const [old, next] = [JSON.stringify(unmarked(before)), JSON.stringify(unmarked(now))]
  if (old === next) return undefined
  const shorter = Math.min(old.length, next.length)
  let at = 0
  while (at < shorter && old.charCodeAt(at) === next.charCodeAt(at)) at++
  return {
    byte: Buffer.byteLength(next.slice(0, at)),
    size: Buffer.byteLength(next),
    at: pathAt(next, next[at] === ',' ? at + 1 : at),
    // A list that continued: the previous one was closed here, and what came after it still follows.
    appended: old[at] === ']' && next[at] === ',' && next.endsWith(old.slice(at)),
    before: snippet(old, at),
    now: snippet(next, at),
  }
}

/** The fields that only mark where to cache (checked 2026-11). */
const markFields: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint'])

function unmarked(value: Json): Json {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isObject(value)) return value
  const fields = Object.entries(value).filter(([key, field]) => field !== undefined && !markFields.has(key))
  return Object.fromEntries(fields.map(([key, field]) => [key, unmarked(field ?? null)]))
}

/** The path in a JSON text that a character belongs to. */
export function pathAt(text: string, end: number): string {
  const path: (string | number)[] = []
  for (let at = 0; at < end && at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const close = closingQuote(text, at)
      if (text[close + 1] === ':' && typeof path.at(-1) === 'string') {
        path[path.length - 1] = JSON.parse(text.slice(at, close + 1)) as string
      }
      at = close
    } else if (character === '{') path.push('')
    else if (character === '[') path.push(0)
    else if (character === '}' || character === ']') path.pop()
    else if (character === ',') {
      const last = path.at(-1)
      path[path.length - 1] = typeof last === 'number' ? last + 1 : ''
    }
  }
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : step && `.${step}`))
    .join('')
    .replace(/^\./, '')
}

function closingQuote(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return text.length
}

function snippet(text: string, at: number): string {
  const [from, to] = [Math.max(0, at - 24), at + 24]
  return `${from > 0 ? '…' : ''}${text.slice(from, to).toWellFormed()}${to < text.length ? '…' : ''}`
}

// Two request bodies, line by line.

/** Empty if both are the same. */
export function bodyDiff(before: Json, now: Json): DiffLine[] {
  return lineDiff(linesOf(before), linesOf(now))
}

function linesOf(body: Json): string[] {
  return JSON.stringify(body, null, 2).split('\n')
}
