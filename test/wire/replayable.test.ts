// When a reply may go back in its provider's own words.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Reply, StopReason } from '../../src/core/message.ts'
import { isInterrupted, isReplayable } from '../../src/wires/shared/replayable.ts'

const made: Reply = {
  role: 'assistant',
  parts: [{ type: 'text', text: 'Hello', from: 0 }],
  native: [{ text: 'Hello' }],
  origin: { protocol: 'a-wire', provider: 'a-provider', model: 'a-model' },
  stop: { reason: 'done' },
}
const isOwn = (reply: Reply) => isReplayable(reply, 'a-wire', { provider: 'a-provider' })

test('a reply is sent back unchanged to its own provider and wire', () => {
  assert.equal(isOwn(made), true)
  assert.equal(isReplayable(made, 'a-wire', { provider: 'another' }), false)
  assert.equal(isReplayable(made, 'another-wire', { provider: 'a-provider' }), false)
})

test('a reply without native data is never sent natively', () => {
  assert.equal(isOwn({ ...made, native: [] }), false)
})

for (const reason of ['interrupted', 'cancelled', 'failed'] satisfies StopReason[]) {
  test(`a reply that was ${reason} is sent in its native form only if that has every part`, () => {
    const cut: Reply = { ...made, stop: { reason } }
    assert.equal(isOwn(cut), true)
    assert.equal(isOwn({ ...cut, parts: [...made.parts, { type: 'text', text: 'and' }] }), false)
  })
}

test('a reply that ended normally is not interrupted', () => {
  const ended: StopReason[] = ['done', 'length', 'tool-calls', 'paused']
  assert.deepEqual(
    ended.filter((reason) => isInterrupted({ reason })),
    [],
  )
  assert.equal(isOwn({ ...made, parts: [{ type: 'text', text: 'Hello' }] }), true)
})
