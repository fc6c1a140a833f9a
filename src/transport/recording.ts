// The chunks of a recorded reply: a whole body, a stream of server-sent events, or one JSON value per line.

import type { Failure } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { Wire } from '../wires/wire.ts'
import { unframeNdjson } from './ndjson.ts'
import { unframeSse } from './sse.ts'
import { jsonIn } from './unframe.ts'

export interface Recording {
  chunks: Json[]
  /** What made the rest unreadable. */
  failure?: Failure
}

export function readRecording(protocol: Wire, text: string): Recording {
  const whole = jsonIn(text)
  // Gemini without `alt=sse` sends its chunks as one array.
  if (whole !== undefined) return { chunks: Array.isArray(whole) ? whole : protocol.split(whole) }
  const unframer = hasEvents(text) ? unframeSse(text.length + 1) : unframeNdjson(text.length + 1)
  const chunks = [...unframer.push(text), ...unframer.flush()]
  return { chunks, ...(unframer.trouble && { failure: unframer.trouble.failure }) }
}

/** Whether there are lines of server-sent events in it, comments included. */
export function hasEvents(text: string): boolean {
  return /^(data|event|id|retry)?:/m.test(text)
}
