// Processor time of servers that relay streams: of a request with a single event, and of each event beyond it.

import { listenTo } from './ask.ts'
import type { Contender } from './contender.ts'

export const longStream = 200
const atOnce = 20

/** Milliseconds of processor time. */
export interface Processor {
  request: number
  event: number
}

/** In turn, so that all of them meet the same load of the machine, and as many rounds before, so that all are warm. */
export async function processorOf(contenders: readonly Contender[], rounds: number): Promise<Processor[]> {
  const sums = contenders.map(() => ({ short: 0, long: 0 }))
  for (let round = -rounds; round < rounds; round++) {
    for (const [i, one] of contenders.entries()) {
      const [short, longer] = [await spent(one, 1), await spent(one, longStream)]
      const sum = sums[i]
      if (round < 0 || !sum) continue
      sum.short += short
      sum.long += longer
    }
  }
  return sums.map((sum) => {
    const request = sum.short / (rounds * atOnce)
    return { request, event: (sum.long / (rounds * atOnce) - request) / (longStream - 1) }
  })
}

async function spent(one: Contender, events: number): Promise<number> {
  const asks = await one.asks(atOnce, events, 0)
  const before = one.processorMs()
  await listenTo(asks, events)
  return one.processorMs() - before
}
