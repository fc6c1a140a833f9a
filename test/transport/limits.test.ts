// What ends a reply, over real sockets. The limits of time are tried to the millisecond in limits-of-time.test.ts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { call, key } from './calling.ts'
import { answers, event, scripted, sse, type Play } from './scripted-server.ts'

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

/** For what was sent to arrive before the silence ends, on a busy machine too. */
const enoughMs = 300

describe('a stream that does not end', () => {
  test('without headers ends by the limit for headers', async (t) => {
    const server = await scripted(t, () => {})
    const { failure, reply } = await call(server.url, { retry: once, limits: { headersMs: 20 } })
    assert.equal(failure?.kind, 'timeout')
    assert.match(failure?.message ?? '', /^toybox did not begin to answer within 20 ms/)
    assert.equal(reply.stop.reason, 'failed')
  })

  test('without headers gets more time if the reply is not streamed', async (t) => {
    const server = await scripted(t, () => {})
    const { failure } = await call(server.url, { retry: once, whole: true, limits: { headersMs: 5, wholeMs: 30 } })
    assert.match(failure?.message ?? '', /within 30 ms/)
  })

  test('and falls silent ends by the limit for bytes, with its partial reply', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, sse)
      reply.write(event({ text: 'half' }))
    })
    const { text, failure, reply } = await call(server.url, { limits: { byteIdleMs: enoughMs } })
    assert.equal(text, 'half')
    assert.equal(reply.stop.reason, 'interrupted')
    assert.equal(failure?.kind, 'timeout')
    assert.match(failure?.message ?? '', /went silent/)
    await server.closed()
  })

  test('and sends text forever ends by size', async (t) => {
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

  test('with an endless error body is classified by what arrived', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(401, { 'content-type': 'application/json' })
      reply.write('{"error":{"message":"who')
    })
    const { failure } = await call(server.url, { limits: { byteIdleMs: enoughMs } })
    assert.equal(failure?.kind, 'auth')
    assert.equal(failure?.status, 401)
    await server.closed()
  })
})

describe('too much', () => {
  test('for one event is not too much for a reply in one piece', async (t) => {
    const server = await scripted(t, answers(200, { text: 'x'.repeat(300) }))
    const { text } = await call(server.url, { whole: true, limits: { eventSize: 100 } })
    assert.equal(text, 'x'.repeat(300))
  })

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
