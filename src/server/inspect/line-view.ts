// A page of the lines of an inspection: as many as asked for, and fewer if their pieces are long.

import type { Note } from '../../core/context.ts'
import type { Json } from '../../core/json.ts'
import type { Entry, Overlay } from '../../core/log.ts'
import type { LinesPart } from '../schema.ts'
import type { Band } from './bands.ts'
import { decisionOf } from './decision-of.ts'
import type { Absent, Piece } from './request.ts'
import type { AbsentView, Inspection, LineView, NoteView, PieceView, Shortened, Source } from './view.ts'

/** The messages that a request was made of, and the decisions about them. */
export interface History {
  entries: readonly Entry[]
  overlays: readonly Overlay[]
  /** By the id of their entry. */
  places: ReadonlyMap<string, number>
}

/** Characters of the JSON of one page, and of one piece: a single result can have many megabytes. */
const mostInPage = 1_000_000
const mostInPiece = 100_000

/** The last `limit` lines, of all or of those before one. */
export function linesIn(
  bands: readonly Band[],
  { limit, before }: LinesPart,
  requests: readonly { history: History }[],
): Pick<Inspection, 'lines' | 'first' | 'total'> {
  const end = Math.min(before ?? bands.length, bands.length)
  const lines: LineView[] = []
  let first = end
  for (let size = 0; first > 0 && lines.length < limit && size < mostInPage; first--) {
    const band = bands[first - 1]
    if (!band) continue
    const line = lineOf(band, requests)
    size += JSON.stringify(line).length
    lines.push(line)
  }
  return { lines: lines.toReversed(), first, total: bands.length }
}

function lineOf({ key, title, sides }: Band, requests: readonly { history: History }[]): LineView {
  return {
    key,
    title,
    sides: sides.map(({ pieces, absent }, i) => {
      const history = requests[i]?.history ?? { entries: [], overlays: [], places: new Map() }
      return {
        pieces: pieces.map((piece) => pieceView(piece, history)),
        absent: absent.map((message) => absentView(message, history)),
      }
    }),
  }
}

/** A summary is made of thousands of messages. */
const mostSources = 20

function pieceView(piece: Piece, history: History): PieceView {
  const { kind, path, value, tokens, places, notes, change, before, cached, price } = piece
  return {
    kind,
    path,
    ...shorten(value),
    tokens,
    sources: places.slice(0, mostSources).map((place) => sourceOf(place, history)),
    moreSources: Math.max(0, places.length - mostSources),
    notes: notes.map((note) => noteView(note, history)),
    cached,
    ...(change !== undefined && { change }),
    ...(before && { before: shorten(before.value) }),
    ...(price !== undefined && { price }),
  }
}

function shorten(value: Json): Shortened {
  const text = JSON.stringify(value)
  return text.length > mostInPiece ? { value: text.slice(0, mostInPiece), length: text.length } : { value }
}

/** Without an entry: the message that would be sent next. */
function sourceOf(place: number, { entries }: History): Source {
  const entry = entries[place]
  return { place, role: entry?.message.role ?? 'message', ...(entry?.id && { entryId: entry.id }) }
}

const mostWords = 140

function absentView({ place, notes }: Absent, history: History): AbsentView {
  const parts = history.entries[place]?.message.parts ?? []
  const words = parts.map((part) => ('text' in part ? part.text.slice(0, mostWords) : part.type)).join(' ')
  return {
    ...sourceOf(place, history),
    words: words.slice(0, mostWords),
    notes: notes.map((note) => noteView(note, history)),
  }
}

export function noteView({ kind, what, why, rule, ...note }: Note, { places, overlays }: History): NoteView {
  const decision = decisionOf({ kind, what, why, ...(rule !== undefined && { rule }), ...note }, places, overlays)
  return { kind, what, why, ...(rule !== undefined && { rule }), ...(decision && { decision: decision.id }) }
}
