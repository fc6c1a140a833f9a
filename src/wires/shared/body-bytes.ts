// The bytes of a body. The encoded form of a message stays the same object from request to request (encode-cache.ts),
// so its bytes need to be written only once: they are cached as spans of adjacent elements, and copied.
//
// The bytes of a span are a part of the last body that contained it: caching them takes no memory beyond that body.
//
// For another provider all elements are new, but the long texts in them are the same, and escaping those is most of the
// work: they are copied from the last body too.

import type { Json, JsonObject } from '../../core/json.ts'
import { beginsWith } from '../../core/lists.ts'
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
  written: Written
}

/** Elements in JSON form, separated by commas. */
interface Written {
  bytes: Buffer
  /** The long texts in them, in order. */
  texts: readonly PlacedText[]
}

/** A text, and where its JSON form is. */
interface PlacedText {
  text: string
  start: number
  end: number
}

export function cachedElement(value: JsonObject, from: readonly string[] = nowhere): CachedElement {
  return { value, from, written: false, stretch: undefined }
}

/** The position of a message as an origin; none for one that is not in the history. */
export function fromPlace(at: string): readonly string[] {
  return at === '' || at === 'messages[-1]' ? nowhere : [at]
}

const nowhere: readonly string[] = []

/** Elements, and lists of what they contain: a longer list continues from these without visiting each element. */
export interface Elements {
  pieces: CachedElement[]
  values: JsonObject[]
  from: (readonly string[])[]
}

export function noElements(): Elements {
  return { pieces: [], values: [], from: [] }
}

/** A copy of the first elements, which may be added to. */
export function firstElements({ pieces, values, from }: Elements, length: number): Elements {
  return { pieces: pieces.slice(0, length), values: values.slice(0, length), from: from.slice(0, length) }
}

export function addElement({ pieces, values, from }: Elements, piece: CachedElement): void {
  pieces.push(piece)
  values.push(piece.value)
  from.push(piece.from)
}

const lists = new WeakMap<readonly Json[], Elements>()

/** The elements as a list for a body. */
export function cachedList(pieces: readonly CachedElement[]): JsonObject[] {
  const elements = noElements()
  for (const piece of pieces) addElement(elements, piece)
  return listOf(elements)
}

/** The same for elements that do not change any more. */
export function listOf(elements: Elements): JsonObject[] {
  const list = [...elements.values]
  lists.set(list, elements)
  return list
}

/** Where the elements of such a list came from. */
export function originsIn(field: string, list: readonly Json[]): Origins {
  return { field, from: lists.get(list)?.from ?? [] }
}

/**
 * The same bytes as those of `JSON.stringify(body)`. If the messages that it was made from are given, the next body of
 * the same conversation copies its long texts from this one, whatever its wire.
 */
export function bodyBytes(body: JsonObject, messages: readonly object[] = []): Uint8Array<ArrayBuffer> {
  // A summary at the beginning is made again for each request, so the second message is a key too.
  const keys = messages.slice(0, 2)
  const last = keys.map((message) => lastWritten.get(message)).find((written) => written)
  const draft: Draft = { parts: [], starts: [], size: 0, spans: [], earlier: textsOf(last ?? []) }
  let text = ''
  for (const [field, value] of Object.entries(body)) {
    if (value === undefined) continue
    text += `${text === '' && draft.size === 0 ? '{' : ','}${JSON.stringify(field)}:`
    const pieces = Array.isArray(value) ? elementsOf(value) : undefined
    if (pieces) {
      add(`${text}[`, draft)
      addList(pieces, draft)
      text = ']'
    } else text += JSON.stringify(value)
  }
  add(text === '' ? '{}' : `${text}}`, draft)
  const { bytes, written } = joinParts(draft)
  for (const message of keys) lastWritten.set(message, written)
  return bytes
}

/** What is in the last body of a conversation, by its first messages. */
const lastWritten = new WeakMap<object, readonly Written[]>()

