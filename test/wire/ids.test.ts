import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message, Reply } from '../../src/core/message.ts'
import { requestIds, wireIds } from '../../src/wires/shared/ids.ts'
import { targetFor } from './target-for.ts'

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

test('the ids of a conversation that continues, goes back or branches are those of a first request', () => {
  // Of 62 letters some are taken, so that an id depends on the calls before it.
  const grammar = { prefix: '', length: 1, fits: /^[A-Za-z0-9]$/ }
  const origin = { protocol: 'openai-chat', provider: 'openai', model: 'gpt-5.6' }
  const calls = (from: number): Message[] =>
    Array.from({ length: 30 }, (_, n): Reply => {
      const parts = [{ type: 'tool-call' as const, callId: `call ${from + n}`, name: 'clock', input: {} }]
      return { role: 'assistant', parts, stop: { reason: 'tool-calls' }, origin, native: [] }
    })
  const [trunk, one, other] = [calls(0), calls(30), calls(60)]
  const requests = [trunk, [...trunk, ...one], trunk.slice(0, 20), [...trunk, ...other], [...trunk, ...one.slice(5)]]
  for (const messages of requests) {
    const [again, first] = [
      requestIds({ messages, fromLog: true }, targetFor({}), 'openai-chat', grammar, () => false),
      wireIds(structuredClone(messages), grammar, () => false),
    ]
    for (let n = 0; n < 90; n++) assert.equal(again(`call ${n}`), first(`call ${n}`))
  }
})
