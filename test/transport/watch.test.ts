// Time limits on a silent provider, with a fake clock.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultLimits } from '../../src/transport/limits.ts'
import { watch } from '../../src/transport/watch.ts'
import { fakeClock } from './fake-clock.ts'

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
