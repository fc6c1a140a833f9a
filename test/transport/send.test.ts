// One attempt, with a reply from memory: which chunks are passed on, when reading stops, and what each failure says.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import type { ReplyEvent } from '../../src/core/event.ts'
import type { Json } from '../../src/core/json.ts'
import type { Part } from '../../src/core/message.ts'
import { frameAwsEvent } from '../../src/transport/aws-events.ts'
import { defaultLimits } from '../../src/transport/limits.ts'
import { unframeNdjson } from '../../src/transport/ndjson.ts'
import { hasEvents, readRecording } from '../../src/transport/recording.ts'
import { streamReply } from '../../src/transport/reply.ts'
import { retryBudget } from '../../src/transport/retry-budget.ts'
import { send, SendError, type Attempt, type Fetch } from '../../src/transport/send.ts'
import { notJson, sizeText, tooLarge } from '../../src/transport/unframe.ts'
import { watch } from '../../src/transport/watch.ts'
import type { Framing } from '../../src/wires/wire.ts'
import { callOf } from './calling.ts'
import { fakeClock } from './fake-clock.ts'
import { origin, toy } from './toy-protocol.ts'

interface Memory {
  status?: number
  headers?: Record<string, string>
  pieces?: (string | Uint8Array)[]
}

interface Asked {
  url: string
  headers: Record<string, string>
  signal: AbortSignal | undefined
}

/** A server that gives these replies, one after the other, and remembers what was asked. */
function memory(...replies: Memory[]) {
  const asked: Asked[] = []
  const state = { read: 0, cancelled: 0 }
  const fetch: Fetch = async (url, { headers, signal }) => {
    asked.push({ url, headers, signal })
    const { status = 200, headers: given = {}, pieces = [] } = replies[asked.length - 1] ?? {}
    const left = pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece))
    const cancel = async () => void state.cancelled++
    const read = async () => {
      const value = left.shift()
      if (value) state.read++
      return value ? { done: false, value } : { done: true }
    }
    const text = async () => Buffer.concat(left).toString()
    return { status, headers: new Headers(given), body: { getReader: () => ({ read, cancel }), cancel }, text }
  }
  return { fetch, asked, state }
}

const events = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json' }
const aws = { 'content-type': 'application/vnd.amazon.eventstream' }
const event = (chunk: Json) => `data: ${JSON.stringify(chunk)}\n\n`

async function chunksOf(reply: Memory, more: Partial<Attempt> & { framing?: Framing } = {}) {
  const { fetch, asked, state } = memory(reply)
  const chunks: Json[] = []
  const { framing, ...rest } = more
  const attempt: Attempt = {
    protocol: toy(framing),
    url: 'https://toy.example/v1/chat',
    headers: { authorization: 'Bearer canary-0123456789-abcdef' },
    body: '{}',
    fetch,
    ...rest,
  }
  let error: unknown
  try {
    await send(attempt, (chunk) => void chunks.push(chunk))
  } catch (thrown) {
    error = thrown
  }
  return { chunks, asked, state, failure: error instanceof SendError ? error.failure : undefined, error }
}

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
    const progress = { done: false, thinking: false }
    const { fetch, state, asked } = memory({ headers: events, pieces })
    const attempt = { protocol: toy(), url: 'https://toy.example/', headers: {}, body: '', fetch }
    const taken: Json[] = []
    await send({ ...attempt, progress }, (chunk) => {
      taken.push(chunk)
      progress.done = true
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
    const done = { done: true, thinking: false }
    const { fetch: second, asked: asks } = memory({ headers: aws, pieces: [Buffer.concat(frames)] })
    const first: Json[] = []
    await send({ ...attempt, fetch: second, progress: done }, async (chunk) => void first.push(chunk))
    assert.deepEqual([first.length, asks[0]?.signal?.aborted], [1, false])
  })
})

