// At full size: resident memory stays below a limit, whatever an upstream sends.

import assert from 'node:assert/strict'
import test from 'node:test'
import { measure } from './measure.ts'
import type { Script } from './upstream.ts'

const gb = 1024 ** 3
const timeout = 600_000

for (const watch of [false, true]) {
  test(`50,000 calls in one reply are answered, watched: ${watch}`, { timeout }, async (t) => {
    const done = await measure(t, { kind: 'calls', calls: 50_000 }, { watch })
    assert.equal(done.outcome, 'done')
    assert.deepEqual([done.toolRuns, done.results, done.notRun], [128, 50_000, 49_872])
  })
}

const endless: Record<string, Script> = {
  'a text without end in small pieces': { kind: 'text', deltaSize: 20, bytes: Infinity },
  'a text without end in large pieces': { kind: 'text', deltaSize: 4000, bytes: Infinity },
  'a line of 1 GB': { kind: 'line', bytes: gb },
  'a stream of 4 GB, compressed': { kind: 'gzip', bytes: 4 * gb, type: 'text/event-stream' },
  'a body of 4 GB, compressed': { kind: 'gzip', bytes: 4 * gb, type: 'application/json' },
  '1 GB of garbage': { kind: 'garbage', bytes: gb },
  'a million calls': { kind: 'calls', calls: 1_000_000 },
}

for (const [name, script] of Object.entries(endless)) {
  test(`${name} is read up to a limit`, { timeout }, async (t) => {
    const done = await measure(t, script)
    assert.equal(done.outcome, 'failed')
    assert.equal(done.failure?.kind, 'limit')
  })
}
