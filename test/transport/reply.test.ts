// The events of a reply over several attempts.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { ReplyEvent } from '../../src/core/event.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Origin, Stop } from '../../src/core/message.ts'
import { frameAwsEvent } from '../../src/transport/aws-events.ts'
import { networkFailure } from '../../src/transport/network.ts'
import { streamReply, type RetryEvent } from '../../src/transport/reply.ts'
import type { Decoder } from '../../src/wires/wire.ts'
import { call, callOf, key, summed } from './calling.ts'
import { answers, event, says, scripted, sse, type Play } from './scripted-server.ts'
import { toy } from './toy-protocol.ts'

const cutAfter =
  (...texts: string[]): Play =>
  (reply) => {
    reply.writeHead(200, sse)
    reply.write(texts.map((text) => event({ text })).join(''), () => reply.socket?.resetAndDestroy())
  }

describe('a reply', () => {
  test('arrives as events, from one start to one end', async (t) => {
    const server = await scripted(t, says('Hel', 'lo'))
    const { events, text, reply, failure } = await call(server.url)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['reply-start', 'part-start', 'part-delta', 'part-delta', 'part-end', 'reply-end'],
    )
    assert.equal(text, 'Hello')
    // The wire said [DONE], but the toy's own end was missing: the decoder decides what that means.
    assert.equal(reply.stop.reason, 'interrupted')
    assert.equal(failure?.kind, 'malformed-reply')
    assert.equal(server.requests[0]?.body, '{"hello":true}')
    assert.equal(server.requests[0]?.headers['content-type'], 'application/json')
    assert.equal(server.requests[0]?.headers.authorization, `Bearer ${key}`)
  })

  test('in one piece is read by the same decoder', async (t) => {
    const server = await scripted(t, answers(200, { text: 'whole' }))
    const { text, reply } = await call(server.url, { whole: true })
    assert.equal(text, 'whole')
    assert.equal(reply.stop.reason, 'done')
  })

  test('in lines of JSON is read too', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, { 'content-type': 'application/x-ndjson' })
      reply.end('{"text":"line "}\n{"text":"by line"}\n{"end":true}\n')
    })
    const { text, reply } = await call(server.url, { protocol: toy({ kind: 'ndjson' }) })
    assert.equal(text, 'line by line')
    assert.equal(reply.stop.reason, 'done')
  })

  test('is decoded by its content, whatever its content type says', async (t) => {
    const named = (type: string, body: string): Play => {
      return (reply) => reply.writeHead(200, { 'content-type': type }).end(body)
    }
    const events = `${event({ text: 'Hi' })}${event({ end: true })}`
    const lines = '{"text":"Hi"}\n{"end":true}\n'
    for (const [type, body, framing] of [
      ['application/json', events, undefined],
      ['application/json', lines, { kind: 'ndjson' }],
      ['text/event-stream', '{"text":"Hi"}', undefined],
      ['text/plain', '{\n  "text": "Hi"\n}\n', undefined],
    ] as const) {
      const server = await scripted(t, named(type, body))
      const { text, reply } = await call(server.url, { protocol: toy(framing) })
      assert.deepEqual([text, reply.stop.reason], ['Hi', 'done'], `${type}: ${body}`)
    }
    const failing = await scripted(t, named('text/event-stream', '{"error":{"code":"invalid_api_key"}}'))
    assert.equal((await call(failing.url)).failure?.kind, 'auth')
    const page = await scripted(t, named('text/html', '<html>Log in</html>'))
    assert.match((await call(page.url, { retry: { retries: 0 } })).failure?.message ?? '', /not JSON: <html>Log in/)
  })

  test('may have been requested with bytes', async (t) => {
    const server = await scripted(t, says('yes'))
    await call(server.url, { body: new TextEncoder().encode('{"ü":1}') })
    assert.equal(server.requests[0]?.body, '{"ü":1}')
  })

  test('leaves its connection to the next request', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, sse)
      reply.end(event({ text: 'a' }) + event({ end: true }))
    })
    const sockets = new Set<unknown>()
    let calls = 0
    // The end of a body may come a moment after the end of the reply, so not every request finds it free in time.
    for (; calls < 20 && sockets.size === calls; calls++) {
      await call(server.url)
      sockets.add(server.requests.at(-1)?.socket)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok(sockets.size < calls)
  })
})

