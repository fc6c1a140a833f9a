// The chunks of a recorded reply: a whole body, a stream of server-sent events, one JSON value per line, or the frames
// of AWS, which recordings store as base64.

import type { Failure } from '../core/error.ts'
import { parseJson, type Json } from '../core/json.ts'
import type { Wire } from '../wires/wire.ts'
import { unframeAwsEvents } from './aws-events.ts'
import { unframeNdjson } from './ndjson.ts'
import { unframeSse } from './sse.ts'

export interface Recording {
  chunks: Json[]
  /** What made the rest unreadable. */
  failure?: Failure
}

export function readRecording(protocol: Wire, text: string): Recording {
  const whole = parseJson(text)
  // Gemini without `alt=sse` sends its chunks as one array.
  if (whole !== undefined) return { chunks: Array.isArray(whole) ? whole : protocol.split(whole) }
  const frames = protocol.framing.kind !== 'ndjson' && !hasEvents(text) ? framesIn(text) : undefined
  if (frames) return frames
  const unframer = hasEvents(text) ? unframeSse(text.length + 1) : unframeNdjson(text.length + 1)
  const chunks = [...unframer.push(text), ...unframer.flush()]
  return { chunks, ...(unframer.trouble && { failure: unframer.trouble.failure }) }
}

/** Undefined if it is not base64 of frames. */
function framesIn(text: string): Recording | undefined {
  if (!/^[A-Za-z0-9+/\s]+(?:=+\s*)?$/.test(text)) return undefined
  const unframer = unframeAwsEvents(text.length + 1)
  const chunks = unframer.push(Buffer.from(text, 'base64'))
  unframer.flush()
  if (chunks.length === 0) return undefined
  return { chunks, ...(unframer.trouble && { failure: unframer.trouble.failure }) }
}

/** Whether it contains lines of server-sent events, comments included. */
export function hasEvents(text: string): boolean {
  return /^(data|event|id|retry)?:/m.test(text)
}
