// Server-sent events to JSON chunks.
//
// The parser drops comments and unknown fields, so a line can only grow without limit in a field of an event, and one
// limit for the event also limits its lines.

import { createParser } from 'eventsource-parser'
import { isObject, parseJson, type Json } from '../core/json.ts'
import { notJson, tooLarge, type Unframer } from './unframe.ts'

/** `done` is the last `data:` line of wires that have one; `[DONE]` is recognised on all of them. */
export function unframeSse(eventSize: number, done = '[DONE]'): Unframer {
  let chunks: Json[] = []
  let flushing = false
  const unframer: Unframer = {
    push,
    flush() {
      flushing = true
      return push('\n\n')
    },
    done: false,
    trouble: undefined,
  }
  const parser = createParser({
    maxBufferSize: eventSize,
    onEvent({ event, data }) {
      if (unframer.done || unframer.trouble || data === '') return
      if (data.length > eventSize) unframer.trouble = tooLarge('An event of the stream', eventSize)
      else if (data === done || data === '[DONE]') unframer.done = true
      else if (event === 'error') chunks.push(errorChunk(data))
      else add(data)
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') unframer.trouble = tooLarge('An event of the stream', eventSize)
    },
  })

  function add(data: string): void {
    const chunk = parseJson(data)
    if (chunk !== undefined) chunks.push(chunk)
    // A last event without its blank line may be incomplete: it is ignored.
    else if (!flushing) unframer.trouble = notJson(data)
  }

  function push(text: string): Json[] {
    chunks = []
    if (!unframer.done && !unframer.trouble) parser.feed(text)
    return chunks
  }

  return unframer
}

/** An event named `error` is an error, whatever its data looks like. */
function errorChunk(data: string): Json {
  const value = parseJson(data)
  if (value === undefined) return { type: 'error', error: { message: data } }
  return isObject(value) && (value.error !== undefined || value.type === 'error')
    ? value
    : { type: 'error', error: value }
}

/** The data of each event, as it is. */
export async function* eventData(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) })
  for await (const piece of pieces) {
    parser.feed(decoder.decode(piece, { stream: true }))
    yield* events.splice(0)
  }
  // The last one may lack its blank line, or be half an event.
  parser.feed('\n\n')
  yield* events.splice(0).filter((data) => parseJson(data) !== undefined)
}
