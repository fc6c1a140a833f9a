// Streams through `synapse serve`, against a relay that only passes bytes on and against a gateway that keeps nothing.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../measure.ts'
import { listenTo } from '../relay/ask.ts'
import { bareRelay, portkey, startUpstream, synapse, type Contender } from '../relay/contender.ts'
import { longStream, processorOf, type Processor } from '../relay/processor.ts'
import { ratio, type Row, type Table } from '../row.ts'

const events = 200
/**
 * At a thousand streams this is ten thousand events a second: about half of what the bare relay can do on two cores. At
 * an event every 50 ms they are more than `synapse serve` keeps up with: seconds of delay.
 */
const paceMs = 100

export const relay: Row = {
  name: 'relay',
  about: `Streams of ${events} events from an upstream on loopback, one event per write. \`synapse serve\` decodes each, keeps it in its SQLite store (durable before it is shown), and serves it under a number; the others keep nothing. Processor time of the server: a turn is a stream of one event (the message, the request and the reply, stored durably by \`synapse serve\`), an event what a stream of ${longStream} takes beyond that. Throughput: all streams at once, as fast as they go. Delay: an event every ${paceMs} ms in each stream, beyond what the bare relay takes. Memory: what the process grew by, per stream.`,

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
      const rates = new Map<number, number[]>()
      const paced = new Map<number, Paced[]>()
      for (const one of relays) await listenTo(await one.asks(20, events, 0), events)
      const processor = await processorOf(relays, quick ? 5 : 20)
      const [, ours, gateway] = processor
      for (const size of sizes) {
        // First, while the processes are warm, but have not grown by as many streams before.
        paced.set(size, await pacedRuns(relays, size))
        rates.set(size, await throughput(relays, size, quick ? 3 : 5))
      }
      return {
        tables: [
          processorTable(relays, processor),
          ...sizes.map((size) => tableOf(relays, size, rates.get(size) ?? [], paced.get(size) ?? [])),
        ],
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

/** Events per second of each, medians of rounds in turn; the first round warms up. */
async function throughput(relays: readonly Contender[], size: number, rounds: number): Promise<number[]> {
  const samples = relays.map((): number[] => [])
  const repeats = size === 1 ? 20 : 1
  for (let round = 0; round <= rounds; round++) {
    for (const [i, one] of relays.entries()) {
      let ms = 0
      for (let n = 0; n < repeats; n++) ms += (await listenTo(await one.asks(size, events, 0), events)).ms
      if (round > 0) samples[i]?.push((size * events * repeats * 1000) / ms)
    }
  }
  return samples.map(median)
}

interface Paced {
  p50: number
  p99: number
  memory: number
}

async function pacedRuns(relays: readonly Contender[], size: number): Promise<Paced[]> {
  const results: Paced[] = []
  for (const one of relays) {
    const asks = await one.asks(size, events, paceMs)
    const before = one.resident()
    let most = before
    const looks = setInterval(() => (most = Math.max(most, one.resident())), 250)
    const { delays } = await listenTo(asks, events)
    clearInterval(looks)
    delays.sort((a, b) => a - b)
    const at = (share: number) => (delays[Math.floor(share * (delays.length - 1))] ?? Number.NaN) / 1000
    results.push({ p50: at(0.5), p99: at(0.99), memory: Math.max(0, most - before) / size })
  }
  return results
}

function tableOf(relays: readonly Contender[], size: number, rates: readonly number[], paced: readonly Paced[]) {
  const floor = paced[0]
  return {
    title: size === 1 ? '1 stream' : `${size} streams`,
    head: ['relay', 'events/s', '× bare', 'delay added, p50 ms', 'p99 ms', 'memory per stream, kB'],
    lines: relays.map(({ name }, i) => {
      const { p50 = 0, p99 = 0, memory = 0 } = paced[i] ?? {}
      const added = (value: number, of: number) => (i === 0 ? `(${value.toFixed(1)})` : (value - of).toFixed(1))
      return [
        name,
        Math.round(rates[i] ?? 0),
        ratio(rates[i], rates[0]),
        added(p50, floor?.p50 ?? 0),
        added(p99, floor?.p99 ?? 0),
        Math.round(memory / 1000),
      ]
    }),
  }
}
