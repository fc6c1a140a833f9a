import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { ReplyEvent } from '../../src/core/event.ts'
import { streamReply, type RetryEvent } from '../../src/transport/reply.ts'
import { call, callOf, key, summed } from './calling.ts'
import { event, scripted, sse, type Play } from './scripted-server.ts'

const once = { retries: 0 }

/** Writes something again and again, until the client goes away. */
const endlessly =
  (first: string, again: string, everyMs: number): Play =>
  (reply) => {
    reply.writeHead(200, sse)
    reply.write(first)
    const timer = setInterval(() => reply.write(again), everyMs)
    reply.on('close', () => clearInterval(timer))
  }

describe('a stream that does not end', () => {
  test('without headers ends by the limit for headers', async (t) => {
    const server = await scripted(t, () => {})
    const { failure, reply } = await call(server.url, { retry: once, limits: { headersMs: 20 } })
    assert.equal(failure?.kind, 'timeout')
    assert.match(failure?.message ?? '', /^toybox did not begin to answer within 20 ms/)
    assert.equal(reply.stop.reason, 'failed')
  })

  test('without headers is given more time where the reply comes in one piece', async (t) => {
    const server = await scripted(t, () => {})
    const { failure } = await call(server.url, { retry: once, whole: true, limits: { headersMs: 5, wholeMs: 30 } })
    assert.match(failure?.message ?? '', /within 30 ms/)
  })

  test('and falls silent ends by the limit for bytes, with what it said', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, sse)
      reply.write(event({ text: 'half' }))
    })
    const { text, failure, reply } = await call(server.url, { limits: { byteIdleMs: 20 } })
    assert.equal(text, 'half')
    assert.equal(reply.stop.reason, 'interrupted')
    assert.equal(failure?.kind, 'timeout')
    assert.match(failure?.message ?? '', /went silent/)
    await server.closed()
  })

  for (const [name, alive] of [
    ['comments', ': keep-alive\n\n'],
    ['pings', event({ type: 'ping' })],
  ] as const) {
    test(`and sends only ${name} ends by the limit for events`, async (t) => {
      const server = await scripted(t, endlessly(event({ text: 'half' }), alive, 2))
      const { text, failure } = await call(server.url, { limits: { byteIdleMs: 5000, eventIdleMs: 40 } })
      assert.equal(text, 'half')
      assert.equal(failure?.kind, 'timeout')
      assert.match(failure?.message ?? '', /nothing but keep-alives for 40 ms/)
      await server.closed()
    })
  }

  test('is given more time while the model thinks', async (t) => {
    const server = await scripted(t, endlessly(event({ think: 'hm' }), ': keep-alive\n\n', 2))
    const { failure } = await call(server.url, { limits: { byteIdleMs: 5000, eventIdleMs: 10, thinkingIdleMs: 60 } })
    assert.match(failure?.message ?? '', /keep-alives for 60 ms/)
  })

  test('and sends words forever ends by size', async (t) => {
    const server = await scripted(t, endlessly('', event({ text: 'x'.repeat(500) }), 1))
    const { failure, text } = await call(server.url, { limits: { replySize: 4000 } })
    assert.equal(failure?.kind, 'limit')
    assert.match(failure?.message ?? '', /larger than 4000 bytes/)
    assert.ok(text.length > 0)
    await server.closed()
  })

  for (const [name, last] of [
    ['[DONE]', 'data: [DONE]\n\n'],
    ['the last event of the wire', event({ end: true })],
  ] as const) {
    test(`after ${name} is left alone, and its socket closed`, async (t) => {
      const server = await scripted(t, (reply) => {
        reply.writeHead(200, sse)
        reply.write(event({ text: 'all' }) + last)
      })
      const { text } = await call(server.url)
      assert.equal(text, 'all')
      await server.closed()
    })
  }

  test('whose error body never ends is judged by what came of it', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(401, { 'content-type': 'application/json' })
      reply.write('{"error":{"message":"who')
    })
    const { failure } = await call(server.url, { limits: { byteIdleMs: 20 } })
    assert.equal(failure?.kind, 'auth')
    assert.equal(failure?.status, 401)
    await server.closed()
  })
})

describe('too much', () => {
  test('in one event ends the reply', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, sse)
      reply.end(event({ text: 'ok' }) + event({ text: 'x'.repeat(300_000) }))
    })
    const { text, failure } = await call(server.url, { limits: { eventSize: 100_000 } })
    assert.equal(text, 'ok')
    assert.equal(failure?.kind, 'limit')
  })

  test('is counted after decompression', async (t) => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, ': \n'))
    assert.ok(bomb.length < 100_000)
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, { ...sse, 'content-encoding': 'gzip' })
      reply.end(bomb)
    })
    const { failure } = await call(server.url, { limits: { replySize: 1024 * 1024 } })
    assert.equal(failure?.kind, 'limit')
    assert.match(failure?.message ?? '', /larger than 1 MiB/)
  })

  test('in an error body is cut', async (t) => {
    const server = await scripted(t, (reply) => reply.writeHead(400).end('x'.repeat(1_000_000)))
    const { failure } = await call(server.url)
    assert.equal(failure?.kind, 'invalid-request')
    assert.ok(JSON.stringify(failure).length < 70_000)
  })
})

test('a slow reader is not taken for a silent provider', async (t) => {
  const server = await scripted(t, (reply) => {
    reply.writeHead(200, sse)
    reply.write(event({ text: 'a' }) + event({ text: 'b' }))
    reply.end(event({ end: true }))
  })
  const limits = { byteIdleMs: 15, eventIdleMs: 15 }
  const events: (ReplyEvent | RetryEvent)[] = []
  for await (const piece of streamReply(callOf(server.url, { limits }))) {
    events.push(piece)
    if (piece.type === 'part-delta') await delay(50)
  }
  assert.equal(summed(events).reply.stop.reason, 'done')
})

test('a redirect is never followed: the key stays with its host', async (t) => {
  const thief = await scripted(t, (reply) => reply.end('{}'))
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await scripted(t, (reply) => reply.writeHead(status, { location: `${thief.url}?secret=1` }).end())
    const { failure, reply } = await call(server.url)
    assert.equal(reply.stop.reason, 'failed')
    assert.equal(failure?.status, status)
    assert.match(failure?.message ?? '', /was not followed/)
    assert.ok(!failure?.message.includes('secret'))
    assert.equal(server.requests.length, 1)
    assert.equal(server.requests[0]?.headers.authorization, `Bearer ${key}`)
  }
  assert.equal(thief.requests.length, 0)
})
