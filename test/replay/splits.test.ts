// Networks cut a stream anywhere, also inside a character. Recorded streams, cut at every byte, are read the same.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { fold } from '../../src/core/fold.ts'
import type { Json } from '../../src/core/json.ts'
import { loadWire } from '../../src/wires/list.ts'
import { unframeSse } from '../../src/transport/sse.ts'
import { corpusFiles, noCorpus } from '../corpus.ts'
import { thorough } from '../thorough.ts'

/** Every byte of every stream takes the square of its length; small ones of each wire show as much. */
const mostBytes = 6000
const streamsPerWire = thorough ? 3 : 1

const wires = ['openai-chat', 'openai-responses', 'anthropic-messages']

for (const wire of wires) {
  test(`recorded streams of ${wire} are read the same, cut at any byte`, { skip: noCorpus }, async (t) => {
    const protocol = await loadWire(wire)
    const origin = { protocol: wire, provider: 'recorded', model: 'recorded' }
    const read = (pieces: readonly Uint8Array[]) => {
      const text = new TextDecoder()
      const unframer = unframeSse(mostBytes * 2)
      const decoder = protocol.decoder(origin)
      const chunks: Json[] = pieces.flatMap((piece) => unframer.push(text.decode(piece, { stream: true })))
      const events = [...chunks, ...unframer.flush()].flatMap((chunk) => decoder.push(chunk))
      return JSON.stringify(fold([...events, ...decoder.end()], origin))
    }
    let cuts = 0
    const streams = corpusFiles(`streams/${wire}/*.stream.json`)
      .map((file) => Buffer.from(bodyOf(file)))
      .filter((bytes) => bytes.length > 0 && bytes.length <= mostBytes)
      .slice(0, streamsPerWire)
    for (const bytes of streams) {
      const whole = read([bytes])
      for (let at = 1; at < bytes.length; at += thorough ? 1 : 5, cuts++) {
        assert.equal(read([bytes.subarray(0, at), bytes.subarray(at)]), whole)
      }
    }
    assert.ok(streams.length > 0)
    t.diagnostic(`${streams.length} streams, ${cuts} cuts`)
  })
}

function bodyOf(file: string): string {
  const { response } = JSON.parse(readFileSync(file, 'utf8')) as { response: { body: unknown; bodyEncoding?: string } }
  return typeof response.body === 'string' && response.bodyEncoding === undefined ? response.body : ''
}
