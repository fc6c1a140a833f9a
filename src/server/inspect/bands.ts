// Two requests side by side. A line has what came from the same messages: wires merge and split them differently, so a
// line has as many messages as needed until both sides align.

import type { Absent, Inspected, Piece } from './request.ts'

interface Side {
  pieces: Piece[]
  absent: Absent[]
}

export interface Band {
  key: string
  title: string
  places: number[]
  sides: Side[]
}

export function bandsOf(requests: readonly Inspected[]): Band[] {
  return [
    headBand('Settings', 'settings', requests),
    headBand('Tools', 'tool', requests),
    headBand('System', 'system', requests),
    ...messageBands(requests),
  ].filter((band) => band.sides.some((side) => side.pieces.length + side.absent.length > 0))
}

function headBand(title: string, kind: Piece['kind'], requests: readonly Inspected[]): Band {
  const sides = requests.map(({ pieces }) => ({ pieces: pieces.filter((piece) => piece.kind === kind), absent: [] }))
  return { key: kind, title, places: [], sides }
}

/** A summary is made of thousands of messages. */
const mostNamed = 20

function messageBands(requests: readonly Inspected[]): Band[] {
  const homes = requests.map(({ pieces }) => homesOf(pieces.filter((piece) => piece.kind === 'message')))
  const ends = stretchEnds(homes.flat().map(({ first, last }) => [first, last]))
  const bands = new Map<number, Band>()
  const bandAt = (place: number): Band => {
    const first = place < 0 ? -1 : (ends.firstOf.get(place) ?? place)
    let band = bands.get(first)
    if (!band) {
      const last = first < 0 ? -1 : (ends.lastOf.get(first) ?? first)
      const places = Array.from({ length: last - first + 1 }, (_, i) => first + i)
      band = {
        key: `message-${first}`,
        title:
          first < 0
            ? requests.every(({ isTraced }) => isTraced)
              ? 'Before the first message'
              : 'Messages'
            : places.length > mostNamed
              ? `#${first + 1} … #${last + 1}`
              : places.map((index) => `#${index + 1}`).join(' '),
        places: first < 0 ? [] : places,
        sides: requests.map(() => ({ pieces: [], absent: [] })),
      }
      bands.set(first, band)
    }
    return band
  }
  for (const [i, { absent }] of requests.entries()) {
    for (const { piece, first } of homes[i] ?? []) bandAt(first).sides[i]?.pieces.push(piece)
    for (const message of absent) bandAt(message.place).sides[i]?.absent.push(message)
  }
  return [...bands.entries()].sort(([a], [b]) => a - b).map(([, band]) => band)
}

interface Home {
  piece: Piece
  first: number
  last: number
}

/** Additions are grouped with what came before them. */
function homesOf(pieces: readonly Piece[]): Home[] {
  let at = -1
  return pieces.map((piece) => {
    const first = piece.places[0] ?? at
    const last =
      first +
      Math.max(
        0,
        piece.places.findLastIndex((place, i) => place === first + i),
      )
    at = piece.places.at(-1) ?? at
    return { piece, first, last }
  })
}

/** Overlapping ranges are merged. */
function stretchEnds(stretches: [number, number][]): { firstOf: Map<number, number>; lastOf: Map<number, number> } {
  const sorted = stretches.filter(([first]) => first >= 0).sort((a, b) => a[0] - b[0] || a[1] - b[1])
  const firstOf = new Map<number, number>()
  const lastOf = new Map<number, number>()
  let open: [number, number] | undefined
  for (const [first, last] of sorted) {
    if (open && first <= open[1]) open[1] = Math.max(open[1], last)
    else open = [first, last]
    for (let place = open[0]; place <= open[1]; place++) firstOf.set(place, open[0])
    lastOf.set(open[0], open[1])
  }
  return { firstOf, lastOf }
}