describe('an attempt that failed before anything was shown is repeated', () => {
  for (const status of [408, 409, 429, 500, 502, 503, 504, 529]) {
    test(`after ${status}`, async (t) => {
      const server = await scripted(t, answers(status, { error: { message: 'not now' } }), says('now'))
      const { text, retries, events } = await call(server.url)
      assert.equal(text, 'now')
      assert.equal(retries.length, 1)
      assert.equal(retries[0]?.attempt, 2)
      assert.equal(retries[0]?.failure.status, status)
      assert.equal(events.filter(({ type }) => type === 'reply-start').length, 1)
    })
  }

  test('twice, and then ends with the failure', async (t) => {
    const server = await scripted(
      t,
      answers(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    )
    const { reply, failure, waits } = await call(server.url)
    assert.equal(server.requests.length, 3)
    assert.deepEqual(waits, [500, 1000])
    assert.equal(reply.stop.reason, 'failed')
    assert.equal(failure?.kind, 'overloaded')
    assert.match(failure?.message ?? '', /^toybox answered 529: Overloaded\./)
  })

  test('with the wait that the provider asks for', async (t) => {
    const server = await scripted(
      t,
      answers(429, {}, { 'retry-after': '3' }),
      answers(429, {}, { 'retry-after-ms': '40', 'retry-after': '9' }),
      says('x'),
    )
    assert.deepEqual((await call(server.url)).waits, [3000, 40])
  })

  test('with its own delay if the header is invalid', async (t) => {
    const server = await scripted(
      t,
      answers(429, {}, { 'retry-after': '-3' }),
      answers(429, {}, { 'retry-after': 'soon' }),
      says('x'),
    )
    assert.deepEqual((await call(server.url)).waits, [500, 1000])
  })

  test('but not if the wait would be longer than a minute', async (t) => {
    const server = await scripted(t, answers(429, {}, { 'retry-after': '3600' }))
    const { failure, retries } = await call(server.url)
    assert.equal(retries.length, 0)
    assert.equal(failure?.retryAfterMs, 3_600_000)
  })

  test('if x-should-retry is true, and not if it is false', async (t) => {
    const willing = await scripted(t, answers(400, {}, { 'x-should-retry': 'true' }), says('x'))
    assert.equal((await call(willing.url)).text, 'x')
    const unwilling = await scripted(t, answers(500, {}, { 'x-should-retry': 'false' }))
    assert.equal((await call(unwilling.url)).retries.length, 0)
    assert.equal(unwilling.requests.length, 1)
  })

  for (const status of [400, 401, 402, 403, 404, 413, 422]) {
    test(`but never after ${status}`, async (t) => {
      const server = await scripted(t, answers(status, { error: { message: 'no' } }))
      const { reply, failure } = await call(server.url)
      assert.equal(server.requests.length, 1)
      assert.equal(reply.stop.reason, 'failed')
      assert.equal(failure?.status, status)
    })
  }

  test('when the connection is reset after the headers', async (t) => {
    const server = await scripted(t, cutAfter(), says('second'))
    const { text, retries } = await call(server.url)
    assert.equal(text, 'second')
    assert.equal(retries[0]?.failure.kind, 'network')
  })

  test('when an error is the first event of the stream', async (t) => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const server = await scripted(
      t,
      (reply) => {
        reply.writeHead(200, sse)
        reply.end(`event: error\n${event(overloaded)}`)
      },
      says('second'),
    )
    const { text, retries, events } = await call(server.url)
    assert.equal(text, 'second')
    assert.equal(retries[0]?.failure.kind, 'overloaded')
    assert.equal(events.filter(({ type }) => type === 'reply-start').length, 1)
  })

  test('when the stream ends before its first event', async (t) => {
    const empty: Play = (reply) => reply.writeHead(200, sse).end()
    const server = await scripted(t, empty, says('second'))
    assert.equal((await call(server.url)).text, 'second')
    const hopeless = await call((await scripted(t, empty)).url)
    assert.equal(hopeless.failure?.kind, 'malformed-reply')
    assert.match(hopeless.failure?.message ?? '', /longer than the context/)
  })

  test('when the first event is not JSON', async (t) => {
    const server = await scripted(t, (reply) => reply.writeHead(200, sse).end('data: <html>\n\n'), says('second'))
    assert.equal((await call(server.url)).text, 'second')
  })

  test('when a gateway sends an error with 200', async (t) => {
    const server = await scripted(t, answers(200, { error: { code: 503, message: 'No provider' } }), says('second'))
    const { text, retries } = await call(server.url)
    assert.equal(text, 'second')
    assert.equal(retries[0]?.failure.status, 503)
  })
})

