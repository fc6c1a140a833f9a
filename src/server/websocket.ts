// The server's side of a WebSocket (RFC 6455), as much as text messages need: the handshake, fragmented frames, pings
// and the close. A protocol violation, or a message above the body limit, closes the connection.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { channel } from '../run/events/channel.ts'

export interface Socket {
  send(text: string): void
  close(code?: number, reason?: string): void
  /** Messages of the client, one after the other, until the connection ends. */
  messages: AsyncIterable<string>
  /** Aborted when the connection is over, or the client closes it. */
  signal: AbortSignal
}

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** How long the client has to close the connection too. */
const lingerMs = 1000

/** Undefined: the request is not a valid handshake. */
export function acceptSocket(
  { headers, method }: IncomingMessage,
  stream: Duplex,
  head: Buffer,
  maxBytes: number,
): Socket | undefined {
  const key = headers['sec-websocket-key']
  if (method !== 'GET' || headers['sec-websocket-version'] !== '13' || !/^[A-Za-z0-9+/]{22}==$/.test(key ?? '')) {
    return undefined
  }
  const accept = createHash('sha1').update(`${key}${guid}`).digest('base64')
  stream.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  return openSocket(stream, head, maxBytes)
}

function openSocket(stream: Duplex, head: Buffer, maxBytes: number): Socket {
  const closed = new AbortController()
  const { signal } = closed
  const waiting = channel<string>()
  let waitingBytes = 0
  /** Of the message that is arriving. */
  let text: Buffer[] = []
  let size = 0
  let isClosing = false
  stream.on('error', () => stream.destroy())
  stream.on('close', () => closed.abort())
  if (head.length > 0) stream.unshift(head)
  void receive()
  return { send: (text) => write(opcodes.text, Buffer.from(text)), close, messages: messages(), signal }

  function write(opcode: number, payload: Buffer): void {
    if (!stream.writable) return
    const { length } = payload
    const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
    header[0] = 0x80 | opcode
    header[1] = length < 126 ? length : length < 65_536 ? 126 : 127
    if (header.length === 4) header.writeUInt16BE(length, 2)
    if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2)
    stream.write(Buffer.concat([header, payload]))
  }

  function close(code = 1000, reason = ''): void {
    if (isClosing) return
    isClosing = true
    const payload = Buffer.alloc(2 + Buffer.byteLength(reason))
    payload.writeUInt16BE(code)
    payload.write(reason, 2)
    write(opcodes.close, payload)
    stream.end()
    closed.abort()
    setTimeout(() => stream.destroy(), lingerMs).unref()
  }

  /** Also while a message is being answered: many clients close a connection that does not answer their pings. */
  async function receive(): Promise<void> {
    try {
      for await (const frame of frames(stream, maxBytes)) {
        if (frame.opcode === opcodes.close) break
        await take(frame)
      }
    } catch (error) {
      if (error instanceof SocketError) close(error.code, error.message)
      else if (error instanceof TypeError) close(1007, 'The text is not UTF-8.')
    } finally {
      waiting.end()
      close()
    }
  }

  async function take({ opcode, payload, isLast }: Frame): Promise<void> {
    // For a client that reads nothing, they would pile up.
    if (opcode === opcodes.ping && !stream.writableNeedDrain) write(opcodes.pong, payload)
    if (opcode === opcodes.binary) throw new SocketError(1003, 'Send text.')
    if (opcode !== opcodes.text && opcode !== opcodes.more) return
    size += payload.length
    if (size > maxBytes) throw new SocketError(1009, `A message is limited to ${maxBytes} bytes.`)
    if (payload.length > 0) text.push(payload)
    if (!isLast) return
    waiting.push(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(text)))
    waitingBytes += size
    text = []
    size = 0
    if (waitingBytes > maxBytes) await until('taken')
  }

  async function* messages(): AsyncGenerator<string> {
    try {
      for await (const message of waiting) {
        // The next answer is not added to one that the client does not read.
        if (stream.writableNeedDrain) await until('drain')
        if (signal.aborted) return
        yield message
        waitingBytes -= Buffer.byteLength(message)
        stream.emit('taken')
      }
    } finally {
      close()
    }
  }

  /** Settled at the event, or when the connection is over. */
  function until(event: 'drain' | 'taken'): Promise<unknown> {
    return once(stream, event, { signal }).catch(() => {})
  }
}

class SocketError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

interface Frame {
  opcode: number
  payload: Buffer
  isLast: boolean
}

async function* frames(stream: Duplex, maxBytes: number): AsyncGenerator<Frame> {
  let parts: Buffer[] = []
  let size = 0
  let needed = 0
  // A frame with the reason for the close must still be sent.
  const pieces = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const piece of pieces) {
    parts.push(piece)
    size += piece.length
    // A large frame in many pieces is put together once.
    if (size < needed) continue
    let rest = Buffer.concat(parts)
    let next = frameIn(rest, maxBytes)
    for (; next.frame; next = frameIn(rest, maxBytes)) {
      rest = rest.subarray(next.end)
      yield next.frame
    }
    parts = [rest]
    size = rest.length
    needed = next.end
  }
}

/** The first frame, once it is complete: before, `end` is how many bytes are needed to know more. */
function frameIn(bytes: Buffer, maxBytes: number): { frame?: Frame; end: number } {
  const [first = 0, second = 0] = bytes
  if (bytes.length < 2) return { end: 2 }
  const opcode = first & 0x0f
  const isLast = (first & 0x80) !== 0
  const short = second & 0x7f
  const isControl = opcode >= opcodes.close
  const isWrong = (first & 0x70) !== 0 || (second & 0x80) === 0 || (isControl && (short > 125 || !isLast))
  if (isWrong) throw new SocketError(1002, 'The frame is not valid.')
  const start = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < start + 4) return { end: start + 4 }
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (length > maxBytes) throw new SocketError(1009, `A message is limited to ${maxBytes} bytes.`)
  const end = start + 4 + length
  if (bytes.length < end) return { end }
  const mask = bytes.subarray(start, start + 4)
  const payload = Buffer.from(bytes.subarray(start + 4, end))
  for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0)
  return { frame: { opcode, payload, isLast }, end }
}
