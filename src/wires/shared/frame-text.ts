// A stream as its readers get it: server-sent events or JSON Lines. Binary frames are written by transport.

import { isObject, type Json } from '../../core/json.ts'
import type { Framing } from '../wire.ts'

export function frameText(chunk: Json, framing: Framing): string {
  const json = JSON.stringify(chunk)
  if (framing.kind === 'ndjson') return `${json}\n`
  const type = framing.kind === 'sse' && framing.named && isObject(chunk) ? (chunk.type ?? chunk.event_type) : undefined
  return typeof type === 'string' ? `event: ${type}\ndata: ${json}\n\n` : `data: ${json}\n\n`
}

/** After the last chunk. */
export function endText(framing: Framing): string {
  return framing.kind === 'sse' && framing.done !== undefined ? `data: ${framing.done}\n\n` : ''
}

/** Shows that the connection is alive, and is ignored by readers. */
export function keepAliveText({ kind }: Framing): string {
  return kind === 'ndjson' ? '\n' : ': keep-alive\n\n'
}

/**
 * The last event of streams that end with `[DONE]`. It begins a line, which no text within an event does; the beginning
 * of what is searched may be anywhere in one.
 */
export const doneEvent = /(?<=[\r\n])data:[ \t]*\[DONE\]/
