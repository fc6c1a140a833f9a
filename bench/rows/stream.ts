// Bytes of a stream to a reply, against the least that anybody must do: decode, split, parse.

import { allProtocols } from '../../src/protocols/all.ts'
import { median, timeInTurn, type Contender } from '../measure.ts'
import type { Row } from '../row.ts'
import { madeStream } from '../stream/made.ts'
import { floor, ours } from '../stream/readers.ts'

const excuse =
  'half of the time is `JSON.parse`, as in the floor; the rest puts parts, native words and events together, which the floor does not'

export const stream: Row = {
  name: 'stream',
  about:
    'A streamed reply of many deltas and a tool call, from bytes to the finished reply; decoding, splitting and `JSON.parse` alone = 1. Network chunks hold one event, or 16 KB.',

  async run({ quick }) {
    const peers = quick ? [] : (await import('../stream/peers.ts')).streamPeers
    const spoken = new Set(['openai-chat', 'openai-responses', 'anthropic-messages'])
    const lines: (string | number)[][] = []
    const single: number[] = []
    const bundled: number[] = []
    for (const protocol of allProtocols()) {
      const { events, large, count } = madeStream(protocol, quick ? 1000 : 4000)
      for (const [size, chunks] of [['one event', events] as const, ['16 KB', large] as const]) {
        const timed = await timeInTurn([
          { name: 'floor', run: () => floor(protocol, chunks) },
          { name: 'ours', run: () => ours(protocol, chunks) },
          ...peers.map((peer): Contender =>
            spoken.has(protocol.id)
              ? { name: peer.name, run: () => peer.read(protocol.id, chunks) }
              : { name: peer.name, why: '–' },
          ),
        ])
        const ms = (name: string) => timed.find((one) => one.name === name)?.ms ?? Number.NaN
        const ratio = ms('ours') / ms('floor')
        ;(size === '16 KB' ? bundled : single).push(ratio)
        lines.push([
          protocol.id,
          size,
          ((ms('floor') / count) * 1000).toFixed(2),
          ratio.toFixed(2),
          ...peers.map(({ name }) => (Number.isFinite(ms(name)) ? (ms(name) / ms('floor')).toFixed(1) : '–')),
        ])
      }
    }
    return {
      tables: [
        { head: ['wire', 'network chunk', 'floor, µs per event', 'ours', ...peers.map((peer) => peer.name)], lines },
      ],
      checks: [
        { what: 'one event per network chunk, median of the wires', value: median(single), bound: 1.7 },
        { what: '16 KB per network chunk, median of the wires', value: median(bundled), bound: 1.3, excuse },
      ],
      remarks: [
        'The streams are made by the emulator. Peers start from a response and hand out their own events, so they carry a response body stream besides.',
      ],
    }
  },
}
