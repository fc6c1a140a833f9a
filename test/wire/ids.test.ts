import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '../../src/core/message.ts'
import { wireIds } from '../../src/wires/shared/ids.ts'

test('calls whose derived ids collide get different ids, the same ones each time', () => {
  // One letter of 62: forty calls cannot all have a letter of their own by chance.
  const grammar = { prefix: '', length: 1, fits: /^[A-Za-z0-9]$/ }
  const parts = Array.from({ length: 40 }, (_, n) => ({
    type: 'tool-call' as const,
    callId: `call ${n}`,
    name: 'clock',
    input: {},
  }))
  const origin = { protocol: 'openai-chat', provider: 'openai', model: 'gpt-5.6' }
  const reply: Reply = { role: 'assistant', parts, stop: { reason: 'tool-calls' }, origin, native: [] }
  const idsOf = () => parts.map(({ callId }) => wireIds([structuredClone(reply)], grammar, () => false)(callId))
  assert.equal(new Set(idsOf()).size, parts.length)
  assert.deepEqual(idsOf(), idsOf())
})
