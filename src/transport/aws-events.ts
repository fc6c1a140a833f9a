// The event stream of AWS: binary frames, each with two checksums, headers and a payload of JSON.
//
//   uint32 total · uint32 header length · uint32 CRC of these · headers · payload · uint32 CRC of all before
//
// A frame becomes one chunk: the name of its event with its payload, `{ contentBlockDelta: {…} }`; what a frame of
// InvokeModel wraps, as it is; an exception, as `{ type: 'error', error: { type, message } }`.

import { SynapseError } from '../core/error.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../core/json.ts'
import { notJson, tooLarge } from './unframe.ts'

export interface ByteUnframer {
  /** Takes the bytes as they arrive, split anywhere, and returns the chunks that are now complete. */
  push(bytes: Uint8Array): Json[]
  /** Call it at the end of the body: remaining bytes are part of an incomplete frame. */
  flush(): void
  /** What makes the rest unreadable; the chunks returned so far are valid. */
  trouble: SynapseError | undefined
}

const preludeSize = 12
const leastSize = 16

export function unframeAwsEvents(eventSize: number): ByteUnframer {
  let pieces: Uint8Array[] = []
  let held = 0
  /** How many bytes are needed before anything more can be read. */
  let wanted = preludeSize
  const unframer: ByteUnframer = {
    push,
    flush() {
      if (held > 0) unframer.trouble ??= broken('ends in the middle of a frame')
    },
    trouble: undefined,
  }
  return unframer

  function push(bytes: Uint8Array): Json[] {
    if (unframer.trouble) return []
    pieces.push(bytes)
    held += bytes.byteLength
    if (held < wanted) return []
    const all = pieces.length === 1 ? bytes : Buffer.concat(pieces)
    const chunks: Json[] = []
    let at = 0
    wanted = preludeSize
    while (all.byteLength - at >= preludeSize) {
      const view = new DataView(all.buffer, all.byteOffset + at, all.byteLength - at)
      const size = view.getUint32(0)
      unframer.trouble = problemIn(all, at, size, view.getUint32(4), view.getUint32(8), eventSize)
      if (unframer.trouble) return chunks
      if (all.byteLength - at < size) {
        wanted = size
        break
      }
      const frame = all.subarray(at, at + size)
      at += size
      const chunk = readFrame(frame)
      if (chunk instanceof SynapseError) {
        unframer.trouble = chunk
        return chunks
      }
      chunks.push(chunk)
    }
    pieces = at < all.byteLength ? [all.subarray(at)] : []
    held = all.byteLength - at
    return chunks
  }
}

function problemIn(
  all: Uint8Array,
  at: number,
  size: number,
  headers: number,
  sum: number,
  most: number,
): SynapseError | undefined {
  if (crc32(all.subarray(at, at + 8)) !== sum) return broken('has a frame whose checksum is wrong')
  if (size < leastSize || headers > size - leastSize) return broken('has a frame whose lengths are wrong')
  return size > most ? tooLarge('An event of the stream', most) : undefined
}

function readFrame(frame: Uint8Array): Json | SynapseError {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  const end = frame.byteLength - 4
  if (crc32(frame.subarray(0, end)) !== view.getUint32(end)) return broken('has a frame whose checksum is wrong')
  const start = preludeSize + view.getUint32(4)
  const headers = readHeaders(frame.subarray(preludeSize, start))
  if (!headers) return broken('has a frame whose headers cannot be read')
  const text = new TextDecoder().decode(frame.subarray(start, end))
  const payload = text === '' ? {} : parseJson(text)
  const kind = headers.get(':message-type') ?? 'event'
  if (kind !== 'event') return errorChunk(headers, payload)
  if (payload === undefined) return notJson(text)
  const name = headers.get(':event-type') ?? ''
  const content = isObject(payload) ? withoutPadding(payload) : payload
  if (name !== 'chunk' || !isObject(content) || typeof content.bytes !== 'string') return { [name]: content }
  const inner = Buffer.from(content.bytes, 'base64').toString()
  return parseJson(inner) ?? notJson(inner)
}

function errorChunk(headers: ReadonlyMap<string, string>, payload: Json | undefined): Json {
  const type = headers.get(':exception-type') ?? headers.get(':error-code') ?? 'error'
  const content = isObject(payload) ? withoutPadding(payload) : {}
  const message = content.message ?? content.Message ?? headers.get(':error-message') ?? type
  return { type: 'error', error: { ...content, type, message } }
}

/** `p` hides the length of a piece of the answer. */
function withoutPadding(padded: JsonObject): JsonObject {
  const { p: _, ...payload } = padded
  return payload
}

/** Sizes of header values by type; -1: two bytes give the length. */
const valueSizes: readonly number[] = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16]
const textType = 7

function readHeaders(bytes: Uint8Array): Map<string, string> | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headers = new Map<string, string>()
  const decoder = new TextDecoder()
  try {
    for (let at = 0; at < bytes.byteLength;) {
      const name = decoder.decode(bytes.subarray(at + 1, at + 1 + view.getUint8(at)))
      at += 1 + view.getUint8(at)
      const type = view.getUint8(at++)
      const fixed = valueSizes[type]
      if (fixed === undefined) return undefined
      const size = fixed < 0 ? view.getUint16(at) : fixed
      if (fixed < 0) at += 2
      if (at + size > bytes.byteLength) return undefined
      if (type === textType) headers.set(name, decoder.decode(bytes.subarray(at, at + size)))
      at += size
    }
  } catch {
    return undefined
  }
  return headers
}

function broken(how: string): SynapseError {
  return new SynapseError({ kind: 'malformed-reply', message: `The event stream ${how}.` })
}

/** The frame that carries a chunk. */
export function frameAwsEvent(chunk: JsonObject, wrapped = false): Uint8Array {
  if (chunk.type === 'error' && isObject(chunk.error)) {
    const { type, ...payload } = chunk.error
    return frame({ ':message-type': 'exception', ':exception-type': String(type) }, payload)
  }
  const [[name, payload] = ['', {}]] = wrapped
    ? [['chunk', { bytes: Buffer.from(JSON.stringify(chunk)).toString('base64') }] as const]
    : Object.entries(chunk)
  const padded = isObject(payload)
    ? { ...payload, p: padding.slice(0, 4 + (JSON.stringify(payload).length % 40)) }
    : payload
  return frame({ ':message-type': 'event', ':event-type': name }, padded ?? {})
}

const padding = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

function frame(given: Record<string, string>, payload: Json): Uint8Array {
  const headers = Object.entries({ ...given, ':content-type': 'application/json' }).map(([name, value]) => {
    const [key, text] = [Buffer.from(name), Buffer.from(value)]
    return Buffer.concat([Buffer.of(key.length), key, Buffer.of(textType, text.length >> 8, text.length & 255), text])
  })
  const head = Buffer.concat(headers)
  const body = Buffer.from(JSON.stringify(payload))
  const bytes = Buffer.alloc(leastSize + head.length + body.length)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.writeUInt32BE(head.length, 4)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8)
  head.copy(bytes, preludeSize)
  body.copy(bytes, preludeSize + head.length)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, bytes.length - 4)), bytes.length - 4)
  return bytes
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  return sum
})

/** The CRC of zlib, which is missing outside Node. */
function crc32(bytes: Uint8Array): number {
  let sum = ~0
  for (const byte of bytes) sum = (sum >>> 8) ^ (crcTable[(sum ^ byte) & 255] ?? 0)
  return ~sum >>> 0
}