describe('after the first output nothing is repeated, and the partial reply stays', () => {
  test('when the connection is reset', async (t) => {
    const server = await scripted(t, cutAfter('half a ', 'sentence'))
    const { text, reply, failure, retries } = await call(server.url)
    assert.equal(text, 'half a sentence')
    assert.equal(reply.stop.reason, 'interrupted')
    assert.equal(failure?.kind, 'network')
    assert.match(failure?.message ?? '', /toybox broke in the middle/)
    assert.equal(retries.length, 0)
    assert.equal(server.requests.length, 1)
  })

  test('when the stream simply ends', async (t) => {
    const server = await scripted(t, (reply) => reply.writeHead(200, sse).end(event({ text: 'half' })))
    const { text, reply } = await call(server.url)
    assert.equal(text, 'half')
    assert.equal(reply.stop.reason, 'interrupted')
    assert.equal(server.requests.length, 1)
  })

  test('when an error arrives in the stream', async (t) => {
    const server = await scripted(t, (reply) =>
      reply.writeHead(200, sse).end(event({ text: 'half' }) + event({ error: { code: 429, message: 'slow' } })),
    )
    const { text, reply, failure } = await call(server.url)
    assert.equal(text, 'half')
    assert.equal(reply.stop.reason, 'failed')
    assert.equal(failure?.kind, 'rate-limit')
    assert.equal(server.requests.length, 1)
  })

  test('when garbage arrives', async (t) => {
    const server = await scripted(t, (reply) =>
      reply.writeHead(200, sse).end(`${event({ text: 'half' })}data: {{{\n\n`),
    )
    const { text, reply, failure } = await call(server.url)
    assert.equal(text, 'half')
    assert.equal(reply.stop.reason, 'interrupted')
    assert.equal(failure?.kind, 'malformed-reply')
  })
})

describe('a stream of AWS', () => {
  const aws = { 'content-type': 'application/vnd.amazon.eventstream' }
  const frames = (...chunks: JsonObject[]) => Buffer.concat(chunks.map((chunk) => frameAwsEvent(chunk)))

  test('is read until the reply has ended, and nothing after it', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, aws).write(frames({ text: 'Hi' }, { end: true }, { text: ' again' }))
    })
    const { text, reply } = await call(server.url)
    assert.deepEqual([text, reply.stop.reason], ['Hi', 'done'])
  })

  test('keeps what came before a damaged frame, or before its end inside a frame', async (t) => {
    const damaged = frames({ text: 'half' }, { text: 'of it' })
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1
    const cut = frames({ text: 'half' }, { text: 'of it' }).subarray(0, -3)
    for (const [body, says] of [
      [damaged, /a frame whose checksum is wrong/],
      [cut, /ends in the middle of a frame/],
    ] as const) {
      const server = await scripted(t, (reply) => reply.writeHead(200, aws).end(body))
      const { text, reply, failure } = await call(server.url)
      assert.deepEqual([text, reply.stop.reason, failure?.kind], ['half', 'interrupted', 'malformed-reply'])
      assert.match(failure?.message ?? '', says)
    }
  })

  test('that is larger than what is kept of a reply is not read further', async (t) => {
    const server = await scripted(t, (reply) => {
      reply.writeHead(200, aws).write(frames({ text: 'x'.repeat(400) }, { text: 'y' }))
    })
    const { text, failure } = await call(server.url, { limits: { contentSize: 500 } })
    assert.deepEqual([text, failure?.code], ['x'.repeat(400), 'reply-size'])
  })
})

describe('waiting for the next attempt', () => {
  test('that fails on its own fails the call, and no further attempt is made', async (t) => {
    const server = await scripted(t, answers(500, {}))
    const broken = async () => Promise.reject(new RangeError('no clock'))
    await assert.rejects(call(server.url, { sleep: broken }), /no clock/)
    assert.equal(server.requests.length, 1)
  })

  test('is not begun once the budget for retries is used up, and that is reported', async (t) => {
    const server = await scripted(t, answers(500, {}))
    const budget = { countRequest: () => {}, take: () => false }
    const { events, failure, retries } = await call(server.url, { budget })
    assert.deepEqual(
      events.map(({ type }) => type),
      ['no-retry', 'reply-start', 'reply-end'],
    )
    assert.deepEqual([failure?.status, retries.length, server.requests.length], [500, 0, 1])
  })

  test('takes as long as it says, on the clock of the machine', async (t) => {
    const server = await scripted(t, answers(429, {}, { 'retry-after-ms': '30' }), says('now'))
    const began = performance.now()
    const { sleep: _sleep, ...byDefault } = callOf(server.url)
    for await (const _ of streamReply(byDefault));
    assert.ok(performance.now() - began >= 29)
    assert.equal(server.requests.length, 2)
  })
})

