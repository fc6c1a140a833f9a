// Bytes by their hash. A blob is stored as pieces, each by its own hash: the body of a request has nearly everything of
// the previous body, so only little is new. Without this the bodies of a long conversation would take space that grows
// with the square of its length. Pieces end where a message does, if they can: then those after a turn that was folded
// are the same as before, at another place.

import { createHash, hash, type Hash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { damaged } from './store-errors.ts'

const pieceSize = 32_768
const leastSize = 4096
/** If a message is too long for a piece, the piece before it may be as small as this. */
const smallestSize = 512
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
  const bytes = bytesOf(content)
  const blobHash = sha256 ?? hash('sha256', bytes)
  return { sha256: blobHash, size: bytes.length, pieces: cutFrom(bytes, 0, blobHash) }
}

function bytesOf(content: string | Uint8Array): Buffer {
  const { buffer, byteOffset, byteLength } = typeof content === 'string' ? Buffer.from(content) : content
  return Buffer.from(buffer, byteOffset, byteLength)
}

function cutFrom(bytes: Buffer, from: number, blobHash: string): Piece[] {
  const pieces: Piece[] = []
  for (let start = from; start < bytes.length;) {
    const piece = bytes.subarray(start, endOfPiece(bytes, start))
    pieces.push({ sha256: piece.length === bytes.length ? blobHash : hash('sha256', piece), bytes: piece })
    start += piece.length
  }
  return pieces
}

interface LastBody {
  /** Not owned: it is there as long as the encoder has it for the next body. */
  buffer: WeakRef<ArrayBufferLike>
  offset: number
  size: number
  pieces: { sha256: string; end: number }[]
  /** The hash of the bytes before `hashedTo`, to be continued. */
  hashed: Hash
  hashedTo: number
}

/** How many conversations a cutter remembers. */
const mostBodies = 64

/**
 * Cuts the request bodies of conversations. Each begins like the one before it, and that part is compared, which takes a
 * tenth of the time of hashing it twice.
 */
export function bodyCutter(): (conversationId: string, content: string | Uint8Array) => Blob {
  const latest = new Map<string, LastBody>()
  return (conversationId, content) => {
    const bytes = bytesOf(content)
    const before = latest.get(conversationId)
    latest.delete(conversationId)
    if (bytes.length <= pieceSize) return cutBlob(bytes)
    const shared = before ? samePieces(before, bytes) : []
    const start = shared.at(-1)?.end ?? 0
    const continues = before !== undefined && before.hashedTo <= start
    const hashed = continues ? before.hashed : createHash('sha256')
    hashed.update(bytes.subarray(continues ? before.hashedTo : 0, start))
    const blobHash = hashed.copy().update(bytes.subarray(start)).digest('hex')
    const pieces = [
      ...shared.map(({ sha256, end }, i) => ({ sha256, bytes: bytes.subarray(shared[i - 1]?.end ?? 0, end) })),
      ...cutFrom(bytes, start, blobHash),
    ]
    let end = 0
    latest.set(conversationId, {
      buffer: new WeakRef(bytes.buffer),
      offset: bytes.byteOffset,
      size: bytes.length,
      pieces: pieces.map((piece) => ({ sha256: piece.sha256, end: (end += piece.bytes.length) })),
      hashed,
      hashedTo: start,
    })
    for (const oldest of latest.keys()) if (latest.size > mostBodies) latest.delete(oldest)
    return { sha256: blobHash, size: bytes.length, pieces }
  }
}

/** The first pieces of the last body that are cut in the same way from this one: all that decides it is the same. */
function samePieces({ buffer, offset, size, pieces }: LastBody, bytes: Buffer): LastBody['pieces'] {
  const previous = buffer.deref()
  if (!previous) return []
  const last = Buffer.from(previous, offset, size)
  let compared = 0
  const changed = pieces.findIndex((_, i) => {
    const region = (pieces[i - 1]?.end ?? 0) + pieceSize
    if (region >= Math.min(size, bytes.length)) return true
    if (last.compare(bytes, compared, region, compared, region) !== 0) return true
    compared = region
    return false
  })
  return pieces.slice(0, Math.max(0, changed))
}

/**
 * At the end of a message, if there is one. Each body of a growing conversation stores its last piece again, so the
 * pieces at its end are small. Those before it are large: each of them is one more row for every body.
 */
function endOfPiece(bytes: Buffer, start: number): number {
  const limit = Math.min(bytes.length, start + pieceSize)
  if (limit - start <= leastSize) return limit
  const isAtEnd = start + pieceSize >= bytes.length
  const first = isAtEnd ? endIn(bytes, start + leastSize, limit, 'first') : undefined
  return first ?? endIn(bytes, start + smallestSize, limit, 'last') ?? limit
}

function endIn(bytes: Buffer, from: number, to: number, which: 'first' | 'last'): number | undefined {
  const region = bytes.subarray(from, to)
  const ends = endsOfMessages.map((mark) => (which === 'first' ? region.indexOf(mark) : region.lastIndexOf(mark)))
  const positions = ends.filter((end) => end >= 0)
  if (positions.length === 0) return undefined
  return from + 1 + (which === 'first' ? Math.min(...positions) : Math.max(...positions))
}

/** Half the time of the usual level, for a twentieth more bytes: the end of each body is packed before it is sent. */
const level = 3

/** Compressed if that saves at least an eighth. */
export function packPiece(bytes: Uint8Array): { packed: boolean; data: Uint8Array } {
  const data = gzipSync(bytes, { level })
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
