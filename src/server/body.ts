// The body of a request, counted as it arrives: Content-Length is only a claim, and a chunked body has none.

import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { SynapseError, badInput } from '../core/error.ts'
import { deepest, exceedsDepth } from '../core/json.ts'
import { Refusal } from './answer.ts'

/** The bytes of a body of JSON, decompressed. `untyped`: a program need not say that it is JSON. */
export async function readBody(request: Request, limit: number, untyped: boolean = false): Promise<Uint8Array> {
  if (!untyped || isFromBrowser(request.headers)) requireJsonType(request)
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  return decompress(await readBytes(request, limit), request.headers.get('content-encoding'), limit)
}

export function requireJsonType({ headers }: Request): void {
  if (/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')) return
  throw new Refusal(415, { kind: 'bad-input', message: 'The body must be JSON, with content-type: application/json.' })
}

/**
 * A page of another site can make a browser send any body with another type, without a preflight. `checkOrigin` refuses
 * that too; this does not depend on headers that an old browser may leave out.
 */
function isFromBrowser(headers: Headers): boolean {
  const has = (name: string) => headers.get(name) !== null
  return has('origin') || has('sec-fetch-site') || /^\s*Mozilla\//i.test(headers.get('user-agent') ?? '')
}

export function parseJson(bytes: Uint8Array): { text: string; value: unknown } {
  let read: { text: string; value: unknown }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    read = { text, value: JSON.parse(text) as unknown }
  } catch {
    throw badInput('The body is not JSON.')
  }
  if (exceedsDepth(read.value)) throw badInput(`The body is nested more than ${deepest} levels deep.`)
  return read
}

const unpackers = new Map<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
])

/** A compressed body counts with its decompressed size. */
async function decompress(bytes: Uint8Array, encoding: string | null, limit: number): Promise<Uint8Array> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return bytes
  const unpack = unpackers.get(name)
  if (!unpack) {
    const message = `The content-encoding ${name.slice(0, 40)} is not supported. Use ${[...unpackers.keys()].join(', ')}.`
    throw new Refusal(415, { kind: 'bad-input', message })
  }
  try {
    return await unpack(bytes, { maxOutputLength: limit })
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(limit)
    throw badInput(`The body cannot be decompressed as ${name}.`)
  }
}

/** What requests on a connection are made from. */
const received = new WeakMap<Request, IncomingMessage>()

/** The body of the request is read from the connection itself: the request would copy it twice. */
export function readFrom(incoming: IncomingMessage, request: Request): void {
  received.set(request, incoming)
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    // Node reads no more than the announced length, and without a web stream.
    if (request.headers.has('content-length')) {
      const incoming = received.get(request)
      const bytes = incoming ? await allOf(incoming) : new Uint8Array(await request.arrayBuffer())
      if (bytes.byteLength > limit) throw tooLarge(limit)
      return bytes
    }
    for await (const piece of request.body ?? []) {
      size += piece.byteLength
      if (size > limit) throw tooLarge(limit)
      pieces.push(piece)
    }
  } catch (error) {
    // The client has disconnected, which is not a failure of the server.
    throw error instanceof SynapseError ? error : badInput('The body was cut off.')
  }
  return Buffer.concat(pieces)
}

function allOf(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (incoming.destroyed) reject(new Error('The connection is closed.'))
    const pieces: Buffer[] = []
    incoming.on('data', (piece: Buffer) => pieces.push(piece))
    incoming.on('end', () => resolve(Buffer.concat(pieces)))
    incoming.on('error', reject)
    incoming.on('close', () => reject(new Error('The connection is closed.')))
  })
}

function tooLarge(limit: number): SynapseError {
  return new SynapseError({ kind: 'too-large', message: `The body is larger than ${limit} bytes.` })
}
