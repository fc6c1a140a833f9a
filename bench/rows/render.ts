// From a history to the bytes of a request, on every wire, against bare `JSON.stringify` of a body that is ready.

import { assemble, type RequestDraft } from '../../src/context/assemble.ts'
import type { Message } from '../../src/core/message.ts'
import { allWires } from '../../src/wires/all.ts'
import { bodyBytes } from '../../src/wires/shared/body-bytes.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { longHistory } from '../history.ts'
import { median, timeInTurn, type Contender } from '../measure.ts'
import type { Peer } from '../peers/peer.ts'
import type { Row } from '../row.ts'

export const render: Row = {
  name: 'render',
  about:
    'A whole history to the bytes of a request, with pairing, notes and encoding, for a provider that was not asked before; bare `JSON.stringify` of the ready body = 1. “Whole” follows a request to another provider; “next turn” is a conversation that continues, with two messages more than in the request before.',

  async run({ quick }) {
    const sizes = quick ? [200, 2000] : [20, 200, 2000, 20_000]
    const peers = quick ? [] : await installedPeers()
    const lines: (string | number)[][] = []
    const whole: number[] = []
    const nextTurn: number[] = []
    const perMessage = new Map<number, number[]>()
    const barePerMessage = new Map<number, number[]>()
    let lead = Infinity
    for (const size of sizes) {
      const history = longHistory(size)
      const added = longHistory(size + 2).slice(size)
      let providers = 0
      for (const protocol of allWires()) {
        const { body } = assemble(draftOf(protocol, history, 'elsewhere'))
        const running = copied(history)
        const next = () => [...running, ...copied(added)]
        const peersHere = size > 2000 ? [] : peers.filter((peer) => peer.protocols.includes(protocol.id))
        const timed = await timeInTurn([
          { name: 'bare', run: () => JSON.stringify(body) },
          { name: 'whole', run: () => bytesOf(draftOf(protocol, history, `provider-${providers++}`)) },
          { name: 'next', run: () => bytesOf(draftOf(protocol, next(), 'a-provider')) },
          ...peersHere.map((peer): Contender => ({
            name: peer.name,
            run: async () => Buffer.from(await peer.sent(protocol.id, history)),
          })),
        ])
        const ms = (name: string) => timed.find((one) => one.name === name)?.ms ?? Number.NaN
        const bare = ms('bare')
        const theirs = peersHere.map((peer) => ms(peer.name)).filter((one) => Number.isFinite(one))
        if (size === 2000) {
          whole.push(ms('whole') / bare)
          nextTurn.push(ms('next') / bare)
          if (theirs.length > 0) lead = Math.min(lead, Math.min(...theirs) / ms('whole'))
        }
        perMessage.set(size, [...(perMessage.get(size) ?? []), ms('whole') / size])
        barePerMessage.set(size, [...(barePerMessage.get(size) ?? []), bare / size])
        lines.push([
          size,
          protocol.id,
          bare.toPrecision(3),
          (ms('whole') / bare).toFixed(2),
          (ms('next') / bare).toFixed(2),
          ...peers.map((peer) => (Number.isFinite(ms(peer.name)) ? (ms(peer.name) / bare).toFixed(2) : '–')),
        ])
      }
    }
    const [small = 0, large = 0] = sizes.slice(-2)
    const growthOf = (costs: Map<number, number[]>) => median(costs.get(large) ?? []) / median(costs.get(small) ?? [])
    return {
      tables: [
        {
          head: ['messages', 'wire', 'bare, ms', 'whole', 'next turn', ...peers.map((peer) => peer.name)],
          lines,
        },
      ],
      checks: [
        {
          what: 'whole history at 2,000 messages, median of the wires',
          value: median(whole),
          bound: 1.3,
          excuse: wholeExcuse,
        },
        {
          what: 'next turn at 2,000 messages, median of the wires',
          value: median(nextTurn),
          bound: 0.25,
          excuse: nextExcuse,
        },
        {
          what: `growth from ${small} to ${large} messages, per message`,
          value: growthOf(perMessage),
          bound: 1.5,
          excuse: `so does \`JSON.stringify\` of the same bodies, by ${growthOf(barePerMessage).toFixed(2)}: 25 MB of text fit no cache of the processor, and are written to memory that the system has to provide`,
        },
        ...(quick
          ? []
          : [
              {
                what: 'fastest peer / ours at 2,000 messages, the worst wire',
                value: lead,
                bound: 1,
                atLeast: true,
                excuse: leadExcuse,
              },
            ]),
      ],
      remarks: [
        'Peers are called as their users call them, up to the moment the body leaves them; that includes what they do for a call besides rendering. All end in bytes, as they are sent.',
        'Tokens are counted when a message is first seen, and not again after that.',
      ],
    }
  },
}

const wholeExcuse =
  'by profile, half of it encodes: ids and names over the whole history, each message with its notes, and a record of both for the next turn. A third is the bytes, although all long texts are copied from the body before: the rest of each message is written by `JSON.stringify` with gaps for them. A sixth is the collector, which has to move what is cached. Tried: the length of all that is between long texts is asked once, not for each piece (by the cost of one call about 2 %); Bedrock reads blocks in loops. Caching nothing at the first request to a provider would be faster here, but the next turn would encode everything again'
const nextExcuse =
  'a third of it (a fifth on wires with more to check) is copying the body, and two thirds of that is the operating system providing fresh memory: into memory that was used before, copying takes a third of the time. Two buffers in turn would do that, but an earlier body that the caller still has, in its own `fetch`, would change. A sixth is the collector; the rest compares each message with what is cached, in a few passes. Ids and names of calls are continued from the request before, which took about a seventh away'
const leadExcuse = 'peers write no notes and cache nothing for the next turn, which is where ours is ahead'

/** Messages that were never seen. */
function copied(messages: readonly Message[]): Message[] {
  return messages.map((message) => ({ ...message }))
}

function draftOf(protocol: Wire, history: readonly Message[], provider: string): RequestDraft {
  const capabilities = { ...protocol.capabilities, contextWindow: 100_000_000 }
  const target = { provider, model: 'a-model', options: {}, quirks: {}, capabilities }
  return { history, protocol, target, fromLog: true }
}

function bytesOf(draft: RequestDraft): Uint8Array {
  const { body, context } = assemble(draft)
  return bodyBytes(body, context.messages)
}

async function installedPeers(): Promise<Peer[]> {
  const { aiSdk } = await import('../peers/ai-sdk.ts')
  const { langchain } = await import('../peers/langchain.ts')
  const { pi } = await import('../peers/pi.ts')
  return [aiSdk, langchain, pi]
}
