// A long reply as the bytes that would carry it on each wire.

import type { Reply } from '../../src/core/message.ts'
import { noUsage } from '../../src/core/usage.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { inChunks, type Chunked } from './chunked.ts'

const sentence = 'The log shows that the cache was never warmed up again, so each request was paid in full. '

const call = {
  type: 'tool-call' as const,
  callId: 'call_1',
  name: 'read_file',
  input: { path: 'src/index.ts', reason: sentence },
}

/** Text in about as many deltas as given, and one tool call; `textOnly`: for a run, which would answer the call. */
export function madeStream(protocol: Wire, deltas: number, textOnly = false): Chunked {
  const text = sentence.repeat(Math.ceil((deltas * 12) / sentence.length)).slice(0, deltas * 12)
  const reply: Reply = {
    role: 'assistant',
    parts: [{ type: 'text', text }, ...(textOnly ? [] : [call])],
    native: [],
    origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'a-model' },
    stop: { reason: textOnly ? 'done' : 'tool-calls' },
  }
  const profile = {
    model: 'a-model',
    replyId: 'reply_1',
    createdAt: 1_760_000_000,
    usage: { ...noUsage, input: 10, output: 10 },
  }
  const { framing } = protocol
  const lines = protocol.split(protocol.whole(reply, profile), 12).map((chunk) => {
    const json = JSON.stringify(chunk)
    if (framing.kind === 'ndjson') return `${json}\n`
    const named = framing.kind === 'sse' && framing.named && typeof chunk === 'object' && chunk && 'type' in chunk
    return `${named ? `event: ${String(chunk.type)}\n` : ''}data: ${json}\n\n`
  })
  if (framing.kind === 'sse' && framing.done !== undefined) lines.push(`data: ${framing.done}\n\n`)
  return inChunks(lines)
}
