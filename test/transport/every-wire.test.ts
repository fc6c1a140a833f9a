// Sending and reading over each wire.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isObject, type Json } from '../../src/core/json.ts'
import type { Part, Reply } from '../../src/core/message.ts'
import { allWires } from '../../src/wires/all.ts'
import { frameAwsEvent } from '../../src/transport/aws-events.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { call } from './calling.ts'
import { answers, scripted, type Play } from './scripted-server.ts'

const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const profile = { model: 'a-model', replyId: 'reply-1', createdAt: 1_700_000_000, usage }

const reply: Reply = {
  role: 'assistant',
  parts: [
    { type: 'text', text: 'Let me look: grüß 👋 dich.' },
    { type: 'tool-call', callId: 'call-1', name: 'clock', input: { zone: 'Europe/Berlin' } },
  ],
  native: [],
  origin: { protocol: 'none', provider: 'none', model: 'none' },
  stop: { reason: 'tool-calls' },
}

/** The chunk as its wire frames it. */
function framed({ framing }: Wire, chunk: Json): string | Uint8Array {
  if (framing.kind === 'aws-events') {
    const said = isObject(chunk) ? chunk : {}
    const { __type: type, message } = said
    return frameAwsEvent(type === undefined ? said : { type: 'error', error: { type, message: message ?? '' } })
  }
  if (framing.kind === 'ndjson') return `${JSON.stringify(chunk)}\n`
  const name = framing.named && isObject(chunk) ? (chunk.type ?? chunk.event_type) : undefined
  return `${typeof name === 'string' ? `event: ${name}\n` : ''}data: ${JSON.stringify(chunk)}\n\n`
}

function last({ framing }: Wire): string {
  return framing.kind === 'sse' && framing.done ? `data: ${framing.done}\n\n` : ''
}

const types = {
  sse: 'text/event-stream',
  ndjson: 'application/x-ndjson',
  'aws-events': 'application/vnd.amazon.eventstream',
}

const streamed =
  (protocol: Wire, chunks: Json[], end: 'end' | 'reset'): Play =>
  (answer) => {
    answer.writeHead(200, { 'content-type': types[protocol.framing.kind] })
    const body = Buffer.concat(chunks.map((chunk) => Buffer.from(framed(protocol, chunk))))
    if (end === 'end') answer.end(Buffer.concat([body, Buffer.from(last(protocol))]))
    else answer.write(body, () => answer.socket?.resetAndDestroy())
  }

/** What was said, without ids and places. */
function said(parts: Part[]): Json[] {
  return parts.map((part) => {
    if (part.type === 'text') return part.text
    return part.type === 'tool-call' ? { name: part.name, input: part.input } : part.type
  })
}

for (const protocol of allWires()) {
  describe(`${protocol.id} over HTTP`, () => {
    const whole = protocol.whole(reply, profile)
    const chunks = protocol.split(whole, 4)
    const origin = { protocol: protocol.id, provider: 'somebody', model: 'a-model' }

    test('is decoded unchanged, streamed and complete', async (t) => {
      const server = await scripted(t, streamed(protocol, chunks, 'end'), answers(200, whole))
      for (const way of ['streamed', 'whole']) {
        const { reply: read, failure } = await call(server.url, { protocol, origin, whole: way === 'whole' })
        assert.equal(failure, undefined, way)
        assert.deepEqual(said(read.parts), said(reply.parts), way)
        assert.equal(read.stop.reason, 'tool-calls', way)
      }
    })

    test('reset after any chunk never counts as complete, and keeps the text so far', async (t) => {
      for (let count = 0; count < chunks.length; count++) {
        const server = await scripted(t, streamed(protocol, chunks.slice(0, count), 'reset'))
        const { reply: read, failure, text } = await call(server.url, { protocol, origin, retry: { retries: 0 } })
        assert.ok('Let me look: grüß 👋 dich.'.startsWith(text))
        if (read.stop.reason === 'tool-calls') assert.deepEqual(said(read.parts), said(reply.parts), `${count}`)
        else assert.ok(failure, `after ${count} chunks: ${read.stop.reason}`)
      }
    })

    test('recognises an error in the stream, and retries', async (t) => {
      const issue = {
        rule: 'busy',
        status: 503,
        message: 'Overloaded',
        type: 'overloaded_error',
        code: 'server_is_overloaded',
      }
      const error = protocol.errorBody(issue)
      const server = await scripted(t, streamed(protocol, [error], 'end'), streamed(protocol, chunks, 'end'))
      const { reply: read, retries } = await call(server.url, { protocol, origin })
      assert.equal(retries.length, 1)
      assert.equal(retries[0]?.failure.kind, 'overloaded')
      assert.deepEqual(said(read.parts), said(reply.parts))
    })
  })
}
