// Clients of OpenAI's API at the front door of `synapse serve`, against a gateway that stores nothing.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstByte } from '../relay/ask.ts'
import { bareRelay, chatBody, portkey, startUpstream, synapseDoor, type Door } from '../relay/contender.ts'
import { longStream, processorOf } from '../relay/processor.ts'
import { paceMs, streamsAtOnce } from '../relay/streams.ts'
import { median } from '../measure.ts'
import type { Row } from '../row.ts'

const history = 2000

export const doors: Row = {
  name: 'doors',
  about: `Chat completions of a client through the front door, processor time of the server. A request: a stream of one event. An event: what a stream of ${longStream} events takes beyond that, by event. \`synapse serve\` finds or makes the conversation, stores request and reply in SQLite, and meters it; the gateway stores nothing. First byte: in a conversation of ${history} messages that continues, the median time from the request to the first byte, beyond that of a request without a gateway. Many streams: all at once, as fast as they go; the delay with an event every ${paceMs} ms in each, beyond what the bare relay takes; no event may be missing or out of order.`,

  async run({ quick }) {
    const home = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
    for (const name of ['passed', 'translated']) mkdirSync(join(home, name))
    const upstream = await startUpstream()
    const ours = [
      await synapseDoor(upstream.origin, join(home, 'passed'), true),
      await synapseDoor(upstream.origin, join(home, 'translated'), false),
    ]
    const bare = await bareRelay(upstream.origin)
    const contenders = [await portkey(upstream.origin), ...ours]
    try {
      const [gateway, ...measured] = await processorOf(contenders, quick ? 10 : 40)
      const added: number[] = []
      for (const door of ours) added.push(await addedBy(door, `${upstream.origin}/1/0`, quick ? 30 : 100))
      const streams = await streamsAtOnce([bare, ...contenders], quick ? 50 : 1000, quick ? 1 : 3)
      return {
        tables: [
          {
            head: ['server', 'per request, ms', 'per event, µs', 'first byte, ms more'],
            lines: [gateway, ...measured].map((each, i) => [
              contenders[i]?.name ?? '',
              (each?.request ?? 0).toFixed(2),
              ((each?.event ?? 0) * 1000).toFixed(1),
              added[i - 1]?.toFixed(1) ?? '–',
            ]),
          },
          streams,
        ],
        checks: ours.flatMap(({ name }, i) => [
          {
            what: `processor time of an event / @portkey-ai/gateway, ${name}`,
            value: (measured[i]?.event ?? Number.NaN) / (gateway?.event ?? Number.NaN),
            bound: 1,
            excuse:
              'each event is also decoded, added to the reply, journalled and offered to the page; in a profile the writing to the connection is the largest part, then JSON.parse of each event, and no other step is more than a twentieth. Tried without a gain that can be measured: reading pieces together that arrive within two milliseconds (several pieces that are read together take much less, but a busy server finds them together anyway), and one object for all pieces of text that wait for the page',
          },
          {
            what: `processor time of a request / @portkey-ai/gateway, ${name}`,
            value: (measured[i]?.request ?? Number.NaN) / (gateway?.request ?? Number.NaN),
            bound: 1,
            excuse:
              'a request is a turn of a conversation that is stored durably and can be found again: five commits, of which two or three wait for the disk. SQLite is a fifth of a profile, the rest is spread over a hundred steps of less than a twentieth each; the gateway stores nothing',
          },
          {
            what: `ms to the first byte, ${history} messages, ${name}`,
            value: added[i] ?? Number.NaN,
            bound: 5,
            excuse:
              'of the time from the headers of a request to the first byte, by marks in the code: reading its body 8 %, parsing, checking and matching it 25 %, the statements and the commit 15 %, waiting for the disk 12 %, during which it is planned and most of its body is sent, the provider 12 %, decoding the first event and writing it 5 %; a request that is translated takes 12 % for its plan and encoding. Apart from the disk and the provider no single step takes a tenth. Sending the body a second time adds 1 ms to a relay that does nothing else. What helped: only new bytes of a body are parsed, hashed, searched and checked; the beginning of a body is stored in large pieces; what passes through is planned while the disk is awaited, and encoded after it was sent; all but the last byte of a body is sent while the disk is awaited; the endpoint of a model is looked up once a second; requests that were interrupted are found by their index. Tried without a gain: flags of V8 that compile earlier or collect garbage less often, and one statement for all pieces of a body. Left out: planning what passes through after it was sent, because a request that cannot be planned is not sent; and continuing the passes of the encoder over all messages from the request before, which are a twentieth',
          },
        ]),
      }
    } finally {
      for (const one of [bare, ...contenders, upstream]) one.stop()
      rmSync(home, { recursive: true, force: true })
    }
  },
}

/** Milliseconds that a door adds before the first byte, in a conversation that continues. */
async function addedBy(door: Door, upstream: string, turns: number): Promise<number> {
  const messages = Array.from({ length: history }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${i} of a conversation, with about as many words as a short message of a chat has.`,
  }))
  const [direct, through]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: 'user', content: 'Tell me much.' })
    const headers = {}
    const alone = await firstByte({ url: `${upstream}/chat/completions`, headers, body: chatBody('m', messages) })
    const answer = await firstByte({ url: door.url, headers, body: door.body('up-1-0/m', messages) })
    messages.push({ role: 'assistant', content: answer.text })
    // Until then some code is not compiled.
    if (turn < turns / 3) continue
    direct.push(alone.ms)
    through.push(answer.ms)
  }
  return median(through) - median(direct)
}
