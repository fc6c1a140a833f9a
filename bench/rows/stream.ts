// Bytes of a stream to a reply, against the least that any reader must do: decode, split, parse.

import { allWires } from '../../src/wires/all.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { median, timeInTurn, type Contender } from '../measure.ts'
import type { Row } from '../row.ts'
import type { Chunked } from '../stream/chunked.ts'
import { madeStream } from '../stream/made.ts'
import type { StreamPeer } from '../stream/answering.ts'
import { floor, ours } from '../stream/readers.ts'
import { recordedStreams } from '../stream/recorded.ts'

const excuse =
  'half of the time is `JSON.parse`, as in the floor; the rest puts parts, native words and events together, which the floor does not'

/** What each of the nine rounds reads of the recorded streams: in all more than 100 MB. */
const recordedBytes = 12_000_000

const spoken = new Set(['openai-chat', 'openai-responses', 'anthropic-messages'])

export const stream: Row = {
  name: 'stream',
  about:
    'Streamed replies from bytes to the finished reply; decoding, splitting and `JSON.parse` alone = 1. Network chunks hold one event, or 16 KB.',

  async run({ quick }) {
    const peers = quick ? [] : (await import('../stream/peers.ts')).streamPeers
    const lines: (string | number)[][] = []
    const ratios: Record<keyof typeof chunkings, number[]> = { events: [], large: [] }
    let recordings = 0
    for (const protocol of allWires()) {
      // Binary frames have another floor.
      if (protocol.framing.kind === 'aws-events') continue
      const recorded = recordedStreams(protocol)
      recordings += recorded.length
      const kinds: [string, readonly Chunked[], number][] = [
        ['made', [madeStream(protocol, quick ? 1000 : 4000)], 0],
        ...(recorded.length > 0
          ? [['recorded', recorded, quick ? 0 : recordedBytes] as [string, Chunked[], number]]
          : []),
      ]
      for (const [kind, streams, bytes] of kinds) {
        for (const size of ['events', 'large'] as const) {
          const { us, ratio } = await compared(protocol, streams, size, bytes)
          ratios[size].push(ratio)
          const others = await comparedPeers(peers, protocol, streams, size)
          lines.push([protocol.id, kind, chunkings[size], us.toFixed(2), ratio.toFixed(2), ...others])
        }
      }
    }
    return {
      tables: [
        {
          head: ['wire', 'streams', 'network chunk', 'floor, µs per event', 'ours', ...peers.map((peer) => peer.name)],
          lines,
        },
      ],
      checks: [
        { what: 'one event per network chunk, median of all', value: median(ratios.events), bound: 1.7 },
        { what: '16 KB per network chunk, median of all', value: median(ratios.large), bound: 1.3, excuse },
      ],
      remarks: [
        `“Made” is one reply of 4,000 deltas and a tool call, by the emulator. “Recorded” are ${recordings} streams that providers have sent, short ones mostly, one after the other and again until 100 MB are read; they are stored next to the repository, and left out where they are absent.`,
        'Peers start from a response and hand out their own events, so they carry a response body stream besides. “–” where a peer does not speak the wire, or gives up on one of the streams. The binary frames of Bedrock Converse are left out: there is no text to split.',
      ],
    }
  },
}

const chunkings = { events: 'one event', large: '16 KB' }

async function compared(
  protocol: Wire,
  streams: readonly Chunked[],
  size: keyof typeof chunkings,
  bytes: number,
): Promise<{ us: number; ratio: number }> {
  const once = streams.reduce((sum, one) => sum + one.bytes, 0)
  const times = Math.max(1, Math.ceil(bytes / once))
  const all = (read: (protocol: Wire, chunks: readonly Uint8Array[]) => number) => () => {
    for (let i = 0; i < times; i++) for (const one of streams) read(protocol, one[size])
  }
  const [least, mine] = await timeInTurn([
    { name: 'floor', run: all(floor) },
    { name: 'ours', run: all(ours) },
  ])
  const count = times * streams.reduce((sum, one) => sum + one.events.length, 0)
  const ms = least?.ms ?? Number.NaN
  return { us: (ms / count) * 1000, ratio: (mine?.ms ?? Number.NaN) / ms }
}

async function comparedPeers(
  peers: readonly StreamPeer[],
  protocol: Wire,
  streams: readonly Chunked[],
  size: keyof typeof chunkings,
): Promise<string[]> {
  if (!spoken.has(protocol.id)) return peers.map(() => '–')
  const [least, ...timed] = await timeInTurn([
    { name: 'floor', run: () => streams.forEach((one) => floor(protocol, one[size])) },
    ...peers.map((peer): Contender => ({
      name: peer.name,
      async run() {
        for (const one of streams) await peer.read(protocol.id, one[size])
      },
    })),
  ])
  return timed.map(({ ms }) => (ms === undefined || !least?.ms ? '–' : (ms / least.ms).toFixed(1)))
}
