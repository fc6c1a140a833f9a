// Bytes by their hash. A blob is kept as pieces of a fixed size, each by its own hash: the body of a request begins
// with nearly all of the body before it, so only its end is new. Without this the bodies of a long conversation would
// take space that grows with the square of its length.

import { hash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { damaged } from './store-errors.ts'

const pieceSize = 32_768

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
  for (let start = 0; start < bytes.length; start += pieceSize) {
    const piece = bytes.subarray(start, start + pieceSize)
    pieces.push({ sha256: bytes.length <= pieceSize ? whole : hash('sha256', piece), bytes: piece })
  }
  return { sha256: whole, size: bytes.length, pieces }
}

/** Compressed where that saves at least an eighth. */
export function packPiece(bytes: Uint8Array): { packed: boolean; data: Uint8Array } {
  const data = gzipSync(bytes)
  return data.length < bytes.length * 0.875 ? { packed: true, data } : { packed: false, data: bytes }
}

function unpackPiece(data: Uint8Array, packed: boolean): Uint8Array {
  return packed ? gunzipSync(data, { maxOutputLength: pieceSize }) : data
}

/** The whole blob, checked against its hash. */
export function joinBlob(sha256: string, pieces: readonly { data: Uint8Array; packed: boolean }[]): Uint8Array {
  try {
    const bytes = Buffer.concat(pieces.map((piece) => unpackPiece(piece.data, piece.packed)))
    if (hash('sha256', bytes) === sha256) return bytes
  } catch {
    // a piece that does not unpack is damage too
  }
  throw damaged(`The blob ${sha256}`)
}
