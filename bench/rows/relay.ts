// Streams through `synapse serve`, against a relay that only passes bytes on and against a gateway that stores nothing.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenTo } from '../relay/ask.ts'
import { bareRelay, portkey, startUpstream, synapse, type Contender } from '../relay/contender.ts'
import { longStream, processorOf, type Processor } from '../relay/processor.ts'
import { events, paceMs, streamsAtOnce } from '../relay/streams.ts'
import type { Row, Table } from '../row.ts'

export const relay: Row = {
  name: 'relay',
  about: `Streams of ${events} events from an upstream on loopback, one event per write. \`synapse serve\` decodes each, stores it in its SQLite store (durable before it is shown), and serves it under a number; the others store nothing. Processor time of the server: a turn is a stream of one event (the message, the request and the reply, stored durably by \`synapse serve\`), an event what a stream of ${longStream} takes beyond that. Throughput: all streams at once, as fast as they go. Delay: an event every ${paceMs} ms in each stream, beyond what the bare relay takes. Memory: what the process grew by, per stream.`,

  async run({ quick }) {
    const home = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
    const upstream = await startUpstream()
    const relays = [
      await bareRelay(upstream.origin),
      await synapse(upstream.origin, home),
      await portkey(upstream.origin),
    ]
    try {
      const sizes = quick ? [1, 100] : [1, 100, 1000]
      for (const one of relays) await listenTo(await one.asks(20, events, 0), events)
      const processor = await processorOf(relays, quick ? 5 : 20)
      const [, ours, gateway] = processor
      const streams: Table[] = []
      for (const size of sizes) streams.push(await streamsAtOnce(relays, size, quick ? 3 : 5))
      return {
        tables: [processorTable(relays, processor), ...streams],
        checks: [
          {
            what: `processor time of an event / ${peer}`,
            value: (ours?.event ?? Number.NaN) / (gateway?.event ?? Number.NaN),
            bound: 1,
            excuse,
          },
        ],
        remarks: [
          'Throughput, delay and memory are wall time of a machine that also runs the upstream and the client: for orientation.',
        ],
      }
    } finally {
      for (const one of [...relays, upstream]) one.stop()
      rmSync(home, { recursive: true, force: true })
    }
  },
}

const peer = '@portkey-ai/gateway'

const excuse =
  'an event is decoded, merged with its neighbours, written to the database and served under a number that a client can continue from; the gateway passes bytes on, and parses each event once'

function processorTable(relays: readonly Contender[], processor: readonly Processor[]): Table {
  return {
    title: 'Processor time',
    head: ['relay', 'per event, µs', 'per turn, ms'],
    lines: relays.map(({ name }, i) => [
      name,
      ((processor[i]?.event ?? Number.NaN) * 1000).toFixed(1),
      (processor[i]?.request ?? Number.NaN).toFixed(2),
    ]),
  }
}
