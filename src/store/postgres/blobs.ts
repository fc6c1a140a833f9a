// Blobs in PostgreSQL: media and request bodies, in pieces that blobs share.

import { joinBlob, packPiece, type Blob, type Piece } from '../blobs.ts'
import { notFound } from '../store-errors.ts'
import type { Blobs } from '../store.ts'
import type { Database, Queries, Transaction } from './database.ts'

export function blobMethods(db: Database): Blobs {
  return {
    async blob(owner, sha256) {
      const n = await ownBlob(db, owner, sha256)
      if (n === undefined) return undefined
      const pieces = await db.all<{ data: Uint8Array; packed: boolean }>(
        `SELECT p.data, p.packed FROM synapse.blob_pieces b JOIN synapse.pieces p ON p.n = b.piece
         WHERE b.blob = $1 ORDER BY b.i`,
        [n],
      )
      return joinBlob(sha256, pieces)
    },
  }
}

/** Call it inside the transaction of what uses them. `named` ones must already be the owner's. */
export async function storeBlobs(
  queries: Queries,
  owner: string,
  conversationId: string,
  blobs: readonly Blob[],
  named: readonly string[] = [],
): Promise<void> {
  for (const sha256 of named) {
    // Knowing a hash gives no right to the bytes.
    const n = await ownBlob(queries, owner, sha256)
    if (n === undefined) throw notFound('blob', sha256)
    await use(queries, conversationId, n)
  }
  for (const blob of blobs) await use(queries, conversationId, await insertBlob(queries, blob))
}

/**
 * The body of a request, which is new as a rule. Reads which of its pieces exist, and returns a function that stores the
 * rest together with the commit.
 */
export async function storeBody(queries: Transaction, blob: Blob): Promise<(conversation: number) => void> {
  const hashes = blob.pieces.map((piece) => piece.sha256)
  const stored = await queries.all<{ sha256: string }>(knownPieces, [hashes])
  return (conversation) => {
    // Locks a blob that exists already: a deletion waits, and then finds it in use.
    queries.change(
      `INSERT INTO synapse.blobs (sha256, size) VALUES ($1, $2) ON CONFLICT (sha256) DO UPDATE SET size = excluded.size`,
      [blob.sha256, blob.size],
    )
    for (const { sha256, packed, data } of newPieces(blob.pieces, stored)) {
      queries.change(insertPiece, [sha256, packed, data])
    }
    queries.change(
      `INSERT INTO synapse.blob_pieces (blob, i, piece)
       SELECT b.n, h.i, p.n FROM synapse.blobs b CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS h (sha256, i)
       LEFT JOIN synapse.pieces p ON p.sha256 = h.sha256 WHERE b.sha256 = $1
       ON CONFLICT (blob, i) DO NOTHING`,
      [blob.sha256, hashes],
    )
    queries.change(
      `INSERT INTO synapse.blob_uses (conversation, blob) SELECT $1, n FROM synapse.blobs WHERE sha256 = $2
       ON CONFLICT DO NOTHING`,
      [conversation, blob.sha256],
    )
  }
}

const knownPieces = 'SELECT sha256 FROM synapse.pieces WHERE sha256 = ANY ($1::text[])'
const insertPiece =
  'INSERT INTO synapse.pieces (sha256, packed, data) VALUES ($1, $2, $3) ON CONFLICT (sha256) DO NOTHING'

/** The pieces that are not known, each once. */
function* newPieces(
  pieces: readonly Piece[],
  stored: readonly { sha256: string }[],
): Generator<{ sha256: string; packed: boolean; data: Uint8Array }> {
  const hashes = new Set(stored.map((row) => row.sha256))
  for (const { sha256, bytes } of pieces) {
    if (hashes.has(sha256)) continue
    hashes.add(sha256)
    yield { sha256, ...packPiece(bytes) }
  }
}

/** Removes the conversation's references to its blobs, and the blobs without other references. */
export async function dropBlobs(queries: Queries, conversation: number): Promise<void> {
  const rows = await queries.all<{ blob: number }>(
    'DELETE FROM synapse.blob_uses WHERE conversation = $1 RETURNING blob',
    [conversation],
  )
  const blobs = rows.map((row) => row.blob).sort((a, b) => a - b)
  // Locked in a fixed order, so that two deletions cannot deadlock.
  await queries.all('SELECT 1 FROM synapse.blobs WHERE n = ANY ($1::bigint[]) ORDER BY n FOR UPDATE', [blobs])
  const pieces = await queries.all<{ piece: number }>(
    `WITH gone AS (
       SELECT b.n FROM synapse.blobs b WHERE b.n = ANY ($1::bigint[])
         AND NOT EXISTS (SELECT 1 FROM synapse.blob_uses u WHERE u.blob = b.n)
     ), cut AS (DELETE FROM synapse.blob_pieces p USING gone WHERE p.blob = gone.n RETURNING p.piece),
     dropped AS (DELETE FROM synapse.blobs b USING gone WHERE b.n = gone.n)
     SELECT DISTINCT piece FROM cut ORDER BY piece`,
    [blobs],
  )
  await queries.all(
    `DELETE FROM synapse.pieces p WHERE p.n = ANY ($1::bigint[])
       AND NOT EXISTS (SELECT 1 FROM synapse.blob_pieces b WHERE b.piece = p.n)`,
    [pieces.map((row) => row.piece)],
  )
}

async function ownBlob(queries: Queries, owner: string, sha256: string): Promise<number | undefined> {
  const row = await queries.get<{ n: number }>(
    `SELECT b.n FROM synapse.blobs b WHERE b.sha256 = $1 AND EXISTS (
       SELECT 1 FROM synapse.blob_uses u JOIN synapse.conversations c ON c.n = u.conversation
       WHERE u.blob = b.n AND c.owner = $2)`,
    [sha256, owner],
  )
  return row?.n
}

async function insertBlob(queries: Queries, blob: Blob): Promise<number> {
  const inserted = await queries.get<{ n: number }>(
    'INSERT INTO synapse.blobs (sha256, size) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING RETURNING n',
    [blob.sha256, blob.size],
  )
  if (inserted) {
    await keepPieces(queries, inserted.n, blob.pieces)
    return inserted.n
  }
  const existing = await queries.get<{ n: number }>('SELECT n FROM synapse.blobs WHERE sha256 = $1', [blob.sha256])
  // Deleted in between: now it can be created.
  return existing?.n ?? insertBlob(queries, blob)
}

async function keepPieces(queries: Queries, blob: number, pieces: readonly Piece[]): Promise<void> {
  const hashes = pieces.map((piece) => piece.sha256)
  const stored = await queries.all<{ sha256: string }>(knownPieces, [hashes])
  for (const { sha256, packed, data } of newPieces(pieces, stored)) {
    await queries.all(insertPiece, [sha256, packed, data])
  }
  await queries.all(
    `INSERT INTO synapse.blob_pieces (blob, i, piece)
     SELECT $1, h.i, p.n FROM unnest($2::text[]) WITH ORDINALITY AS h (sha256, i)
     LEFT JOIN synapse.pieces p USING (sha256)`,
    [blob, hashes],
  )
}

async function use(queries: Queries, conversationId: string, blob: number): Promise<void> {
  await queries.all(
    `INSERT INTO synapse.blob_uses (conversation, blob) SELECT n, $2 FROM synapse.conversations WHERE id = $1
     ON CONFLICT DO NOTHING`,
    [conversationId, blob],
  )
}
