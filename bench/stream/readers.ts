// Ways to read a stream: ours, and the least that any reader must do.

import { createFold } from '../../src/core/fold.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { unframeNdjson } from '../../src/transport/ndjson.ts'
import { unframeSse } from '../../src/transport/sse.ts'
import { textReader } from '../../src/transport/unframe.ts'

const most = 64 * 1024 * 1024

/** Bytes to a reply, with every event on the way. */
export function ours(protocol: Wire, chunks: readonly Uint8Array[]): number {
  const { framing } = protocol
  const unframer = framing.kind === 'sse' ? unframeSse(most, framing.done) : unframeNdjson(most)
  const origin = { protocol: protocol.id, provider: 'a-provider', model: 'a-model' }
  const text = textReader()
  const decoder = protocol.decoder(origin)
  const folded = createFold(origin)
  for (const bytes of chunks) {
    for (const chunk of unframer.push(text.push(bytes))) {
      for (const event of decoder.push(chunk)) folded.push(event)
    }
  }
  for (const event of decoder.end()) folded.push(event)
  return folded.result().reply.parts.length
}

/** Decode, split and parse, and look at nothing. */
export function floor(protocol: Wire, chunks: readonly Uint8Array[]): number {
  const sse = protocol.framing.kind === 'sse'
  const between = sse ? '\n\n' : '\n'
  const text = new TextDecoder()
  let rest = ''
  let seen = 0
  for (const bytes of chunks) {
    const pieces = (rest + text.decode(bytes, { stream: true })).split(between)
    rest = pieces.pop() ?? ''
    for (const piece of pieces) {
      const start = sse ? piece.indexOf('data: ') : 0
      if (start < 0 || piece === '' || piece.endsWith('[DONE]')) continue
      if (JSON.parse(sse ? piece.slice(start + 6) : piece) !== null) seen++
    }
  }
  return seen
}
