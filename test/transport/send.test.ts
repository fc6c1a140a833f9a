// One attempt, with a reply from memory: which chunks are passed on, and when reading stops.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import { frameAwsEvent } from '../../src/transport/aws-events.ts'
import { send, SendError, type Fetch } from '../../src/transport/send.ts'
import { aws, chunksOf, event, events, json, memory, type Memory } from './from-memory.ts'
import { toy } from './toy-protocol.ts'

describe('a reply', () => {
  test('is read in the framing of its wire, whatever the pieces', async () => {
    const two = [event({ a: 1 }), event({ b: 2 })].join('')
    assert.deepEqual((await chunksOf({ headers: events, pieces: [two.slice(0, 9), two.slice(9)] })).chunks, [
      { a: 1 },
      { b: 2 },
    ])
    const lines = { headers: { 'content-type': 'application/x-ndjson' }, pieces: ['{"a":1}\n{"b"', ':2}'] }
    assert.deepEqual((await chunksOf(lines, { framing: { kind: 'ndjson' } })).chunks, [{ a: 1 }, { b: 2 }])
    assert.deepEqual((await chunksOf({ headers: json, pieces: ['{"text":', '"é"}'] })).chunks, [
      { text: 'é' },
      { end: true },
    ])
    for (const type of ['application/json; charset=utf-8', 'application/problem+json']) {
      assert.equal(
        (await chunksOf({ headers: { 'content-type': type }, pieces: ['{"text":"a"}'] })).chunks.length,
        2,
        type,
      )
    }
    assert.deepEqual((await chunksOf({ pieces: [event({ a: 1 })] })).chunks, [{ a: 1 }], 'without a type')
  })

  test('has its characters whole, wherever its bytes are cut', async () => {
    const words = { text: 'é☕👋' }
    for (const [headers, body, framing, expected] of [
      [events, event(words), undefined, [words]],
      [{ 'content-type': 'application/x-ndjson' }, `${JSON.stringify(words)}\n`, { kind: 'ndjson' }, [words]],
      [json, JSON.stringify(words), undefined, [words, { end: true }]],
    ] as const) {
      const bytes = Buffer.from(body)
      for (let at = 1; at < bytes.length; at++) {
        const pieces = [bytes.subarray(0, at), bytes.subarray(at)]
        const { chunks } = await chunksOf({ headers, pieces }, framing && { framing })
        assert.deepEqual(chunks, expected, `${headers['content-type']} at ${at}`)
      }
    }
    const refused = Buffer.from('{"error":{"message":"é☕👋"}}')
    for (let at = 1; at < refused.length; at++) {
      const pieces = [refused.subarray(0, at), refused.subarray(at)]
      const { failure } = await chunksOf({ status: 400, headers: json, pieces })
      assert.match(failure?.message ?? '', /é☕👋/, `an error at ${at}`)
    }
  })

  test('that is labelled as something else is read by what it is', async () => {
    assert.deepEqual((await chunksOf({ headers: json, pieces: [event({ a: 1 }), event({ b: 2 })] })).chunks, [
      { a: 1 },
      { b: 2 },
    ])
    assert.deepEqual((await chunksOf({ headers: events, pieces: ['{"text":"a"}'] })).chunks, [
      { text: 'a' },
      { end: true },
    ])
    const broken = await chunksOf({ headers: json, pieces: [event({ a: 1 }), 'data: {"b"\n\n', event({ c: 3 })] })
    assert.deepEqual([broken.chunks, broken.failure?.kind], [[{ a: 1 }], 'malformed-reply'])
    const page = await chunksOf({ headers: events, pieces: ['<html>no</html>'] })
    assert.match(page.failure?.message ?? '', /not JSON: <html>no/)
    assert.equal(page.failure?.kind, 'malformed-reply')
    assert.deepEqual((await chunksOf({ headers: events, pieces: [': keep-alive\n\n'] })).chunks, [])
    assert.deepEqual((await chunksOf({ headers: json, pieces: [' '] })).chunks, [])
    const error = await chunksOf({ headers: json, pieces: ['{"error":{"message":"busy"}}'] })
    assert.match(error.failure?.message ?? '', /busy/)
    const own = await chunksOf({ headers: json, pieces: ['{"id":"r","error":{"message":"busy"},"text":"a"}'] })
    assert.equal(own.failure, undefined, 'a reply that reports its own failure')
  })

  test('is not read further once it is done, stopped or too large', async () => {
    const pieces = [event({ a: 1 }), event({ b: 2 }), event({ c: 3 })]
    let isDone = false
    const progress = { isDone: () => isDone, isThinking: () => false }
    const { fetch, state, asked } = memory({ headers: events, pieces })
    const attempt = { protocol: toy(), url: 'https://toy.example/', headers: {}, body: '', fetch }
    const taken: Json[] = []
    await send({ ...attempt, progress }, (chunk) => {
      taken.push(chunk)
      isDone = true
      return undefined
    })
    assert.deepEqual(taken, [{ a: 1 }])
    assert.equal(asked[0]?.signal?.aborted, false, 'the connection of a complete reply stays')
    const stopped: Json[] = []
    const again = memory({ headers: events, pieces: [pieces.join('')] })
    await send({ ...attempt, fetch: again.fetch }, (chunk) => (stopped.push(chunk) === 2 ? 'stop' : undefined))
    assert.deepEqual(stopped, [{ a: 1 }, { b: 2 }])
    assert.equal(again.asked[0]?.signal?.aborted, true, 'the rest is not wanted')
    const waited: Json[] = []
    const third = memory({ headers: events, pieces: [pieces.join('')] })
    await send({ ...attempt, fetch: third.fetch }, async (chunk) => void waited.push(chunk))
    assert.deepEqual(waited, [{ a: 1 }, { b: 2 }, { c: 3 }])
    assert.equal(third.asked[0]?.signal?.aborted, false, 'a connection that is read to its end stays')
    assert.ok(state.read >= 1)
    const size = pieces.join('').length
    const large = (replySize: number) => chunksOf({ headers: events, pieces }, { limits: { replySize } })
    assert.equal((await large(size)).failure, undefined)
    assert.equal((await large(size - 1)).failure?.kind, 'limit')
    const unheard = (eventSize: number) =>
      chunksOf({ headers: events, pieces: [': 1\n', ': 2\n'] }, { limits: { eventSize } })
    assert.equal((await unheard(8)).failure, undefined)
    assert.match((await unheard(7)).failure?.message ?? '', /A reply without a single event is larger than 7 bytes/)
  })

  test('in frames of AWS is read to its end, and one that is cut fails after its chunks', async () => {
    const frames = [frameAwsEvent({ a: { x: 1 } }), frameAwsEvent({ b: { x: 2 } })]
    assert.deepEqual((await chunksOf({ headers: aws, pieces: frames })).chunks, [{ a: { x: 1 } }, { b: { x: 2 } }])
    const cut = await chunksOf({ headers: aws, pieces: [Buffer.concat(frames).subarray(0, -1)] })
    assert.deepEqual(
      [cut.chunks, cut.failure?.message],
      [[{ a: { x: 1 } }], 'The event stream ends in the middle of a frame.'],
    )
    const damaged = Buffer.concat([frames[0] as Buffer, Buffer.alloc(40)])
    assert.match((await chunksOf({ headers: aws, pieces: [damaged] })).failure?.message ?? '', /checksum/)
    const { fetch, asked } = memory({ headers: aws, pieces: [Buffer.concat(frames)] })
    const attempt = { protocol: toy(), url: 'https://toy.example/', headers: {}, body: '', fetch }
    const taken: Json[] = []
    await send(attempt, (chunk) => {
      taken.push(chunk)
      return 'stop'
    })
    assert.deepEqual([taken.length, asked[0]?.signal?.aborted], [1, true])
    const done = { isDone: () => true, isThinking: () => false }
    const { fetch: second, asked: asks } = memory({ headers: aws, pieces: [Buffer.concat(frames)] })
    const first: Json[] = []
    await send({ ...attempt, fetch: second, progress: done }, async (chunk) => void first.push(chunk))
    assert.deepEqual([first.length, asks[0]?.signal?.aborted], [1, false])
  })
})

