// The client: it keeps what comes with the time it came, and looks at it only when the clock has stopped.

import { Agent, globalAgent, request } from 'node:http'
import type { Asked } from './contender.ts'

/** The outcome of one stream. */
interface Received {
  at: bigint[]
  chunks: Buffer[]
}

export interface Heard {
  /** From the first request to the end of the last stream. */
  ms: number
  /** Microseconds that each event was on its way. */
  delays: number[]
}

/** Throws if an event of any stream is missing, or out of order. */
export async function listenTo(asks: readonly Asked[], events: number): Promise<Heard> {
  // A new one each time: a connection that was idle for long may just be closed by the other side.
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const began = performance.now()
  const all = await Promise.all(asks.map((one) => open(one, agent)))
  const ms = performance.now() - began
  agent.destroy()
  return { ms, delays: all.flatMap((one) => delaysOf(one, events)) }
}

/** The milliseconds to the first byte of a chat, and its text. */
export async function firstByte(asked: Asked): Promise<{ ms: number; text: string }> {
  const began = process.hrtime.bigint() / 1000n
  const { at, chunks } = await open(asked, globalAgent)
  const deltas = Buffer.concat(chunks)
    .toString()
    .matchAll(/"(?:content|delta)":("[^"]*")/g)
  const text = [...deltas].map(([, content = '""']) => JSON.parse(content) as string).join('')
  return { ms: Number((at[0] ?? 0n) - began) / 1000, text }
}

export async function newConversation(origin: string, body: object): Promise<string> {
  const asked = { url: `${origin}/api/conversations`, headers: {}, body: JSON.stringify(body) }
  const { chunks } = await open(asked, globalAgent)
  return (JSON.parse(Buffer.concat(chunks).toString()) as { id: string }).id
}

function open({ url, headers, body }: Asked, agent: Agent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } }
    const asked = request(url, options, (answer) => {
      const received: Received = { at: [], chunks: [] }
      answer.on('data', (chunk: Buffer) => {
        received.at.push(process.hrtime.bigint() / 1000n)
        received.chunks.push(chunk)
      })
      answer.on('error', reject)
      answer.on('end', () => {
        if ((answer.statusCode ?? 500) < 300) resolve(received)
        else reject(new Error(`${answer.statusCode} ${Buffer.concat(received.chunks).toString().slice(0, 300)}`))
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

/** Each event once and in order; what is said again later, such as the whole reply at its end, does not count. */
function delaysOf({ at, chunks }: Received, events: number): number[] {
  const delays: number[] = []
  let rest = ''
  for (const [i, chunk] of chunks.entries()) {
    const text = rest + chunk.toString('latin1')
    let end = 0
    for (const found of text.matchAll(/~(\d+):(\d+);/g)) {
      end = found.index + found[0].length
      const [, number, sent = ''] = found
      if (Number(number) === delays.length) delays.push(Number((at[i] ?? 0n) - BigInt(sent)))
      else if (Number(number) > delays.length) throw new Error(`event ${delays.length} is missing`)
    }
    rest = text.slice(Math.max(end, text.length - 40))
  }
  if (delays.length !== events) throw new Error(`${delays.length} of ${events} events came`)
  return delays
}
