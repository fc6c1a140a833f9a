// The limits of time, on a clock that only the test moves: each holds to the millisecond, and nothing else ends a reply.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReplyEvent } from '../../src/core/event.ts'
import { frameAwsEvent } from '../../src/transport/aws-events.ts'
import { defaultLimits } from '../../src/transport/limits.ts'
import { streamReply, type ReplyCall, type RetryEvent } from '../../src/transport/reply.ts'
import { callOf, summed, type Called } from './calling.ts'
import { fakeClock, sentReply, settled } from './fake-clock.ts'
import { event } from './scripted-server.ts'

const { headersMs, wholeMs, byteIdleMs, eventIdleMs, thinkingIdleMs } = defaultLimits

function asked(more: Partial<ReplyCall> = {}) {
  const clock = fakeClock()
  const sent = sentReply()
  const events: (ReplyEvent | RetryEvent)[] = []
  let ended: Called | undefined
  const call = callOf('http://toybox.example/', { fetch: sent.fetch, clock, retry: { retries: 0 }, ...more })
  const done = (async () => {
    for await (const piece of streamReply(call)) events.push(piece)
    ended = summed(events)
    return ended
  })()
  return {
    clock,
    sent,
    done,
    ended: () => ended,
  }
}

type Asked = ReturnType<typeof asked>

/** Nothing ends it a millisecond before, and this does when the millisecond is over. */
async function endsAfter(call: Asked, ms: number, says: RegExp): Promise<Called> {
  await call.clock.pass(ms - 1)
  await settled()
  assert.equal(call.ended(), undefined, `it ended before ${ms} ms`)
  await call.clock.pass(1)
  await settled()
  const ended = call.ended() ?? assert.fail(`it did not end after ${ms} ms`)
  assert.equal(ended.failure?.kind, 'timeout')
  assert.match(ended.failure.message, says)
  assert.equal(call.clock.waiting, 0, 'no timer is left')
  return ended
}

describe('the limit', () => {
  test('for headers ends a request without an answer', async () => {
    const call = asked()
    const { reply } = await endsAfter(call, headersMs, /^toybox did not begin to answer within 120 s\./)
    assert.equal(reply.stop.reason, 'failed')
  })

  test('for a complete reply is longer, and lasts until its headers arrive', async () => {
    assert.ok(wholeMs > headersMs)
    await endsAfter(asked({ whole: true }), wholeMs, /did not begin to answer within 600 s/)
  })

  test('for bytes ends a reply that falls silent, with its partial text, and counts from its last byte', async () => {
    const call = asked()
    await call.clock.pass(headersMs - 1)
    call.sent.headers()
    await settled()
    await call.clock.pass(byteIdleMs - 1)
    await call.sent.write(event({ text: 'half' }))
    const { text, reply } = await endsAfter(call, byteIdleMs, /went silent in the middle of the reply, for 90 s/)
    assert.equal(text, 'half')
    assert.equal(reply.stop.reason, 'interrupted')
  })

  for (const [name, alive] of [
    ['comments', ': keep-alive\n\n'],
    ['pings', event({ type: 'ping' })],
  ] as const) {
    test(`for events is not moved by ${name}, however many come`, async () => {
      const call = asked()
      call.sent.headers()
      await call.sent.write(event({ text: 'half' }))
      const everyMs = 1000
      for (let passed = 0; passed < eventIdleMs - everyMs; passed += everyMs) {
        await call.clock.pass(everyMs)
        await call.sent.write(alive)
      }
      const { text } = await endsAfter(call, everyMs, /sent nothing but keep-alives for 180 s/)
      assert.equal(text, 'half')
    })
  }

  test('for events is not moved by pings of an event stream of AWS, and is by its other events', async () => {
    const aws = 'application/vnd.amazon.eventstream'
    const silent = asked()
    silent.sent.headers(aws)
    await silent.sent.write(frameAwsEvent({ text: 'half' }))
    for (let i = 0; i < 2; i++) {
      await silent.clock.pass(eventIdleMs / 3)
      await silent.sent.write(frameAwsEvent({ ping: {} }))
    }
    await endsAfter(silent, eventIdleMs / 3, /sent nothing but keep-alives for 180 s/)

    const alive = asked()
    alive.sent.headers(aws)
    for (let i = 0; i < 10; i++) {
      await alive.sent.write(frameAwsEvent({ text: 'x' }))
      await alive.clock.pass(byteIdleMs - 1)
    }
    await alive.sent.write(frameAwsEvent({ end: true }))
    assert.equal((await alive.done).text, 'x'.repeat(10))
  })

  test('for events is moved by every event that says something', async () => {
    const call = asked()
    call.sent.headers()
    for (let i = 0; i < 10; i++) {
      await call.sent.write(event({ text: 'x' }))
      await call.clock.pass(byteIdleMs - 1)
    }
    await call.sent.write(event({ end: true }))
    const { text, failure } = await call.done
    assert.equal(text, 'x'.repeat(10))
    assert.equal(failure, undefined)
    assert.equal(call.clock.waiting, 0)
  })

  test('for events is longer while the model thinks, and no longer after that', async () => {
    const thinks = asked()
    thinks.sent.headers()
    await thinks.sent.write(event({ think: 'hm' }))
    const everyMs = byteIdleMs - 1
    let left = thinkingIdleMs
    for (; left > everyMs; left -= everyMs) {
      await thinks.clock.pass(everyMs)
      await thinks.sent.write(': keep-alive\n\n')
    }
    await endsAfter(thinks, left, /keep-alives for 600 s/)

    const speaks = asked()
    speaks.sent.headers()
    await speaks.sent.write(event({ think: 'hm' }) + event({ text: 'so' }))
    for (let i = 0; i < 2; i++) {
      await speaks.clock.pass(eventIdleMs / 3)
      await speaks.sent.write(': keep-alive\n\n')
    }
    await endsAfter(speaks, eventIdleMs / 3, /keep-alives for 180 s/)
  })
})

test('the time without a reader does not count', async () => {
  const clock = fakeClock()
  const sent = sentReply()
  const events: (ReplyEvent | RetryEvent)[] = []
  const reader = Promise.withResolvers<void>()
  const call = callOf('http://toybox.example/', { fetch: sent.fetch, clock, retry: { retries: 0 } })
  const done = (async () => {
    for await (const piece of streamReply(call)) {
      events.push(piece)
      if (piece.type === 'part-delta') await reader.promise
    }
  })()
  sent.headers()
  await sent.write(event({ text: 'a' }))
  await clock.pass(10 * thinkingIdleMs)
  reader.resolve()
  await settled()
  await clock.pass(byteIdleMs - 1)
  await sent.write(event({ end: true }))
  await done
  assert.equal(summed(events).reply.stop.reason, 'done')
})
