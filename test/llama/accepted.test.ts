// A sample of all histories, sent to a real server on each of its wires; accepted.all.test.ts sends every one.

import assert from 'node:assert/strict'
import test from 'node:test'
import { generated, recorded, refusals, wires } from './accepting.ts'
import { noLlama, startLlama } from './server.ts'

for (const wire of wires) {
  test(`llama.cpp accepts a sample of histories on ${wire.protocol}`, { skip: noLlama }, async (t) => {
    await using server = await startLlama()
    const histories = [
      ...recorded(
        (file) => file % 16 === 0,
        () => [3, 8],
      ),
      ...generated(20),
    ]
    assert.deepEqual(await refusals(server, wire, histories), [])
    t.diagnostic(`${histories.length} histories`)
  })
}
