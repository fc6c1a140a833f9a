// One request as the inspector shows it, sent or not: its pieces with their source, tokens, price and notes, the
// expected cache hit, and the difference from the previous one.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import { ratesFor, type Price } from '../../providers/price.ts'
import { fragmentsOf, type Fragment } from './fragments.ts'
import { weigh } from './weigh.ts'

type Change = 'same' | 'changed' | 'new'

export interface Piece extends Fragment {
  tokens: number
  places: number[]
  notes: Note[]
  /** Compared with the previous request; absent if there is none on the same wire. */
  change?: Change
  before?: Fragment
  /** Part of the expected cache hit. */
  cached: boolean
  /** In US dollars, by estimate. */
  price?: number
}

/** A message of the log that is in no piece. */
export interface Absent {
  place: number
  notes: Note[]
}

export interface Inspected {
  /** The message of each piece is known. */
  isTraced: boolean
  pieces: Piece[]
  absent: Absent[]
  /** Notes about no visible message. */
  notes: Note[]
  tokens: number
  cachedTokens: number
  price?: number
  changes?: { same: number; changed: number; added: number; gone: number }
}

export interface ToInspect {
  body: JsonObject
  notes: readonly Note[]
  history: readonly (Message | undefined)[]
  /** For each element of the list in this field, the positions of its messages; absent for old requests. */
  origins?: { field: string; places: readonly (readonly number[])[] }
  price?: Price
  /** The body of the previous request, on the same wire. */
  before?: JsonObject
  /** Whether that one went to the same model, so that its cache may be warm. */
  isSameModel: boolean
  /** Tokens of the whole prompt if they are known better: the pieces are then shares of it. */
  total?: number
  /** Shorter prefixes are not cached. */
  leastCached?: number
}

export function inspect(asked: ToInspect): Inspected {
  const { body, notes, history, origins, before, isSameModel, total, leastCached = 0 } = asked
  const fragments = fragmentsOf(body)
  const sizes = fragments.map(({ kind, value }) => (kind === 'settings' ? 0 : weigh(value)))
  const ratio = total === undefined ? 1 : total / Math.max(1, sum(sizes))
  const price = asked.price && ratesFor(asked.price, sum(sizes) * ratio)
  const places = placesByPath(origins)
  const old = before && fragmentsOf(before)
  const oldOnes = new Map(old?.map((fragment) => [fragment.path, fragment]))
  const notesAt = notesByPlace(notes, history.length)
  const noted = new Set<Note>()
  let isPrefix = isSameModel && old !== undefined

  const pieces = fragments.map((fragment, i): Piece => {
    const tokens = Math.round((sizes[i] ?? 0) * ratio)
    const was = oldOnes.get(fragment.path)
    const change: Change = !was ? 'new' : withoutMarks(was) === withoutMarks(fragment) ? 'same' : 'changed'
    if (fragment.kind !== 'settings' && change !== 'same') isPrefix = false
    const cached = isPrefix && fragment.kind !== 'settings'
    const mine = [...(places.get(fragment.path) ?? [])]
    const about = [...new Set(mine.flatMap((place) => notesAt.get(place) ?? []))].filter((note) => !noted.has(note))
    for (const note of about) noted.add(note)
    const rate = cached ? (price?.cacheRead ?? price?.input) : price?.input
    return {
      ...fragment,
      tokens,
      places: mine,
      notes: about,
      cached,
      ...(old && { change }),
      ...(was && change === 'changed' && { before: was }),
      ...(rate !== undefined && fragment.kind !== 'settings' && { price: (rate * tokens) / 1e6 }),
    }
  })

  const hit = sum(pieces.map((piece) => (piece.cached ? piece.tokens : 0)))
  if (hit < leastCached) for (const piece of pieces) forget(piece, price)

  const carried = new Set(pieces.flatMap((piece) => piece.places))
  const opening = history.findIndex((message) => message?.role !== 'system')
  const absent: Absent[] = []
  for (const [place, message] of history.entries()) {
    if (!origins || carried.has(place) || place < opening || !message) continue
    const about = notesAt.get(place) ?? []
    for (const note of about) noted.add(note)
    absent.push({ place, notes: about })
  }
  const counted = pieces.filter((piece) => piece.kind !== 'settings')
  const paths = new Set(fragments.map((fragment) => fragment.path))
  return {
    isTraced: origins !== undefined,
    pieces,
    absent,
    notes: notes.filter((note) => !noted.has(note) && !aboutExchange.has(note.rule ?? '')),
    tokens: sum(counted.map((piece) => piece.tokens)),
    cachedTokens: sum(counted.map((piece) => (piece.cached ? piece.tokens : 0))),
    ...(price && { price: sum(counted.map((piece) => piece.price ?? 0)) }),
    ...(old && {
      changes: {
        same: counted.filter((piece) => piece.change === 'same').length,
        changed: counted.filter((piece) => piece.change === 'changed').length,
        added: counted.filter((piece) => piece.change === 'new').length,
        gone: old.filter((line) => !paths.has(line.path)).length,
      },
    }),
  }
}

/** Machine-readable notes; people see their content elsewhere on the page. */
const aboutExchange = new Set(['forecast', 'origins'])

function forget(piece: Piece, price: Pick<Price, 'input'> | undefined): void {
  if (piece.cached && price) piece.price = (price.input * piece.tokens) / 1e6
  piece.cached = false
}

/** Cache marks move with the end of a request; the marked content stays the same. */
function withoutMarks({ value }: Fragment): string {
  const text = JSON.stringify(value)
  // Calling back for each value takes ten times as long.
  if (!cacheMarks.some((mark) => text.includes(mark))) return text
  return JSON.stringify(value, (name, inner: unknown) => (cacheMarks.includes(name) ? undefined : inner))
}

const cacheMarks = ['cache_control', 'prompt_cache_breakpoint']

/** A note concerns the message at its position, or each message in a range. */
function notesByPlace(notes: readonly Note[], length: number): Map<number, Note[]> {
  const byPlace = new Map<number, Note[]>()
  for (const note of notes) {
    const match = /^messages\[(\d+)(?:\.\.(\d+))?\]/.exec(note.at ?? '')
    if (!match) continue
    const to = Math.min(Number(match[2] ?? match[1]), length - 1)
    for (let place = Number(match[1]); place <= to; place++) {
      const notesHere = byPlace.get(place)
      if (notesHere) notesHere.push(note)
      else byPlace.set(place, [note])
    }
  }
  return byPlace
}

function placesByPath(origins: ToInspect['origins']): Map<string, readonly number[]> {
  return new Map(origins?.places.map((places, i) => [`${origins.field}[${i}]`, places]))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