interface Draft {
  parts: (string | Copy)[]
  /** Where each part begins, in bytes. */
  starts: number[]
  size: number
  /** What should be cached as one span. */
  spans: { pieces: readonly CachedElement[]; start: number; end: number; texts: readonly PlacedText[] }[]
  earlier: EarlierTexts
}

/** A part of an earlier body. */
interface Copy {
  bytes: Buffer
  start: number
  end: number
}

function add(part: string | Copy, draft: Draft, isAscii = false): void {
  draft.parts.push(part)
  draft.starts.push(draft.size)
  if (typeof part !== 'string') draft.size += part.end - part.start
  else draft.size += isAscii ? part.length : Buffer.byteLength(part)
}

function addList(pieces: readonly CachedElement[], draft: Draft): void {
  for (let at = 0; at < pieces.length;) {
    if (at > 0) add(',', draft)
    const start = draft.size
    const cached = spanAt(pieces, at)
    let span = cached?.pieces ?? pieces.slice(at, endOfNew(pieces, at))
    let texts = cached ? cached.written.texts : addNew(span, draft)
    if (cached) addCached(cached.written, draft)
    // Adjacent spans that occur together again are merged.
    for (let next = cached && spanAt(pieces, at + span.length); next; next = spanAt(pieces, at + span.length)) {
      add(',', draft)
      const shift = draft.size - start
      texts = texts.concat(next.written.texts.map((text) => shiftText(text, shift)))
      addCached(next.written, draft)
      span = pieces.slice(at, at + span.length + next.pieces.length)
    }
    draft.spans.push({ pieces: span, start, end: draft.size, texts })
    at += span.length
  }
}

function shiftText({ text, start, end }: PlacedText, by: number): PlacedText {
  return { text, start: start + by, end: end + by }
}

function addCached(cached: Written, draft: Draft): void {
  add({ bytes: cached.bytes, start: 0, end: cached.bytes.length }, draft)
  draft.earlier.skip(cached)
}

/** Writes elements, and returns the long texts in them. */
function addNew(pieces: readonly CachedElement[], draft: Draft): PlacedText[] {
  const long: string[] = []
  const outline = JSON.stringify(pieces.map((piece) => withoutLong(piece.value, long))).slice(1, -1)
  const between = outline.split(gapInJson)
  const start = draft.size
  if (between.length !== long.length + 1) {
    // A text of the elements looks like a gap.
    add(JSON.stringify(pieces.map((piece) => piece.value)).slice(1, -1), draft)
    return []
  }
  const texts: PlacedText[] = []
  // Asked once, not for each of its pieces.
  const isAscii = Buffer.byteLength(outline) === outline.length
  add(between[0] as string, draft, isAscii)
  for (let i = 0; i < long.length; i++) {
    const text = long[i] as string
    const from = draft.size - start
    add(draft.earlier.find(text) ?? JSON.stringify(text), draft)
    texts.push({ text, start: from, end: draft.size - start })
    add(between[i + 1] as string, draft, isAscii)
  }
  return texts
}

/** From this length on a text is copied faster than it is escaped. */
const longLength = 256

/** In place of a long text. Texts that are sent contain no NUL; if one does after all, `addNew` notices it. */
const gap = '\0'
const gapInJson = JSON.stringify(gap)

/** What a provider sends may be nested to any depth; the long texts are not far inside. */
const deepest = 16

/** The value with gaps in place of long texts; the same value if it has none. */
function withoutLong(value: Json | undefined, long: string[], depth = 0): Json | undefined {
  if (typeof value === 'string') {
    if (value.length < longLength) return value
    long.push(value)
    return gap
  }
  if (typeof value !== 'object' || value === null || depth === deepest) return value
  return Array.isArray(value) ? listWithoutLong(value, long, depth) : objectWithoutLong(value, long, depth)
}

