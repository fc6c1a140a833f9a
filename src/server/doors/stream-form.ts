// How the chunks of a reply are written into one stream: as events, as lines, or as one JSON array.

import type { Json } from '../../core/json.ts'
import { endText, frameText, keepAliveText } from '../../wires/shared/frame-text.ts'
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
  return {
    headers: framing.kind === 'ndjson' ? { 'content-type': 'application/x-ndjson' } : {},
    keepAlive: keepAliveText(framing),
    chunk: (value) => frameText(value, framing),
    end: () => endText(framing),
  }
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
