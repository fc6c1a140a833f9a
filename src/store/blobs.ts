// Bytes by their hash. A blob is stored as pieces, each by its own hash: the body of a request has nearly everything of
// the previous body, so only little is new. Without this the bodies of a long conversation would take space that grows
// with the square of its length. Pieces end where a message does, if they can: then those after a turn that was folded
// are the same as before, at another place.

import { hash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { damaged } from './store-errors.ts'

const pieceSize = 32_768
const leastSize = 4096
/** In JSON, and never inside of a text, where quotes are escaped: between two messages, and after the last one. */
const endsOfMessages = [Buffer.from('},{"'), Buffer.from('}],"')]

export interface Blob {
  sha256: string
  size: number
  pieces: Piece[]
}

export interface Piece {
  sha256: string
  bytes: Uint8Array
}

export function cutBlob(content: string | Uint8Array, sha256?: string): Blob {
  const { buffer, byteOffset, byteLength } = typeof content === 'string' ? Buffer.from(content) : content
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const whole = sha256 ?? hash('sha256', bytes)
  const pieces: Piece[] = []
  for (let start = 0; start < bytes.length;) {
    const piece = bytes.subarray(start, endOfPiece(bytes, start))
    pieces.push({ sha256: bytes.length <= pieceSize ? whole : hash('sha256', piece), bytes: piece })
    start += piece.length
  }
  return { sha256: whole, size: bytes.length, pieces }
}

/** At the end of the last message that fits, if there is one. */
function endOfPiece(bytes: Buffer, start: number): number {
  const most = Math.min(bytes.length, start + pieceSize)
  if (bytes.length <= pieceSize || most - start <= leastSize) return most
  const region = bytes.subarray(start, most)
  const end = Math.max(...endsOfMessages.map((mark) => region.lastIndexOf(mark))) + 1
  return end < leastSize ? most : start + end
}

/** Compressed if that saves at least an eighth. */
export function packPiece(bytes: Uint8Array): { packed: boolean; data: Uint8Array } {
  const data = gzipSync(bytes)
  return data.length < bytes.length * 0.875 ? { packed: true, data } : { packed: false, data: bytes }
}

function unpackPiece(data: Uint8Array, packed: boolean): Uint8Array {
  return packed ? gunzipSync(data, { maxOutputLength: pieceSize }) : data
}

/** The whole blob, verified against its hash. */
export function joinBlob(sha256: string, pieces: readonly { data: Uint8Array; packed: boolean }[]): Uint8Array {
  try {
    const bytes = Buffer.concat(pieces.map((piece) => unpackPiece(piece.data, piece.packed)))
    if (hash('sha256', bytes) === sha256) return bytes
  } catch {
    // a piece that does not unpack is damage too
  }
  throw damaged(`The blob ${sha256}`)
}
