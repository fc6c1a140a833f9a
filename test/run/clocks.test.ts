// Failures, thoughts and processes over time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Part } from '../../src/core/message.ts'
import { cooldown } from '../../src/run/request/cooldown.ts'
import { hasEnded, thisProcess } from '../../src/run/log/lease.ts'
import { thinkingClock } from '../../src/run/request/thinking-time.ts'

test('a provider is skipped from the third failure in a minute on, and again at once if it fails after that', () => {
  let now = 0
  const { isSkipped, failed, succeeded } = cooldown(() => now)
  failed('p', 2)
  assert.equal(isSkipped('p'), false)
  now = 60_000
  failed('p')
  assert.equal(isSkipped('p'), false, 'the first two are a minute old')
  failed('p', 2)
  assert.deepEqual([isSkipped('p'), isSkipped('q')], [true, false])
  now += 4999
  assert.equal(isSkipped('p'), true)
  now += 1
  assert.equal(isSkipped('p'), false)
  for (const ms of [10_000, 20_000, 40_000, 60_000, 60_000]) {
    failed('p')
    now += ms - 1
    assert.equal(isSkipped('p'), true, `${ms}`)
    now += 1
    assert.equal(isSkipped('p'), false, `${ms}`)
  }
  succeeded('p')
  failed('p', 2)
  assert.equal(isSkipped('p'), false)
})

test('thinking is timed from a second on, per part, to its last text', () => {
  let now = 0
  const read = thinkingClock(() => now)
  const thought: Part = { type: 'reasoning', text: 'hm' }
  const start = (index: number, part: Part = thought) => read({ type: 'part-start', index, part })
  const grow = (index: number) => read({ type: 'part-delta', index, text: 'x' })
  const end = (index: number, part: Part = thought) => {
    const event = read({ type: 'part-end', index, part })
    return event.type === 'part-end' && event.part.type === 'reasoning' ? event.part.durationMs : undefined
  }
  start(0)
  now = 999
  grow(0)
  now = 5000
  assert.equal(end(0), undefined, 'less than a second')
  start(1)
  now = 6000.4
  grow(1)
  grow(2)
  now = 9000
  assert.equal(end(1), 1000)
  start(3)
  now = 11_000
  assert.equal(end(3), 2000, 'without a text to its end')
  start(4, { type: 'text', text: '' })
  now = 20_000
  assert.equal(end(4, { type: 'text', text: 'a' }), undefined)
})

test('the holder of a lease is gone only if its process has ended on this machine', () => {
  const self = thisProcess()
  const [, host, pid, space, start] = /^(.*):(\d+) \((\w+)\.(\d*)\)$/.exec(self) ?? []
  assert.equal(pid, String(process.pid))
  assert.equal(hasEnded(self), false)
  assert.equal(hasEnded(`${host}:${pid} (${space}.1${start})`), true, 'another process had that number')
  assert.equal(hasEnded(`${host}:${pid} (${space}.)`), false, 'its start is unknown')
  assert.equal(hasEnded(`${host}:4194304 (${space}.5)`), true)
  assert.equal(hasEnded(`${host}:1 (${space}.)`), false)
  assert.equal(hasEnded(`elsewhere:4194304 (${space}.5)`), false)
  assert.equal(hasEnded(`${host}:4194304 (other.5)`), false)
  assert.equal(hasEnded('a name'), false)
})