describe('a failure', () => {
  test('is described by its body, without the key, and with what the provider says about a retry', async () => {
    const refused = (headers: Record<string, string>, body = '{"error":{"message":"busy"}}', status = 503) =>
      chunksOf({ status, headers, pieces: [body] }, { provider: 'toybox' })
    const advised = async (value: string) => ((await refused({ 'x-should-retry': value })).error as SendError).advised
    assert.deepEqual([await advised('true'), await advised('false'), await advised('x')], [true, false, undefined])
    assert.equal((await refused({})).failure?.kind, 'overloaded')
    assert.match((await refused({}, 'plain words', 400)).failure?.message ?? '', /toybox answered 400: plain words/)
    const leaked = await refused({}, 'wrong key canary-0123456789-abcdef', 400)
    assert.doesNotMatch(leaked.failure?.message ?? '', /canary/)
    const whole = await refused({}, 'x'.repeat(64 * 1024 + 1), 400)
    assert.equal(String(whole.failure?.raw).length, 64 * 1024)
    assert.equal((await refused({}, '', 199)).failure?.status, undefined)
    assert.equal((await refused({}, '', 400)).failure?.status, 400)
  })

  test('is a redirect that was not followed, with its address if it has one', async () => {
    const redirected = async (location?: string, status = 302) =>
      (await chunksOf({ status, headers: location === undefined ? {} : { location } })).failure
    assert.match(
      (await redirected('/other?key=1'))?.message ?? '',
      /redirect to https:\/\/toy\.example\/other\. It was/,
    )
    assert.match((await redirected())?.message ?? '', /^The provider answered 302 with a redirect\. It was/)
    assert.match((await redirected('http://['))?.message ?? '', /with a redirect\. It was/)
    assert.equal((await redirected(undefined, 399))?.kind, 'invalid-request')
    assert.match((await redirected(undefined, 300))?.message ?? '', /redirect/)
  })

  test('of the callback, of a header and of a cancelled request is told apart', async () => {
    const { fetch } = memory({ headers: events, pieces: [event({ a: 1 })] })
    const attempt = { protocol: toy(), url: 'https://toy.example/', headers: {}, body: '', fetch }
    const own = new Error('mine')
    await assert.rejects(
      send(attempt, () => {
        throw own
      }),
      (error) => error === own,
    )
    const later = memory({ headers: events, pieces: [event({ a: 1 })] })
    await assert.rejects(
      send({ ...attempt, fetch: later.fetch }, () => Promise.reject(own)),
      (error) => error === own,
    )
    for (const headers of [{ 'a b': 'c' }, { a: 'b\nc' }, { a: 'b\u0100' }]) {
      await assert.rejects(
        send({ ...attempt, headers: headers }, () => undefined),
        /has a value that cannot be sent/,
      )
    }
    const sent = memory({ headers: events })
    await send({ ...attempt, fetch: sent.fetch, headers: { 'X-Name': ' v\u00e9 ' } }, () => undefined)
    assert.deepEqual(sent.asked[0]?.headers, { 'content-type': 'application/json', 'x-name': 'vé' })
    const cancelled = await chunksOf(
      { headers: events },
      { signal: AbortSignal.abort(), fetch: () => Promise.reject(new Error('x')) },
    )
    assert.equal(cancelled.failure?.kind, 'aborted')
  })

  test('that a new authorisation may fix is tried once more with it', async () => {
    const { fetch, asked, state } = memory({ status: 401 }, { headers: events, pieces: [event({ a: 1 })] })
    let key = 0
    const authorize = {
      headers: async () => ({ authorization: `key-${++key}` }),
      again: ({ status }: { status: number }) => status === 401,
    }
    const chunks: Json[] = []
    const attempt = { protocol: toy(), url: 'https://toy.example/', headers: {}, body: '', fetch, authorize }
    await send(attempt, (chunk) => void chunks.push(chunk))
    assert.deepEqual(
      asked.map(({ headers }) => headers['authorization']),
      ['key-1', 'key-2'],
    )
    assert.deepEqual([chunks, state.cancelled], [[{ a: 1 }], 1])
    const other = memory({ status: 403 }, {})
    await assert.rejects(send({ ...attempt, fetch: other.fetch }, () => undefined))
    assert.equal(other.asked.length, 1)
    const fine = memory({ headers: events })
    await send({ ...attempt, fetch: fine.fetch, authorize: { ...authorize, again: () => true } }, () => undefined)
    assert.equal(fine.asked.length, 1, 'a good reply is not asked for again')
  })
})

