// The emulator's answers before they get a request id: complete, streamed, and with injected faults.

import type { Json } from '../core/json.ts'
import type { Framing } from '../wires/wire.ts'
import type { Fault } from './faults.ts'
import { streamOf } from './stream.ts'

export interface HttpReply {
  status: number
  headers: Record<string, string>
  body: string | ReadableStream<Uint8Array>
}

const streamTypes: Readonly<Record<Framing['kind'], string>> = {
  sse: 'text/event-stream; charset=utf-8',
  ndjson: 'application/x-ndjson',
  'aws-events': 'application/vnd.amazon.eventstream',
}

const jsonType = { 'content-type': 'application/json' }

export function jsonReply(status: number, body: Json, headers: Record<string, string> = {}): HttpReply {
  return { status, body: typeof body === 'string' ? body : JSON.stringify(body), headers: { ...jsonType, ...headers } }
}

export function wholeReply(text: string, fault: Fault): HttpReply {
  const cut = fault.cutAt === undefined ? text : text.slice(0, text.length / 2)
  return { status: 200, body: fault.garbageAt === undefined ? cut : `\u0000<!${cut}`, headers: { ...jsonType } }
}

export function streamReply(chunks: Json[], options: Parameters<typeof streamOf>[1] & { framing: Framing }): HttpReply {
  const headers = { 'content-type': streamTypes[options.framing.kind], 'cache-control': 'no-cache' }
  return { status: 200, body: streamOf(chunks, options), headers }
}
