// How long a model thought, on the part that holds the thought.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { ReplyEvent } from '../../src/core/event.ts'
import { thinkingClock } from '../../src/run/request/thinking-time.ts'

const reasoning = { type: 'reasoning', text: 'Hm.' } as const

/** The events of a reply, each at its second. */
function read(events: [second: number, event: ReplyEvent][]): (number | undefined)[] {
  let at = 0
  const timed = thinkingClock(() => at * 1000)
  return events.flatMap(([second, event]) => {
    at = second
    const seen = timed(event)
    return seen.type === 'part-end' && seen.part.type === 'reasoning' ? [seen.part.durationMs] : []
  })
}

test('thinking lasts from its start to its last text, even if the part ends with the reply', () => {
  const start: ReplyEvent = { type: 'part-start', index: 0, part: { ...reasoning, text: '' } }
  const end: ReplyEvent = { type: 'part-end', index: 0, part: reasoning }
  const words: ReplyEvent = { type: 'part-delta', index: 0, text: 'Hm.' }
  const answer: ReplyEvent = { type: 'part-start', index: 1, part: { type: 'text', text: 'Yes' } }
  assert.deepEqual(
    read([
      [1, start],
      [9, words],
      [10, answer],
      [20, end],
    ]),
    [8000],
  )
  // Without a word, as encrypted thinking is streamed.
  assert.deepEqual(
    read([
      [1, start],
      [4, end],
    ]),
    [3000],
  )
  assert.deepEqual(
    read([
      [1, start],
      [1.2, words],
      [1.2, end],
    ]),
    [undefined],
  )
})
