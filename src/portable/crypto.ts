// A replacement for `node:crypto` outside Node, as far as the wires use it: the same digests, in plain JavaScript. The
// build uses it in bundles for browsers and Workers.

import { hmac } from '@noble/hashes/hmac.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { Buffer } from './buffer.ts'

const algorithms = { sha256, sha512 } as const
type Algorithm = keyof typeof algorithms
type Encoding = 'hex' | 'base64' | 'base64url'

/** The part of Node's `Hash` and `Hmac` that is used. */
export interface Hash {
  update(data: string | Uint8Array): Hash
  copy(): Hash
  digest(): Buffer
  digest(encoding: Encoding): string
}

interface Running {
  update(data: Uint8Array): unknown
  digest(): Uint8Array
  clone(): Running
}

export function createHash(algorithm: Algorithm): Hash {
  return hashFrom(algorithms[algorithm].create())
}

export function createHmac(algorithm: Algorithm, key: string): Hash {
  return hashFrom(hmac.create(algorithms[algorithm], Buffer.from(key)))
}

export function hash(algorithm: Algorithm, data: string | Uint8Array, encoding: Encoding | 'buffer'): string | Buffer {
  const made = createHash(algorithm).update(data)
  return encoding === 'buffer' ? made.digest() : made.digest(encoding)
}

function hashFrom(running: Running): Hash {
  const self: Hash = {
    update(data) {
      running.update(typeof data === 'string' ? Buffer.from(data) : data)
      return self
    },
    copy: () => hashFrom(running.clone()),
    digest: ((encoding?: Encoding) => {
      const bytes = Buffer.from(running.digest())
      return encoding === undefined ? bytes : encodeBytes(bytes, encoding)
    }) as Hash['digest'],
  }
  return self
}

function encodeBytes(bytes: Buffer, encoding: Encoding): string {
  if (encoding !== 'base64url') return bytes.toString(encoding)
  return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
