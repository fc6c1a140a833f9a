// Every recorded conversation, cut anywhere, and many generated ones, sent to a real server on each of its wires.

import assert from 'node:assert/strict'
import test from 'node:test'
import { generated, recorded, refusals, wires } from './accepting.ts'
import { noLlama, startLlama } from './server.ts'

for (const wire of wires) {
  test(`llama.cpp accepts every history on ${wire.protocol}`, { skip: noLlama, timeout: 3_600_000 }, async (t) => {
    await using server = await startLlama()
    const anywhere = (length: number) => Array.from({ length }, (_, i) => i + 1)
    const histories = [...recorded(() => true, anywhere), ...generated(2_000)]
    assert.deepEqual(await refusals(server, wire, histories), [])
    t.diagnostic(`${histories.length} histories`)
  })
}
