// Recorded replies.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { frameAwsEvent } from '../../src/transport/aws-events.ts'
import { hasEvents, readRecording } from '../../src/transport/recording.ts'
import type { Framing } from '../../src/wires/wire.ts'
import { event } from './from-memory.ts'
import { toy } from './toy-protocol.ts'

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
