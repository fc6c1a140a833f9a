// Blobs in SQLite: media and request bodies, in pieces that blobs share.

import { joinBlob, packPiece, type Blob } from '../blobs.ts'
import { notFound } from '../store-errors.ts'
import type { Blobs } from '../store.ts'
import type { Connection } from './connection.ts'
import type { WritableRow } from './conversations.ts'

export function blobMethods(db: Connection): Blobs {
  return {
    blob: (owner, sha256) =>
      db.read(() => {
        const n = ownBlob(db, owner, sha256)
        if (n === undefined) return undefined
        const pieces = db.all<{ data: Uint8Array<ArrayBuffer>; packed: number }>(
          'SELECT p.data, p.packed FROM blob_pieces b JOIN pieces p ON p.n = b.piece WHERE b.blob = ? ORDER BY b.i',
          n,
        )
        return joinBlob(
          sha256,
          pieces.map(({ data, packed }) => ({ data, packed: packed === 1 })),
        )
      }),
  }
}

/** Call it inside the transaction of what uses it. */
export function storeBlob(db: Connection, conversation: number, blob: Blob): void {
  const existing = db.get<{ n: number }>('SELECT n FROM blobs WHERE sha256 = ?', blob.sha256)
  use(db, conversation, existing?.n ?? insertBlob(db, blob))
}

/** A message may name a blob only if its owner has it: knowing a hash gives no right to the bytes. */
export function useNamedBlob(db: Connection, conversation: WritableRow, sha256: string): void {
  const n = ownBlob(db, conversation.owner, sha256)
  if (n === undefined) throw notFound('blob', sha256)
  use(db, conversation.n, n)
}

/** Removes references of the conversation to its blobs, and the blobs without other references. Returns how many. */
export function dropBlobs(db: Connection, conversation: number, limit: number): number {
  const blobs = db.all<{ blob: number }>(
    'SELECT blob FROM blob_uses WHERE conversation = ? LIMIT ? + 0',
    conversation,
    Number.isFinite(limit) ? limit : -1,
  )
  for (const { blob } of blobs) {
    db.run('DELETE FROM blob_uses WHERE conversation = ? AND blob = ?', conversation, blob)
    if (db.get('SELECT 1 FROM blob_uses WHERE blob = ?', blob)) continue
    const pieces = db.all<{ piece: number }>('SELECT piece FROM blob_pieces WHERE blob = ?', blob)
    db.run('DELETE FROM blobs WHERE n = ?', blob)
    for (const { piece } of pieces) {
      db.run('DELETE FROM pieces WHERE n = ? AND NOT EXISTS (SELECT 1 FROM blob_pieces WHERE piece = ?)', piece, piece)
    }
  }
  return blobs.length
}

function ownBlob(db: Connection, owner: string, sha256: string): number | undefined {
  return db.get<{ n: number }>(
    `SELECT b.n FROM blobs b WHERE b.sha256 = ? AND EXISTS (
       SELECT 1 FROM blob_uses u JOIN conversations c ON c.n = u.conversation WHERE u.blob = b.n AND c.owner = ?)`,
    sha256,
    owner,
  )?.n
}

function insertBlob(db: Connection, blob: Blob): number {
  const n = db.run('INSERT INTO blobs (sha256, size) VALUES (?, ?)', blob.sha256, blob.size)
  for (const [i, piece] of blob.pieces.entries()) {
    let number = db.get<{ n: number }>('SELECT n FROM pieces WHERE sha256 = ?', piece.sha256)?.n
    if (number === undefined) {
      const { packed, data } = packPiece(piece.bytes)
      number = db.run('INSERT INTO pieces (sha256, packed, data) VALUES (?, ?, ?)', piece.sha256, Number(packed), data)
    }
    db.run('INSERT INTO blob_pieces (blob, i, piece) VALUES (?, ?, ?)', n, i, number)
  }
  return n
}

function use(db: Connection, conversation: number, blob: number): void {
  db.run('INSERT INTO blob_uses (conversation, blob) VALUES (?, ?) ON CONFLICT DO NOTHING', conversation, blob)
}
