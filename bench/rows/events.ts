// What a streamed event costs through the entry points that users call, ours and others'.

import { allWires } from '../../src/wires/all.ts'
import { median, timeInTurn } from '../measure.ts'
import type { Row } from '../row.ts'
import { apiReaders } from '../stream/api.ts'
import { madeStream } from '../stream/made.ts'
import { floor } from '../stream/readers.ts'

const spoken = new Set(['openai-chat', 'openai-responses', 'anthropic-messages'])
const chunkings = { events: 'one event', large: '16 KB' } as const

export const events: Row = {
  name: 'events',
  about:
    'A streamed reply of 3,000 deltas through the public API of each library, from the response to the last event that its user gets; decoding, splitting and `JSON.parse` alone = 1. Processor time; ours also stores the turn.',

  async run({ quick }) {
    const { readers, close } = await apiReaders()
    const peers = [...readers, ...(quick ? [] : (await import('../stream/peers.ts')).streamPeers)]
    const through = peers.map((): number[] => [])
    const lines: (string | number)[][] = []
    for (const protocol of allWires()) {
      if (!spoken.has(protocol.id)) continue
      const stream = madeStream(protocol, quick ? 1000 : 3000, true)
      for (const size of ['events', 'large'] as const) {
        const [least, ...timed] = await timeInTurn([
          { name: 'floor', run: () => floor(protocol, stream[size]) },
          ...peers.map((peer) => ({ name: peer.name, run: () => peer.read(protocol.id, stream[size]) })),
        ])
        const ratios = timed.map(({ ms = Number.NaN }) => ms / (least?.ms ?? Number.NaN))
        for (const [i, one] of ratios.entries()) through[i]?.push(one)
        const us = ((least?.ms ?? 0) / stream.events.length) * 1000
        lines.push([protocol.id, chunkings[size], us.toFixed(2), ...ratios.map((one) => one.toFixed(1))])
      }
    }
    await close()
    const [memory = [], sqlite = [], official = []] = through
    return {
      tables: [{ head: ['wire', 'network chunk', 'floor, µs per event', ...peers.map(({ name }) => name)], lines }],
      checks: [
        { what: 'in memory, median', value: median(memory), bound: 2.5, excuse },
        { what: 'in SQLite, median', value: median(sqlite), bound: 3, excuse },
        ...(quick
          ? []
          : [
              {
                what: 'in memory / the official SDK, the worst of all',
                value: Math.max(...memory.map((ours, i) => ours / (official[i] ?? Number.NaN))),
                bound: 1,
                excuse: sdkExcuse,
              },
            ]),
      ],
    }
  },
}

const excuse =
  'a third is the floor itself, and about 1 ms, a seventh at 3,000 events, starts, plans and stores a new conversation around each stream; the rest decodes each event into parts, journals it and returns it by an async iterator. In SQLite the statements are another sixth: 58, of which the 4 commits (the conversation, its turn, the reply with its search index, the end of the lease; about 50 pages) take two fifths. Gains so far: one loop with callbacks instead of nested generators (half), deltas joined before they are journalled, an iterator without a generator, one reading of the clock per network chunk, one promise instead of three for an event whose reader waits, network chunks that end with an event decoded by themselves (together a fifteenth at one event per chunk), in SQLite the log synced and copied into the file in other threads (a sixth), two commits less, and a reply indexed for search without being read again (a tenth of the time in the store). Its search index is two fifths of the time in the store: a reply of 36 KB is 6,600 words. Not measurable: another parser of server-sent events, decoders without getters. Not done: indexing large replies some at a time, which would save an eighth of the time in the store and make each search read them until then; larger journal batches, which would save a hundredth and lose more of a fast reply in a crash'
const sdkExcuse =
  'the SDK of Anthropic returns the parsed JSON itself: no parts, no journal, no stored turn. Of our time a third is the floor, a tenth the garbage collector, a tenth the promise for each network chunk, and the rest is split evenly between parsing lines, decoding and returning events'
