// The handle of a run: text, answer, partial object, and events that are merged.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { ReplyEvent, RunEvent } from '../../src/core/event.ts'
import { runHandle } from '../../src/run/run-handle.ts'
import type { RunEnd } from '../../src/run/loop.ts'
import { call, reply } from '../histories.ts'

describe('a run as its caller sees it', () => {
  const controls = { abort: () => {}, steer: () => {}, update: () => {} }
  const inner = (event: ReplyEvent, exchangeId = 'x') => ({ type: 'reply-event', exchangeId, event }) as RunEvent
  const delta = (text: string, partType: string, index = 0) =>
    inner({ type: 'part-delta', index, text, partType } as ReplyEvent)
  const handle = (events: RunEvent[], end: Partial<RunEnd> = {}) =>
    runHandle(
      controls,
      () => undefined,
      async (emit) => {
        await setImmediate()
        for (const event of events) emit(event)
        return { outcome: 'done', ...end } as RunEnd
      },
    )
  const failure = { kind: 'overloaded', message: 'later' } as const

  test('has the text of its replies, and nothing of thoughts and calls', async () => {
    const events = [
      inner({ type: 'part-start', index: 0, part: { type: 'text', text: 'a' } }),
      delta('b', 'text'),
      delta('h', 'reasoning'),
      delta('{}', 'tool-call'),
      inner({ type: 'part-start', index: 1, part: { type: 'reasoning', text: 'hm' } }),
      inner({ type: 'part-end', index: 0, part: { type: 'text', text: 'ab' } }),
      { type: 'run-start', conversationId: 'c' } as RunEvent,
    ]
    const texts: string[] = []
    for await (const text of handle(events).textStream) texts.push(text)
    assert.deepEqual(texts, ['a', 'b'])
    const seen: RunEvent[] = []
    for await (const event of handle(events)) seen.push(event)
    assert.deepEqual(seen, events)
    await assert.rejects(async () => {
      for await (const text of handle(events, { failure }).textStream) texts.push(text)
    }, /later/)
    assert.equal(texts.length, 4, 'the text comes first')
  })

  test('gives its text and answer, or says why there is none', async () => {
    assert.equal(await handle([], { reply: reply('x', 'y') }).text(), 'xy')
    await assert.rejects(async () => handle([], { failure }).text(), /later/)
    await assert.rejects(async () => handle([]).text(), /ended before the model answered/)
    assert.deepEqual(await handle([], { answer: { value: { a: 1 } } }).object(), { a: 1 })
    await assert.rejects(async () => handle([], { answer: { problem: 'bad' } }).object(), /bad/)
    await assert.rejects(async () => handle([]).object(), /no schema to read the answer by/)
    await assert.rejects(
      async () => handle([], { outcome: 'cancelled' }).object(),
      /ended as cancelled, without an answer/,
    )
    await assert.rejects(async () => handle([], { failure }).object(), /later/)
  })

  test('shows as much of an object as can be read, each time that is more', async () => {
    const partials = async (...pieces: string[]) => {
      const all: unknown[] = []
      for await (const one of handle(pieces.map((piece) => delta(piece, 'text'))).partialObjectStream) all.push(one)
      return all
    }
    assert.deepEqual(await partials('{"a"', ': 1', '2, "b', '": "x\\', 'n', '"}'), [
      {},
      { a: 1 },
      { a: 12 },
      { a: 12, b: 'x' },
      { a: 12, b: 'x\n' },
    ])
    assert.deepEqual(await partials('[{"a":[1', ',2', ']}', ',{'), [[{ a: [1] }], [{ a: [1, 2] }], [{ a: [1, 2] }, {}]])
    assert.deepEqual(await partials('```json\n{"a":1}', '\n```'), [{ a: 1 }])
    assert.deepEqual(await partials('tr', 'ue'), [true])
    assert.deepEqual(await partials('{"a":"\\u00', 'e9"}'), [{ a: '' }, { a: 'é' }])
    assert.deepEqual(await partials('{"a":tr'), [{}])
    assert.deepEqual(await partials('{"a":"}]"', ',"b":{"c":nul'), [{ a: '}]' }, { a: '}]', b: {} }])
    assert.deepEqual(await partials('no'), [])
  })

  test('merges what nobody has read yet: deltas of one part, and of a call only its end', async () => {
    const many = Array.from({ length: 1001 }, () => ({ type: 'step', n: 1 }) as unknown as RunEvent)
    const merged = async (...events: RunEvent[]) => {
      const run = handle([...many, ...events])
      await run.ended
      const seen: RunEvent[] = []
      for await (const event of run) seen.push(event)
      return seen.slice(1001)
    }
    const asked = inner({ type: 'part-start', index: 1, part: { ...call('a', 'look'), input: {} } })
    const texts = await merged(
      delta('a', 'text'),
      delta('b', 'text'),
      asked,
      delta('{', 'tool-call', 1),
      delta('c', 'text'),
    )
    assert.deepEqual(texts, [delta('abc', 'text')])
    const other = inner({ type: 'part-delta', index: 0, text: 'z', partType: 'text' }, 'other')
    assert.equal((await merged(delta('a', 'text'), other)).length, 2, 'another reply')
    assert.equal((await merged(delta('a', 'text'), delta('b', 'text', 1))).length, 2, 'another part')
    assert.equal((await merged(delta('a', 'text'), { type: 'run-start', conversationId: 'c' } as RunEvent)).length, 2)
  })
})
