// Many streams at once through several relays: how many events a second, what an event waits, and what a stream takes of
// memory. An event that is missing or out of order is an error.

import { median } from '../measure.ts'
import { ratio, type Table } from '../row.ts'
import { listenTo } from './ask.ts'
import type { Contender } from './contender.ts'

export const events = 200
/**
 * At a thousand streams this is ten thousand events a second: about half of what the bare relay can do on two cores. At
 * an event every 50 ms they are more than `synapse serve` keeps up with: seconds of delay.
 */
export const paceMs = 100

/** The first relay is the one that the others are compared with. */
export async function streamsAtOnce(relays: readonly Contender[], size: number, rounds: number): Promise<Table> {
  // First, while the processes are warm, but have not grown by as many streams before.
  const paced = await pacedRuns(relays, size)
  return tableOf(relays, size, await throughput(relays, size, rounds), paced)
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

function tableOf(relays: readonly Contender[], size: number, rates: readonly number[], paced: readonly Paced[]): Table {
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