test('the text that a part begins with counts towards the size of a reply, like its media', async (t) => {
  const long = 'x'.repeat(600)
  for (const part of [
    { type: 'text', text: long },
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: long } },
  ] as const) {
    const begins = (from: Origin): Decoder => ({
      push: () => [
        { type: 'reply-start', origin: from },
        { type: 'part-start', index: 0, part },
      ],
      end: (cause) => {
        const failure = cause && 'failure' in cause ? cause.failure : undefined
        const stop: Stop = { reason: cause?.reason ?? 'done' }
        return [{ type: 'reply-end', origin: from, stop, native: [], ...(failure && { failure }) }]
      },
      done: false,
    })
    const server = await scripted(t, says('a'))
    const limited = (contentSize: number) =>
      call(server.url, { protocol: { ...toy(), decoder: begins }, limits: { contentSize } })
    // 256 for the part itself.
    assert.equal((await limited(855)).failure?.code, 'reply-size')
    assert.equal((await limited(856)).failure, undefined)
  }
})

test('a reply that was complete before it was cancelled stays complete', async (t) => {
  const server = await scripted(t, (reply) =>
    reply.writeHead(200, sse).end(event({ text: 'Hi' }) + event({ end: true })),
  )
  const stop = new AbortController()
  const split = toy()
  const protocol = {
    ...split,
    decoder: (...given: Parameters<typeof split.decoder>) => {
      const inner = split.decoder(...given)
      return {
        ...inner,
        push(chunk: Json) {
          const events = inner.push(chunk)
          if (inner.done) stop.abort()
          return events
        },
        get done() {
          return inner.done
        },
      }
    },
  }
  const { reply } = await call(server.url, { protocol, signal: stop.signal })
  assert.equal(reply.stop.reason, 'done')
})

test('a redirect without an address, of a provider without a name, is described without either', async (t) => {
  const server = await scripted(t, answers(302, ''))
  const { provider: _name, ...unnamed } = callOf(server.url)
  const events: (ReplyEvent | RetryEvent)[] = []
  for await (const one of streamReply(unnamed)) events.push(one)
  assert.match(
    summed(events).failure?.message ?? '',
    /^The provider answered 302 with a redirect\. It was not followed/,
  )
})

describe('a provider that cannot be reached', () => {
  test('because nothing listens is a network failure with that reason', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    probe.close()
    await once(probe, 'close')
    const { failure, retries } = await call(`http://127.0.0.1:${port}/v1`)
    assert.equal(failure?.kind, 'network')
    assert.equal(failure?.code, 'ECONNREFUSED')
    assert.equal(
      failure?.message,
      `toybox could not be reached at 127.0.0.1:${port}: nothing listens there; check that the server runs (ECONNREFUSED).`,
    )
    assert.equal(retries.length, 2)
  })

  test('because the other side does not support TLS is distinguished from other failures', async (t) => {
    const server = await scripted(t, says('x'))
    const { failure } = await call(server.url.replace('http:', 'https:'), { retry: { retries: 0 } })
    assert.equal(failure?.kind, 'network')
    assert.match(failure?.message ?? '', /secure connection/)
  })

  const thrown: [string, string, RegExp][] = [
    ['ENOTFOUND', 'network', /host name was not found/],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout', /too long/],
    ['CERT_HAS_EXPIRED', 'network', /certificate/],
    ['HPE_INVALID_CONSTANT', 'malformed-reply', /does not speak HTTP/],
  ]
  for (const [code, kind, words] of thrown) {
    test(`because of ${code} is ${kind}`, async () => {
      const cause = Object.assign(new Error('low level'), { code })
      const broken = () => Promise.reject(new TypeError('fetch failed', { cause }))
      const { failure } = await call('https://toybox.example/v1', { fetch: broken })
      assert.equal(failure?.kind, kind)
      assert.match(failure?.message ?? '', words)
    })
  }

  test('because of a mistake in the program is an error of the program', async () => {
    await assert.rejects(call('not a url'), TypeError)
    await assert.rejects(
      call('http://127.0.0.1:1/', { fetch: () => Promise.reject(new RangeError('bug')) }),
      RangeError,
    )
  })

  test('for a reason that is not known is a network failure with its code', () => {
    const failed = (code: string) => networkFailure(Object.assign(new Error('x'), { code }), 'http://a.example:9/v1')
    assert.deepEqual(failed('EADDRNOTAVAIL'), {
      kind: 'network',
      code: 'EADDRNOTAVAIL',
      message: 'The provider could not be reached at a.example:9: the connection failed (EADDRNOTAVAIL).',
    })
    assert.equal(failed('UND_ERR_INFO')?.kind, 'network')
    assert.equal(failed('ERR_INVALID_ARG_TYPE'), undefined)
    assert.equal(
      networkFailure(new TypeError('fetch failed'), 'nonsense')?.message,
      'The provider could not be reached at its address: the connection failed.',
    )
    assert.equal(networkFailure(new Error('fetch failed'), 'http://a.example'), undefined)
  })
})
