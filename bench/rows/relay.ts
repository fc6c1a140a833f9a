// Streams through `synapse serve`, against a relay that only passes bytes on and against a gateway that keeps nothing.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../measure.ts'
import { listenTo } from '../relay/ask.ts'
import { bareRelay, portkey, startUpstream, synapse, type Contender } from '../relay/contender.ts'
import { ratio, type Row } from '../row.ts'

const events = 200
/**
 * At a thousand streams this is ten thousand events a second: about half of what the bare relay can do on two cores. At
 * an event every 50 ms they are more than `synapse serve` keeps up with: seconds of delay.
 */
const paceMs = 100

export const relay: Row = {
  name: 'relay',
  about: `Streams of ${events} events from an upstream on loopback, one event per write. \`synapse serve\` decodes each, keeps it in its SQLite store (durable before it is shown), and serves it under a number; the others keep nothing. Throughput: all streams at once, as fast as they go. Delay: an event every ${paceMs} ms in each stream, beyond what the bare relay takes. Memory: what the process grew by, per stream.`,

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
      for (const size of sizes) {
        // First, while the processes are warm, but have not grown by as many streams before.
        paced.set(size, await pacedRuns(relays, size))
        rates.set(size, await throughput(relays, size, quick ? 3 : 5))
      }
      return {
        tables: sizes.map((size) => tableOf(relays, size, rates.get(size) ?? [], paced.get(size) ?? [])),
        checks: sizes.flatMap((size) => {
          const [bare = 0, ours = 0, gateway = 0] = rates.get(size) ?? []
          return [
            {
              what: `throughput / bare relay, ${size}`,
              value: ours / bare,
              bound: 0.7,
              atLeast: true,
              excuse: excuse(size),
            },
            {
              what: `throughput / ${peer}, ${size}`,
              value: ours / gateway,
              bound: 1,
              atLeast: true,
              excuse: excuse(size),
            },
          ]
        }),
      }
    } finally {
      for (const one of [...relays, upstream]) one.stop()
      rmSync(home, { recursive: true, force: true })
    }
  },
}

const peer = '@portkey-ai/gateway'

function excuse(size: number): string {
  return size === 1
    ? 'a stream is a turn of a conversation: about ten durable commits come before, during and after its 200 events, each waits for the one before, and they take up to half of the time; the others keep nothing'
    : 'each stream is a turn of a conversation: three fifths of its processor time go into the turn itself (its message, its request, its reply with the search index, in about ten durable writes), however few events it has; the others keep nothing'
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
