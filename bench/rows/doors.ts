// Clients of OpenAI's API at the front door of `synapse serve`, against a gateway that stores nothing.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstByte } from '../relay/ask.ts'
import { bareRelay, chatBody, portkey, startUpstream, synapseDoor, type ChatServer } from '../relay/contender.ts'
import { longStream, processorOf } from '../relay/processor.ts'
import { paceMs, streamsAtOnce } from '../relay/streams.ts'
import { median } from '../measure.ts'
import type { Row } from '../row.ts'

/** Messages of the conversations in which the first byte is awaited. */
const [short, long] = [20, 2000]

const firstByteExcuse =
  'most of it is there in a short conversation too, and it follows the machine: compare the bare relay, which does nothing. Of the time in the server, by marks in the code: reading the body 8 %, parsing, checking and matching it 19 %, the statements and the commit 23 %, waiting for the disk 29 %, during which a request that passes through is planned and most of its body is sent, the provider 10 %, decoding the first event and writing it 9 %; the plan and encoding of a translated request take 13 %. The same steps take a third of the time under load: an idle process finds nothing in the caches of the processor. What helped: only new bytes of a body are parsed, hashed, searched and checked; plan and encoder continue from the request before; large pieces of a body are stored once; all but its last byte is sent while the disk is awaited; the first piece of the answer is written at once, before anything that it leads to. Tried without a gain: flags of V8 that compile earlier, or collect garbage less often, in smaller steps or in one thread; other sizes of what is synced; sending the body before the commit'

export const doors: Row = {
  name: 'doors',
  about: `Clients of OpenAI's APIs through the front door, in front of a provider of chat completions: those of the same API, passed through, and of the Responses API, translated; processor time of the server. A request: a stream of one event. An event: what a stream of ${longStream} events takes beyond that, by event. \`synapse serve\` finds or makes the conversation, stores request and reply in SQLite, and meters it; the gateway stores nothing. First byte: in a conversation of ${short} or ${long} messages that continues, the median time from the request to the first byte, beyond that of a request without a gateway; that of the other gateway hardly depends on the conversation, and its reason was not looked into. Many streams: all at once, as fast as they go; the delay with an event every ${paceMs} ms in each, beyond what the bare relay takes; no event may be missing or out of order.`,

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
      const processor = await processorOf(contenders, quick ? 10 : 40)
      const [gateway, ...measured] = processor
      const firstBytes: { short: number; long: number }[] = []
      for (const server of [bare, ...contenders]) {
        const turns = quick ? 30 : 200
        firstBytes.push({
          short: await addedBy(server, upstream.origin, { messages: short, turns }),
          long: await addedBy(server, upstream.origin, { messages: long, turns }),
        })
      }
      const streams = await streamsAtOnce([bare, ...contenders], quick ? 50 : 1000, quick ? 1 : 3)
      return {
        tables: [
          {
            head: [
              'server',
              'per request, ms',
              'per event, µs',
              `first byte, ${short} messages, ms more`,
              `${long} messages`,
            ],
            lines: [bare, ...contenders].map(({ name }, i) => {
              const used = processor[i - 1]
              return [
                name,
                used ? used.request.toFixed(2) : '–',
                used ? (used.event * 1000).toFixed(1) : '–',
                firstBytes[i]?.short.toFixed(1) ?? '–',
                firstBytes[i]?.long.toFixed(1) ?? '–',
              ]
            }),
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
            what: `ms to the first byte, ${long} messages, ${name}`,
            value: firstBytes[i + 2]?.long ?? Number.NaN,
            bound: 5,
            excuse: firstByteExcuse,
          },
        ]),
      }
    } finally {
      for (const one of [bare, ...contenders, upstream]) one.stop()
      rmSync(home, { recursive: true, force: true })
    }
  },
}

/** Milliseconds that a server adds before the first byte, in a conversation that continues. */
async function addedBy(
  server: ChatServer,
  upstream: string,
  { messages: count, turns }: { messages: number; turns: number },
): Promise<number> {
  const messages = someMessages(count)
  const [direct, through]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: 'user', content: 'Tell me much.' })
    const url = `${upstream}/1/0/chat/completions`
    const alone = await firstByte({ url, headers: {}, body: chatBody('m', messages) })
    const answer = await firstByte(server.chat(messages))
    messages.push({ role: 'assistant', content: answer.text })
    // Until then some code is not compiled.
    if (turn < turns / 3) continue
    direct.push(alone.ms)
    through.push(answer.ms)
  }
  return median(through) - median(direct)
}

function someMessages(count: number): { role: string; content: string }[] {
  return Array.from({ length: count }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${i} of a conversation, with about as many words as a short message of a chat has.`,
  }))
}