describe('a recorded reply', () => {
  test('is a whole body, a list of chunks, events, lines or frames', () => {
    const read = (text: string, framing?: Framing) => readRecording(toy(framing), text)
    assert.deepEqual(read('{"text":"a"}').chunks, [{ text: 'a' }, { end: true }])
    assert.deepEqual(read('[{"a":1},{"b":2}]').chunks, [{ a: 1 }, { b: 2 }])
    assert.deepEqual(read(event({ a: 1 }) + event({ b: 2 })).chunks, [{ a: 1 }, { b: 2 }])
    assert.deepEqual(read('{"a":1}\n{"b":2}').chunks, [{ a: 1 }, { b: 2 }])
    assert.deepEqual(read('{"a":1}\n{"b":2}\n', { kind: 'ndjson' }).chunks, [{ a: 1 }, { b: 2 }])
    const frames = Buffer.concat([frameAwsEvent({ a: {} }), frameAwsEvent({ b: {} })])
    assert.deepEqual(read(frames.toString('base64')), { chunks: [{ a: {} }, { b: {} }] })
    const cut = read(frames.subarray(0, -3).toString('base64'))
    assert.deepEqual(
      [cut.chunks, cut.failure?.message],
      [[{ a: {} }], 'The event stream ends in the middle of a frame.'],
    )
    assert.deepEqual(read(frames.toString('base64'), { kind: 'ndjson' }).chunks, [])
    const broken = read('{"a":1}\nnot json\n')
    assert.deepEqual([broken.chunks, broken.failure?.kind], [[{ a: 1 }], 'malformed-reply'])
    assert.equal('failure' in read('{"a":1}\n{"b":2}'), false)
  })

  test('has events if a line begins like one', () => {
    for (const text of ['data: x', 'event: x', 'id: 1', 'retry: 1', ': comment', 'x\ndata:'])
      assert.equal(hasEvents(text), true, text)
    for (const text of ['x data: y', '{"a": 1}', 'dat: x']) assert.equal(hasEvents(text), false, text)
  })
})

describe('lines of JSON', () => {
  test('may have exactly the allowed size, in any number of pieces, and blank ones are skipped', () => {
    const line = '{"a":12}'
    const read = (size: number, ...pieces: string[]) => {
      const unframer = unframeNdjson(size)
      const chunks = pieces.flatMap((piece) => unframer.push(piece))
      return { chunks: [...chunks, ...unframer.flush()], trouble: unframer.trouble?.kind, done: unframer.done }
    }
    const fine = { chunks: [{ a: 12 }], trouble: undefined, done: false }
    assert.deepEqual(read(8, `${line}\n`), fine)
    assert.deepEqual(read(8, ...line.split(''), '\n'), fine)
    assert.deepEqual(read(8, line), fine)
    assert.deepEqual(read(8, '\n \n', `${line}\n\n`), fine)
    assert.deepEqual(read(7, `${line}\n`), { chunks: [], trouble: 'limit', done: false })
    assert.deepEqual(read(7, ...line.split('')), { chunks: [], trouble: 'limit', done: false })
    assert.deepEqual(read(8, `${line}\n${line}\n`).chunks, [{ a: 12 }, { a: 12 }], 'the size is that of one line')
    assert.deepEqual(read(8, `${line}\nx\n${line}\n`), { chunks: [{ a: 12 }], trouble: 'malformed-reply', done: false })
    assert.deepEqual(read(20, '{"a":12}\n{"a"'), fine, 'an incomplete last line')
  })

  test('that are no JSON are shown up to two hundred characters, and sizes in MiB from one on', () => {
    assert.match(notJson('x'.repeat(200)).message, /: x{200}$/)
    assert.match(notJson('x'.repeat(201)).message, /: x{200}…$/)
    assert.deepEqual(
      [sizeText(1024 * 1024), sizeText(1024 * 1024 - 1), sizeText(3 * 1024 * 1024)],
      ['1 MiB', '1048575 bytes', '3 MiB'],
    )
    assert.equal(tooLarge('It', 5).kind, 'limit')
  })
})

