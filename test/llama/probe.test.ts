// The probe of a real server: its rules for this one hold. What a model of random weights cannot do is left out.

import assert from 'node:assert/strict'
import test from 'node:test'
import { planProbe } from '../../src/probe/plan.ts'
import { runProbe } from '../../src/probe/run.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { noLlama, startLlama } from './server.ts'

/** It sees no images, and calls a tool only where the grammar makes it. */
const notForThisModel = new Set(['image', 'image-result', 'tool-call', 'tool-result'])

test('llama.cpp accepts and refuses what is expected of it, over both wires', { skip: noLlama }, async () => {
  await using server = await startLlama({ context: 8192 })
  const find = await endpointFinder({ baseUrls: { 'llama.cpp': `${server.url}/v1` }, env: {} })
  for (const wire of ['openai-chat', 'openai-responses']) {
    const { endpoint, transport } = await find('llama.cpp/tiny', wire)
    const steps = (await planProbe(endpoint)).filter(({ id }) => !notForThisModel.has(id))
    const found = await runProbe({ endpoint, transport, steps, budget: 0 })
    const other = found.filter(({ outcome }) => outcome !== 'as-expected')
    assert.deepEqual(
      other.map(({ check, expected, observed }) => ({ wire, check, expected, observed })),
      [],
    )
    assert.ok(found.length >= 12, `${wire}: ${found.length} requests`)
  }
})
