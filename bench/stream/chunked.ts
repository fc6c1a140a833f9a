// A stream as the network may hand it over: many small chunks, or few large ones.

export interface Chunked {
  /** One for each event. */
  events: Uint8Array[]
  /** The same bytes in pieces of 16 KB. */
  large: Uint8Array[]
  bytes: number
}

export function inChunks(events: readonly string[]): Chunked {
  const encoder = new TextEncoder()
  const whole = encoder.encode(events.join(''))
  const large: Uint8Array[] = []
  for (let start = 0; start < whole.length; start += 16_384) large.push(whole.subarray(start, start + 16_384))
  return { events: events.map((event) => encoder.encode(event)), large, bytes: whole.length }
}
