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

/** A hidden event is shorter: of a longer one, nothing is held back. */
const longest = 8192

/** An event passes when it is complete: until then it is not known whether it is hidden. */
export function withoutEvents({ mark, isHidden }: EventFilter, sink: BodySink): BodySink {
  let rest: Buffer = none
  /** The last characters of a long event whose beginning has passed. */
  let tail: string | undefined
  return {
    write(piece) {
      const added = afterLong(typeof piece === 'string' ? Buffer.from(piece) : piece)
      const bytes = rest.length === 0 ? added : Buffer.concat([rest, added])
      const text = textOf(bytes)
      const end = endOfEvents(text)
      rest = end === bytes.length ? none : Buffer.from(bytes.subarray(end))
      pass(bytes.subarray(0, end), text.slice(0, end))
      if (rest.length <= longest) return
      send(rest)
      tail = text.slice(-3)
      rest = none
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

  /** What follows a long event; its own bytes pass. */
  function afterLong(bytes: Uint8Array): Uint8Array {
    if (tail === undefined) return bytes
    const text = tail + textOf(bytes)
    const found = emptyLine.exec(text)
    const end = found ? found.index + found[0].length - tail.length : bytes.length
    tail = found ? undefined : text.slice(-3)
    send(bytes.subarray(0, end))
    return bytes.subarray(end)
  }

  function flush(): void {
    pass(rest, textOf(rest))
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

/** Everything that is looked for is ASCII, so that places in the text are places in the bytes. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** It ends an event. */
const emptyLine = /\n\r?\n|\r\r/
const boundaries = /(?<=\n\r?\n|\r\r)/

function endOfEvents(text: string): number {
  return Math.max(endOfLast(text, '\n\n'), endOfLast(text, '\n\r\n'), endOfLast(text, '\r\r'))
}

function endOfLast(text: string, lines: string): number {
  const start = text.lastIndexOf(lines)
  return start < 0 ? 0 : start + lines.length
}
