// A stream of server-sent events without some of them: those that a provider sends only because the server asked for
// them. All others pass as they are, to the byte.

import { isObject, parseJson, type JsonObject } from '../../core/json.ts'
import type { BodySink } from '../streamed-body.ts'

export interface EventFilter {
  /** What every hidden event has, and few others: only those that match are parsed. */
  mark: RegExp
  isHidden(event: JsonObject): boolean
}

const none = Buffer.alloc(0)

/** An event passes when it is complete: until then it is not known whether it is hidden. */
export function withoutEvents({ mark, isHidden }: EventFilter, sink: BodySink): BodySink {
  let rest: Buffer = none
  return {
    write(piece) {
      const added = typeof piece === 'string' ? Buffer.from(piece) : piece
      const bytes = rest.length === 0 ? added : Buffer.concat([rest, added])
      // Everything that is looked for is ASCII, so that places in the text are places in the bytes.
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
      const end = endOfEvents(text)
      rest = end === bytes.length ? none : Buffer.from(bytes.subarray(end))
      pass(bytes.subarray(0, end), text.slice(0, end))
    },
    end() {
      flush()
      sink.end()
    },
    fail(error) {
      flush()
      sink.fail(error)
    },
  }

  function flush(): void {
    pass(rest, rest.toString('latin1'))
    rest = none
  }

  function pass(bytes: Uint8Array, text: string): void {
    if (!mark.test(text)) return send(bytes)
    let start = 0
    for (const event of text.split(boundaries)) {
      const end = start + event.length
      const data = Buffer.from(bytes.subarray(start, end)).toString()
      if (!mark.test(event) || !isHiddenData(data)) send(bytes.subarray(start, end))
      start = end
    }
  }

  function isHiddenData(event: string): boolean {
    const data = parseJson([...event.matchAll(/^data:(.*)$/gm)].map(([, line]) => line).join('\n'))
    return isObject(data) && isHidden(data)
  }

  function send(bytes: Uint8Array): void {
    if (bytes.length > 0) sink.write(bytes)
  }
}

/** After the empty line that ends an event. */
const boundaries = /(?<=\r\n\r\n|\n\n)/

function endOfEvents(text: string): number {
  return Math.max(endOfLast(text, '\n\n'), endOfLast(text, '\r\n\r\n'))
}

function endOfLast(text: string, lines: string): number {
  const start = text.lastIndexOf(lines)
  return start < 0 ? 0 : start + lines.length
}
