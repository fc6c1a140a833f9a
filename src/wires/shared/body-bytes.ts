// The bytes of a body. The encoded form of a message stays the same object from request to request (encode-cache.ts),
// so its bytes need to be written only once: they are cached as spans of adjacent elements, and copied.
//
// The bytes of a span are a part of the last body that contained it: caching them takes no memory beyond that body.

import type { Json, JsonObject } from '../../core/json.ts'
import type { Origins } from '../wire.ts'

/** One element of the main list of a body: a message, an item, a content. Never mutated once it is here. */
export interface CachedElement {
  value: JsonObject
  /** The positions of the messages that it came from. */
  from: readonly string[]
  /** It was in a body before. */
  written: boolean
  /** The span that it begins. */
  stretch: Span | undefined
}

interface Span {
  pieces: readonly CachedElement[]
  /** In JSON form, separated by commas. */
  bytes: Uint8Array
}

export function cachedElement(value: JsonObject, from: readonly string[] = nowhere): CachedElement {
  return { value, from, written: false, stretch: undefined }
}

/** The position of a message as an origin; none for one that is not in the history. */
export function fromPlace(at: string): readonly string[] {
  return at === '' || at === 'messages[-1]' ? nowhere : [at]
}

const nowhere: readonly string[] = []

const lists = new WeakMap<readonly Json[], readonly CachedElement[]>()

/** The elements as a list for a body. */
export function cachedList(pieces: readonly CachedElement[]): JsonObject[] {
  const list = pieces.map((piece) => piece.value)
  lists.set(list, pieces)
  return list
}

/** Where the elements of a list from `cachedList` came from. */
export function originsIn(field: string, list: readonly Json[]): Origins {
  return { field, from: (lists.get(list) ?? []).map((piece) => piece.from) }
}

/** The same bytes as those of `JSON.stringify(body)`. */
export function bodyBytes(body: JsonObject): Uint8Array<ArrayBuffer> {
  const draft: Draft = { parts: [], spans: [] }
  let text = ''
  for (const [field, value] of Object.entries(body)) {
    if (value === undefined) continue
    text += `${text === '' && draft.parts.length === 0 ? '{' : ','}${JSON.stringify(field)}:`
    const pieces = Array.isArray(value) ? elementsOf(value) : undefined
    if (pieces) {
      draft.parts.push(`${text}[`)
      addList(pieces, draft)
      text = ']'
    } else text += JSON.stringify(value)
  }
  draft.parts.push(text === '' ? '{}' : `${text}}`)
  return joined(draft)
}

interface Draft {
  /** Text to be written, and existing bytes. */
  parts: (string | Uint8Array)[]
  /** What should be cached as one span, and the parts from `from` to before `to` that it consists of. */
  spans: { pieces: readonly CachedElement[]; from: number; to: number }[]
}

function addList(pieces: readonly CachedElement[], { parts, spans }: Draft): void {
  for (let at = 0; at < pieces.length;) {
    if (at > 0) parts.push(',')
    const from = parts.length
    const kept = spanAt(pieces, at)
    let span = kept?.pieces ?? pieces.slice(at, endOfNew(pieces, at))
    parts.push(kept?.bytes ?? JSON.stringify(span.map((piece) => piece.value)).slice(1, -1))
    // Adjacent spans that occur together again are merged.
    for (let next = kept && spanAt(pieces, at + span.length); next; next = spanAt(pieces, at + span.length)) {
      parts.push(',', next.bytes)
      span = pieces.slice(at, at + span.length + next.pieces.length)
    }
    spans.push({ pieces: span, from, to: parts.length })
    at += span.length
  }
}

/** Undefined if the list was changed since it was made. */
function elementsOf(list: readonly Json[]): readonly CachedElement[] | undefined {
  const pieces = lists.get(list)
  if (pieces?.length !== list.length) return undefined
  for (let i = 0; i < list.length; i++) if (list[i] !== pieces[i]?.value) return undefined
  return pieces
}

function spanAt(pieces: readonly CachedElement[], at: number): Span | undefined {
  const stretch = pieces[at]?.stretch
  if (!stretch || at + stretch.pieces.length > pieces.length) return undefined
  for (let i = 0; i < stretch.pieces.length; i++) if (stretch.pieces[i] !== pieces[at + i]) return undefined
  return stretch
}

/** A long span is cheap, but a single changed element makes all of it be written again: new elements are separate. */
function endOfNew(pieces: readonly CachedElement[], start: number): number {
  const { written } = pieces[start] as CachedElement
  const left = pieces.length - start
  const most = start + (left > tail ? left - tail : Math.ceil(left / 2))
  let end = start + 1
  while (end < most && pieces[end]?.written === written && !spanAt(pieces, end)) end++
  return end
}

/** This many elements at the end are in short spans: cache marks move and elements are added there. */
const tail = 16

function joined({ parts, spans }: Draft): Uint8Array<ArrayBuffer> {
  const starts = [0]
  let size = 0
  for (const part of parts) starts.push((size += Buffer.byteLength(part)))
  const body = Buffer.allocUnsafeSlow(size)
  for (const [i, part] of parts.entries()) {
    const start = starts[i] ?? 0
    // Text that has as many bytes as characters is ASCII, and needs no conversion.
    const isAscii = start + part.length === starts[i + 1]
    if (typeof part === 'string') body.write(part, start, isAscii ? 'latin1' : 'utf8')
    else body.set(part, start)
  }
  for (const { pieces, from, to } of spans) storeSpan(pieces, body.subarray(starts[from], starts[to]))
  return body
}

function storeSpan(pieces: readonly CachedElement[], bytes: Uint8Array): void {
  const [first] = pieces
  if (first?.stretch?.pieces !== pieces) {
    for (const piece of pieces) {
      piece.written = true
      piece.stretch = undefined
    }
  }
  if (first) first.stretch = { pieces, bytes }
}
