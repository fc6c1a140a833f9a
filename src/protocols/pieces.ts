// The bytes of a body. What an encoder writes for a message stays the same object from request to request (kept.ts), so
// its bytes need to be written only once: they are kept in stretches of neighbours, and copied.
//
// The bytes of a stretch are a part of the last body that held it: keeping them takes no memory beside that body.

import type { Json, JsonObject } from '../core/json.ts'

/** One element of the list that a body is mostly made of: a message, an item, a content. Never changed once it is here. */
export interface Piece {
  value: JsonObject
  /** The stretch that it begins. */
  stretch?: Stretch
}

interface Stretch {
  pieces: readonly Piece[]
  /** As they stand in JSON, with commas between them. */
  bytes: Uint8Array
}

export function pieceOf(value: JsonObject): Piece {
  return { value }
}

const lists = new WeakMap<readonly Json[], readonly Piece[]>()

/** The pieces as a list that can stand in a body. */
export function listOf(pieces: readonly Piece[]): JsonObject[] {
  const list = pieces.map((piece) => piece.value)
  lists.set(list, pieces)
  return list
}

/** The same bytes as those of `JSON.stringify(body)`. */
export function bodyBytes(body: JsonObject): Uint8Array<ArrayBuffer> {
  const parts: Part[] = []
  let text = ''
  for (const [field, value] of Object.entries(body)) {
    if (value === undefined) continue
    text += `${text === '' && parts.length === 0 ? '{' : ','}${JSON.stringify(field)}:`
    const pieces = Array.isArray(value) ? piecesOf(value) : undefined
    if (pieces) {
      parts.push({ text: `${text}[` }, ...listed(pieces))
      text = ']'
    } else text += JSON.stringify(value)
  }
  parts.push({ text: text === '' ? '{}' : `${text}}` })
  return joined(parts)
}

/** Bytes that are there, or text that is to be written, and kept if it is that of a stretch. */
type Part = Stretch | { text: string; of?: readonly Piece[] }

function listed(pieces: readonly Piece[]): Part[] {
  const parts: Part[] = []
  for (let at = 0; at < pieces.length;) {
    if (at > 0) parts.push({ text: ',' })
    const stretch = keptAt(pieces, at)
    const of = stretch?.pieces ?? pieces.slice(at, at + lengthAt(at, pieces.length))
    parts.push(stretch ?? { text: JSON.stringify(of.map((piece) => piece.value)).slice(1, -1), of })
    at += of.length
  }
  return parts
}

/** Nothing, if the list was changed since it was made. */
function piecesOf(list: readonly Json[]): readonly Piece[] | undefined {
  const pieces = lists.get(list)
  if (pieces?.length !== list.length) return undefined
  for (let i = 0; i < list.length; i++) if (list[i] !== pieces[i]?.value) return undefined
  return pieces
}

function keptAt(pieces: readonly Piece[], at: number): Stretch | undefined {
  const stretch = pieces[at]?.stretch
  if (!stretch || at + stretch.pieces.length > pieces.length) return undefined
  for (let i = 0; i < stretch.pieces.length; i++) if (stretch.pieces[i] !== pieces[at + i]) return undefined
  return stretch
}

/** Long ones are cheap; short ones at the end, because that is where cache marks move and pieces are added. */
function lengthAt(at: number, end: number): number {
  return Math.max(1, Math.min(64, Math.floor((end - at) / 4)))
}

function joined(parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  let size = 0
  for (const part of parts) size += 'text' in part ? Buffer.byteLength(part.text) : part.bytes.length
  const body = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const part of parts) {
    const start = at
    if ('text' in part) {
      at += body.write(part.text, at)
      if (part.of?.[0]) part.of[0].stretch = { pieces: part.of, bytes: body.subarray(start, at) }
    } else {
      body.set(part.bytes, at)
      at += part.bytes.length
      part.bytes = body.subarray(start, at)
    }
  }
  return body
}