describe('the reader of a reply', () => {
  const attempt = { protocol: toy(), url: 'https://toy.example/', headers: {}, body: '' }

  test('gets each chunk only when the one before is done with, whatever the form of the reply', async () => {
    const frames = Buffer.concat([frameAwsEvent({ a: {} }), frameAwsEvent({ b: {} })])
    const replies: Memory[] = [
      { headers: json, pieces: ['{"text":"a"}'] },
      { headers: events, pieces: [event({ a: 1 }) + event({ b: 2 })] },
      { headers: events, pieces: ['data: {"a":1}\n\ndata: {"b":2}'] },
      { headers: aws, pieces: [frames] },
    ]
    for (const reply of replies) {
      const order: string[] = []
      await send({ ...attempt, fetch: memory(reply).fetch }, async () => {
        order.push('begins')
        await new Promise(setImmediate)
        order.push('ends')
      })
      assert.deepEqual(order, ['begins', 'ends', 'begins', 'ends'])
    }
  })

  test('gets each line of JSON when it arrives, and leaves the connection once the reply is done', async () => {
    const { fetch, state } = memory({ pieces: ['{"a":1}\n', '{"b":2}\n'] })
    const reads: number[] = []
    await send({ ...attempt, protocol: toy({ kind: 'ndjson' }), fetch }, () => void reads.push(state.read))
    assert.deepEqual(reads, [1, 2])
    let isDone = false
    const progress = { isDone: () => isDone, isThinking: () => false }
    const done = memory({ headers: events, pieces: [event({ a: 1 }) + event({ b: 2 })] })
    const chunks: Json[] = []
    await send({ ...attempt, fetch: done.fetch, progress }, async (chunk) => {
      chunks.push(chunk)
      isDone = true
    })
    assert.deepEqual([chunks, done.asked[0]?.signal?.aborted], [[{ a: 1 }], false])
  })

  test('has its own errors thrown unchanged, even one that looks like one of the network', async () => {
    const own = Object.assign(new Error('mine'), { code: 'ECONNRESET' })
    for (const reply of [
      { headers: json, pieces: ['{"text":"a"}'] },
      { headers: events, pieces: [event({ a: 1 })] },
    ]) {
      const thrown = send({ ...attempt, fetch: memory(reply).fetch }, () => Promise.reject(own))
      await assert.rejects(thrown, (error) => error === own)
    }
    const lost: Fetch = () => Promise.reject(own)
    await assert.rejects(
      send({ ...attempt, fetch: lost }, () => undefined),
      (error) => error instanceof SendError,
    )
  })

  test('gets nothing of a reply without a body', async () => {
    const fetch: Fetch = async () => ({ status: 200, headers: new Headers(events), body: null, text: async () => '' })
    const chunks: Json[] = []
    await send({ ...attempt, fetch }, (chunk) => void chunks.push(chunk))
    assert.deepEqual(chunks, [])
    const refused: Fetch = async () => ({ status: 500, headers: new Headers(), body: null, text: async () => '' })
    await assert.rejects(
      send({ ...attempt, fetch: refused }, () => undefined),
      /500 without saying why/,
    )
  })
})
