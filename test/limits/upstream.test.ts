// What an upstream sends is bounded: smaller samples of what upstream.all.test.ts does at full size.

import assert from 'node:assert/strict'
import test from 'node:test'
import { measure } from './measure.ts'

const mb = 1024 * 1024
const timeout = 120_000

test('of 1,000 calls in one reply 128 are run, 16 at a time, and the others are answered', { timeout }, async (t) => {
  const done = await measure(t, { kind: 'calls', calls: 1000 }, { watch: true })
  assert.equal(done.outcome, 'done')
  assert.deepEqual([done.toolRuns, done.mostAtOnce, done.results, done.notRun], [128, 16, 1000, 872])
  assert.deepEqual(done.guards, ['The reply has 1000 calls; at most 128 of one reply are run.'])
})

test('the number of calls and of tools at the same time can be set', { timeout }, async (t) => {
  const guards = { callsPerReply: 40, concurrentTools: 3 }
  const done = await measure(t, { kind: 'calls', calls: 50 }, { guards })
  assert.deepEqual([done.toolRuns, done.mostAtOnce, done.results, done.notRun], [40, 3, 50, 10])
})

test('an endless text is read up to a limit, and what was read is stored', { timeout }, async (t) => {
  const script = { kind: 'text', deltaSize: 100, bytes: Infinity } as const
  const done = await measure(t, script, { guards: { replySize: mb } })
  assert.equal(done.failure?.kind, 'limit')
  assert.match(done.failure?.message ?? '', /more than the 1 MiB that are stored of a reply/)
  assert.equal(done.messages, 2)
})

test(
  'a line, a compressed body, garbage and an error without end are each one clear sentence',
  { timeout },
  async (t) => {
    const limits = { eventSize: mb, replySize: 4 * mb }
    const line = await measure(t, { kind: 'line', bytes: 64 * mb }, { limits })
    assert.match(line.failure?.message ?? '', /An event of the stream is larger than 1 MiB/)
    const bomb = { kind: 'gzip', bytes: 64 * mb, type: 'application/json' } as const
    assert.match((await measure(t, bomb, { limits })).failure?.message ?? '', /The reply is larger than 4 MiB/)
    const garbage = await measure(t, { kind: 'garbage', bytes: 64 * mb }, { limits })
    assert.match(garbage.failure?.message ?? '', /without a single event is larger than 1 MiB/)
    const error = await measure(t, { kind: 'error', bytes: 64 * mb }, { limits })
    assert.equal(error.failure?.kind, 'invalid-request')
  },
)

test('a reply of nothing but signs of life ends', { timeout }, async (t) => {
  const done = await measure(t, { kind: 'silence' }, { limits: { eventIdleMs: 500 } })
  assert.equal(done.failure?.kind, 'timeout')
})
