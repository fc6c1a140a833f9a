// How the chunks of a reply are written into one stream: as events, as lines, or as one JSON array.

import { isObject, type Json } from '../../core/json.ts'
import type { Framing } from '../../wires/wire.ts'

export interface StreamForm {
  headers: Record<string, string>
  /** What clients ignore: it keeps the connection open. */
  keepAlive: string
  chunk(value: Json): string
  /** After the last chunk. */
  end(): string
}

export function streamForm(framing: Framing, isArray: boolean = false): StreamForm {
  if (isArray) return oneArray()
  if (framing.kind === 'ndjson') {
    return {
      headers: { 'content-type': 'application/x-ndjson' },
      keepAlive: '\n',
      chunk: (value) => `${JSON.stringify(value)}\n`,
      end: () => '',
    }
  }
  const events = framing.kind === 'sse' ? framing : undefined
  return {
    headers: {},
    keepAlive: ': keep-alive\n\n',
    chunk: (value) => `${events?.named ? nameLine(value) : ''}data: ${JSON.stringify(value)}\n\n`,
    end: () => (events?.done === undefined ? '' : `data: ${events.done}\n\n`),
  }
}

function nameLine(event: Json): string {
  const type = isObject(event) ? (event.type ?? event.event_type) : undefined
  return typeof type === 'string' ? `event: ${type}\n` : ''
}

function oneArray(): StreamForm {
  let isEmpty = true
  return {
    headers: { 'content-type': 'application/json' },
    keepAlive: '\n',
    chunk(value) {
      const before = isEmpty ? '[' : ',\r\n'
      isEmpty = false
      return before + JSON.stringify(value)
    },
    end: () => (isEmpty ? '[]' : ']'),
  }
}