describe('the size of a reply', () => {
  /** A wire whose chunks are events. */
  const wire = () => ({
    ...toy(),
    decoder: () => ({
      push: (chunk: Json) => [chunk as unknown as ReplyEvent],
      end: (cause: unknown) => [
        { type: 'reply-end', origin, stop: { reason: cause ? 'interrupted' : 'done' }, native: [] } as ReplyEvent,
      ],
      done: false,
    }),
  })
  const reason = async (contentSize: number | undefined, ...parts: (Part | string)[]) => {
    const chunks = parts.map((part, index) =>
      typeof part === 'string' ? { type: 'part-delta', index, text: part } : { type: 'part-start', index, part },
    )
    const { fetch } = memory({ headers: events, pieces: chunks.map((chunk) => event(chunk as Json)) })
    const call = callOf('https://toy.example/', {
      protocol: wire(),
      fetch,
      ...(contentSize !== undefined && { limits: { contentSize } }),
    })
    let last: unknown
    for await (const one of streamReply(call)) if (one.type === 'reply-end') last = one.stop.reason
    return last
  }

  test('counts texts, the bytes of media, and something for each part', async () => {
    const media = (data: object) => ({ type: 'media', mediaType: 'image/png', data }) as Part
    assert.equal(await reason(5, 'abcde'), 'done')
    assert.equal(await reason(4, 'abcde'), 'interrupted')
    assert.equal(await reason(256 + 3, { type: 'text', text: 'abc' }), 'done')
    assert.equal(await reason(256 + 2, { type: 'text', text: 'abc' }), 'interrupted')
    assert.equal(await reason(256 + 4, media({ kind: 'base64', base64: 'AAAA' })), 'done')
    assert.equal(await reason(256 + 3, media({ kind: 'base64', base64: 'AAAA' })), 'interrupted')
    assert.equal(await reason(256, media({ kind: 'url', url: 'u' })), 'done')
    assert.equal(await reason(256, { type: 'compaction' }), 'done')
    assert.equal(await reason(255, { type: 'tool-call', callId: 'a', name: 'b', input: {} }), 'interrupted')
    assert.equal(await reason(undefined, 'abcde'), 'done')
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
    const progress = { done: false, thinking: false }
    const done = memory({ headers: events, pieces: [event({ a: 1 }) + event({ b: 2 })] })
    const chunks: Json[] = []
    await send({ ...attempt, fetch: done.fetch, progress }, async (chunk) => {
      chunks.push(chunk)
      progress.done = true
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

  test('has limits of eight, sixteen and sixty-four megabytes', () => {
    const { eventSize, contentSize, replySize } = defaultLimits
    assert.deepEqual([sizeText(eventSize), sizeText(contentSize), sizeText(replySize)], ['8 MiB', '16 MiB', '64 MiB'])
  })
})

test('a retry is left exactly when a whole one has been saved up', () => {
  const budget = retryBudget(0.25)
  for (let i = 0; i < 10; i++) assert.equal(budget.take(), true)
  assert.equal(budget.take(), false)
  for (let i = 0; i < 3; i++) budget.asked()
  assert.equal(budget.take(), false)
  budget.asked()
  assert.equal(budget.take(), true)
  for (let i = 0; i < 100; i++) budget.asked()
  for (let i = 0; i < 10; i++) assert.equal(budget.take(), true)
  assert.equal(budget.take(), false, 'never more than ten')
})

describe('the silence of a provider', () => {
  const limits = { ...defaultLimits, byteIdleMs: 100, eventIdleMs: 300, thinkingIdleMs: 900 }
  const watching = (isThinking = false) => {
    const clock = fakeClock()
    const expired: string[] = []
    const watcher = watch(
      { limits, headersMs: 500, thinking: () => isThinking, name: 'toy', clock },
      ({ message }) => void expired.push(message),
    )
    return { clock, watcher, expired }
  }

  test('is timed from the request to the headers, and from one piece to the next', async () => {
    const first = watching()
    await first.clock.pass(499)
    assert.deepEqual(first.expired, [])
    await first.clock.pass(1)
    assert.match(first.expired[0] ?? '', /did not begin to answer within 500 ms/)
    const { clock, watcher, expired } = watching()
    await clock.pass(400)
    watcher.reading()
    await clock.pass(99)
    watcher.bytes()
    watcher.event()
    watcher.reading()
    await clock.pass(99)
    assert.deepEqual(expired, [])
    await clock.pass(1)
    assert.match(expired[0] ?? '', /went silent in the middle of the reply, for 100 ms/)
  })

  test('is not shortened by asking for the next piece twice', async () => {
    const { clock, watcher, expired } = watching()
    watcher.reading()
    await clock.pass(60)
    watcher.reading()
    await clock.pass(39)
    assert.deepEqual(expired, [])
    await clock.pass(1)
    assert.equal(expired.length, 1)
  })

  test('does not count while nothing is read, and keep-alives do not end it', async () => {
    const { clock, watcher, expired } = watching()
    watcher.reading()
    watcher.bytes()
    await clock.pass(5000)
    assert.deepEqual(expired, [], 'the reader was busy')
    watcher.event()
    for (let i = 0; i < 3; i++) {
      watcher.reading()
      await clock.pass(90)
      watcher.bytes()
    }
    watcher.reading()
    await clock.pass(29)
    assert.deepEqual(expired, [])
    await clock.pass(1)
    assert.match(expired[0] ?? '', /nothing but keep-alives for 300 ms/)
    const thinking = watching(true)
    thinking.watcher.reading()
    for (let i = 0; i < 9; i++) {
      await thinking.clock.pass(99)
      thinking.watcher.bytes()
      thinking.watcher.reading()
    }
    assert.deepEqual(thinking.expired, [], 'a model that thinks has more time')
    thinking.watcher.stop()
    assert.equal(thinking.clock.waiting, 0)
  })
})

test('an error of the transport is an error of Synapse', () => {
  const error = new SendError({ kind: 'timeout', message: 'late' }, { cause: 1, advised: true })
  assert.ok(error instanceof SynapseError)
  assert.deepEqual([error.kind, error.advised, error.cause], ['timeout', true, 1])
})