function listWithoutLong(list: Json[], long: string[], depth: number): Json[] {
  let changed: (Json | undefined)[] | undefined
  for (let i = 0; i < list.length; i++) {
    const item = withoutLong(list[i], long, depth + 1)
    if (item !== list[i]) (changed ??= [...list])[i] = item
  }
  return (changed as Json[] | undefined) ?? list
}

function objectWithoutLong(value: JsonObject, long: string[], depth: number): JsonObject {
  let changed: JsonObject | undefined
  for (const key in value) {
    const field = value[key]
    const item = withoutLong(field, long, depth + 1)
    if (item !== field) (changed ??= { ...value })[key] = item
  }
  return changed ?? value
}

interface EarlierTexts {
  find(text: string): Copy | undefined
  /** Continues after what was copied whole. */
  skip(cached: Written): void
}

/** Bodies of one conversation have their texts in the same order, so that one pass through both finds them. */
function textsOf(written: readonly Written[]): EarlierTexts {
  let at = 0
  let atText = 0
  // The beginning may have been cut off; after that only single texts are new or missing.
  let wide = 8
  return {
    find(text) {
      let reach = wide > 0 ? Infinity : 64
      let from = atText
      for (let i = at; i < written.length; i++) {
        const { bytes, texts } = written[i] as Written
        for (let j = from; j < texts.length; j++) {
          const candidate = texts[j] as PlacedText
          if (reach-- === 0) return undefined
          if (candidate.text !== text) continue
          at = i
          atText = j + 1
          return { bytes, start: candidate.start, end: candidate.end }
        }
        from = 0
      }
      wide--
      return undefined
    },
    skip(cached) {
      const i = written.indexOf(cached, at)
      if (i < 0) return
      at = i + 1
      atText = 0
    },
  }
}

/** Undefined if the list was changed since it was made. */
function elementsOf(list: readonly Json[]): readonly CachedElement[] | undefined {
  const elements = lists.get(list)
  if (elements?.values.length !== list.length) return undefined
  return beginsWith(list, elements.values) ? elements.pieces : undefined
}

function spanAt(pieces: readonly CachedElement[], at: number): Span | undefined {
  const stretch = pieces[at]?.stretch
  return stretch && beginsWith(pieces, stretch.pieces, at) ? stretch : undefined
}

/** A long span is cheap, but a single changed element makes all of it be written again: new elements are separate. */
function endOfNew(pieces: readonly CachedElement[], start: number): number {
  const { written } = pieces[start] as CachedElement
  const remaining = pieces.length - start
  const limit = start + (remaining > tail ? remaining - tail : Math.ceil(remaining / 2))
  let end = start + 1
  while (end < limit && pieces[end]?.written === written && !spanAt(pieces, end)) end++
  return end
}

/** This many elements at the end are in short spans: cache marks move and elements are added there. */
const tail = 16

function joinParts({ parts, starts, size, spans }: Draft): { bytes: Buffer<ArrayBuffer>; written: Written[] } {
  const body = Buffer.allocUnsafeSlow(size)
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string | Copy
    const start = starts[i] as number
    if (typeof part === 'string') {
      // Text that has as many bytes as characters is ASCII, and needs no conversion.
      const isAscii = start + part.length === (starts[i + 1] ?? size)
      body.write(part, start, isAscii ? 'latin1' : 'utf8')
    } else part.bytes.copy(body, start, part.start, part.end)
  }
  const written = spans.map(({ pieces, start, end, texts }) => {
    const span = { pieces, written: { bytes: body.subarray(start, end), texts } }
    storeSpan(span)
    return span.written
  })
  return { bytes: body, written }
}

function storeSpan(span: Span): void {
  const [first] = span.pieces
  if (first?.stretch?.pieces !== span.pieces) {
    for (const piece of span.pieces) {
      piece.written = true
      piece.stretch = undefined
    }
  }
  if (first) first.stretch = span
}
