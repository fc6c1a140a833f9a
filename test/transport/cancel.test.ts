// Cancelling a request.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReplyEvent } from '../../src/core/event.ts'
import { streamReply, type RetryEvent } from '../../src/transport/reply.ts'
import { call, callOf, summed } from './calling.ts'
import { answers, event, says, scripted, sse } from './scripted-server.ts'

describe('cancelling', () => {
  test('before the headers ends as cancelled and closes the socket', async (t) => {
    const stop = new AbortController()
    const server = await scripted(t, () => stop.abort())
    const { reply, failure, retries } = await call(server.url, { signal: stop.signal })
    assert.equal(reply.stop.reason, 'cancelled')
    assert.equal(failure, undefined)
    assert.equal(retries.length, 0)
    await server.closed()
  })

  test('in the middle keeps the partial reply and closes the socket', async (t) => {
    const stop = new AbortController()
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, sse)
      reply.write(event({ text: 'half' }))
    })
    const events: (ReplyEvent | RetryEvent)[] = []
    for await (const piece of streamReply(callOf(server.url, { signal: stop.signal }))) {
      events.push(piece)
      if (piece.type === 'part-delta') stop.abort()
    }
    const { text, reply } = summed(events)
    assert.equal(text, 'half')
    assert.equal(reply.stop.reason, 'cancelled')
    await server.closed()
  })

  test('between two attempts makes no further one', async (t) => {
    const stop = new AbortController()
    const server = await scripted(t, answers(503, {}))
    const asleep = async () => stop.abort()
    const { reply, events } = await call(server.url, { signal: stop.signal, sleep: asleep })
    assert.equal(reply.stop.reason, 'cancelled')
    assert.deepEqual(
      events.map(({ type }) => type),
      ['retry', 'reply-start', 'reply-end'],
    )
    assert.equal(server.requests.length, 1)
  })

  test('wakes the sleep between two attempts', async (t) => {
    const stop = new AbortController()
    const server = await scripted(t, answers(429, {}, { 'retry-after': '50' }))
    const events: (ReplyEvent | RetryEvent)[] = []
    const { sleep: _, ...awake } = callOf(server.url, { signal: stop.signal })
    for await (const piece of streamReply(awake)) {
      events.push(piece)
      if (piece.type === 'retry') setImmediate(() => stop.abort())
    }
    assert.equal(summed(events).reply.stop.reason, 'cancelled')
  })

  test('before it began sends nothing', async (t) => {
    const server = await scripted(t, says('x'))
    const { reply } = await call(server.url, { signal: AbortSignal.abort() })
    assert.equal(reply.stop.reason, 'cancelled')
    assert.equal(server.requests.length, 0)
  })

  test('by walking away from the events closes the socket', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, sse)
      reply.write(event({ text: 'half' }))
    })
    for await (const piece of streamReply(callOf(server.url))) if (piece.type === 'part-delta') break
    await server.closed()
  })
})
