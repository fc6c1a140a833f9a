// Limits on the size of a reply.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReplyEvent } from '../../src/core/event.ts'
import type { Json } from '../../src/core/json.ts'
import type { Part } from '../../src/core/message.ts'
import { defaultLimits } from '../../src/transport/limits.ts'
import { streamReply } from '../../src/transport/reply.ts'
import { sizeText } from '../../src/transport/unframe.ts'
import { callOf } from './calling.ts'
import { event, events, memory } from './from-memory.ts'
import { origin, toy } from './toy-protocol.ts'

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

  test('is limited to eight, sixteen and sixty-four megabytes', () => {
    const { eventSize, contentSize, replySize } = defaultLimits
    assert.deepEqual([sizeText(eventSize), sizeText(contentSize), sizeText(replySize)], ['8 MiB', '16 MiB', '64 MiB'])
  })
})
