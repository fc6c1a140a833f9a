// Clients of OpenAI's API at the front door of `synapse serve`, against a gateway that keeps nothing.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenTo } from '../relay/ask.ts'
import { portkey, startUpstream, synapseDoor, type Contender } from '../relay/contender.ts'
import type { Row } from '../row.ts'

const long = 200
const atOnce = 20

export const doors: Row = {
  name: 'doors',
  about: `Chat completions of a client through the front door, processor time of the server. A request: a stream of one event. An event: what a stream of ${long} events takes beyond that, by event. \`synapse serve\` finds or makes the conversation, stores request and reply in SQLite, and meters it; the gateway keeps nothing.`,

  async run({ quick }) {
    const home = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
    for (const name of ['passed', 'translated']) mkdirSync(join(home, name))
    const upstream = await startUpstream()
    const contenders = [
      await portkey(upstream.origin),
      await synapseDoor(upstream.origin, join(home, 'passed'), true),
      await synapseDoor(upstream.origin, join(home, 'translated'), false),
    ]
    try {
      const rounds = quick ? 10 : 40
      const measured: Measured[] = []
      for (const one of contenders) measured.push(await measure(one, rounds))
      const [gateway, ...ours] = measured
      return {
        tables: [
          {
            head: ['server', 'per request, ms', 'per event, µs'],
            lines: contenders.map(({ name }, i) => [
              name,
              (measured[i]?.request ?? 0).toFixed(2),
              ((measured[i]?.event ?? 0) * 1000).toFixed(1),
            ]),
          },
        ],
        checks: ours.flatMap(({ request, event }, i) => [
          {
            what: `processor time of an event / @portkey-ai/gateway, ${contenders[i + 1]?.name ?? ''}`,
            value: event / (gateway?.event ?? Number.NaN),
            bound: 1,
          },
          {
            what: `processor time of a request / @portkey-ai/gateway, ${contenders[i + 1]?.name ?? ''}`,
            value: request / (gateway?.request ?? Number.NaN),
            bound: 1,
            excuse:
              'a request is a turn of a conversation that is stored durably and can be found again; the gateway keeps nothing',
          },
        ]),
      }
    } finally {
      for (const one of [...contenders, upstream]) one.stop()
      rmSync(home, { recursive: true, force: true })
    }
  },
}

/** Milliseconds of processor time. */
interface Measured {
  request: number
  event: number
}

async function measure(one: Contender, rounds: number): Promise<Measured> {
  const spent = async (events: number) => {
    const before = one.processorMs()
    await listenTo(await one.asks(atOnce, events, 0), events)
    return one.processorMs() - before
  }
  const sum = { short: 0, long: 0 }
  // In turn, and as many before, so that what is measured is warm.
  for (let round = -rounds; round < rounds; round++) {
    const [ofShort, ofLong] = [await spent(1), await spent(long)]
    if (round < 0) continue
    sum.short += ofShort
    sum.long += ofLong
  }
  const request = sum.short / (rounds * atOnce)
  return { request, event: (sum.long / (rounds * atOnce) - request) / (long - 1) }
}
