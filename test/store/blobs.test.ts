// Request bodies as pieces: a body that continues the last one is cut as if it were alone.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from '../property.ts'
import { bodyCutter, cutBlob } from '../../src/store/blobs.ts'

const message = (n: number, length: number) => ({ role: 'user', content: `${n} ${'word '.repeat(length)}` })

test('the pieces and hashes of a body do not depend on the bodies before it', () => {
  const turn = fc.record({ back: fc.nat({ max: 3 }), lengths: fc.array(fc.nat({ max: 9000 }), { maxLength: 3 }) })
  fc.assert(
    fc.property(fc.array(turn, { minLength: 2, maxLength: 12 }), fc.nat({ max: 9000 }), (turns, tail) => {
      const cut = bodyCutter()
      const messages = Array.from({ length: 5 }, (_, n) => message(n, 3000))
      for (const { back, lengths } of turns) {
        messages.length = Math.max(1, messages.length - back)
        for (const length of lengths) messages.push(message(messages.length, length))
        const body = Buffer.from(JSON.stringify({ messages, tools: 'x'.repeat(tail) }))
        assert.deepEqual(cut('a', body), cutBlob(body))
      }
    }),
  )
})

test('a body of the same conversation that is shorter, changed at its start, or given as text is cut as alone', () => {
  const cut = bodyCutter()
  const body = JSON.stringify({ messages: Array.from({ length: 20 }, (_, n) => message(n, 2000)) })
  for (const each of [body, body, `x${body}`, body.slice(0, 70_000), body, 'short', body, `${body}${body}`]) {
    assert.deepEqual(cut('a', each), cutBlob(each))
  }
})
