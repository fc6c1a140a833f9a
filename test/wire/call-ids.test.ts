// Ids of calls: which are sent, and which are made.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Message, Part, Reply, ToolCallPart } from '../../src/core/message.ts'
import { callIds } from '../../src/wires/shared/decoding.ts'
import { hashedId, wireIds } from '../../src/wires/shared/ids.ts'
import { reply } from '../histories.ts'

describe('the ids of calls on the wire', () => {
  const grammar = { prefix: 'c_', length: 6, fits: /^c_\w{6}$/ }
  const asked = (...parts: Partial<ToolCallPart>[]): Reply =>
    reply(...parts.map((part): Part => ({ type: 'tool-call', name: 'look', input: {}, callId: '', ...part })))
  const idOf = (messages: Message[], callId: string, replayed = true) =>
    wireIds(messages, grammar, () => replayed)(callId)

  test('are the provider’s own in a reply that is sent unchanged, if they are valid and free', () => {
    const history = [asked({ callId: 'a', alias: 'c_000001' }, { callId: 'b', alias: 'c_000001' })]
    assert.equal(idOf(history, 'a'), 'c_000001')
    assert.equal(idOf(history, 'b'), hashedId('b', grammar), 'the id is taken')
    assert.equal(idOf(history, 'a', false), hashedId('a', grammar))
    assert.equal(idOf([asked({ callId: 'a', alias: 'toolong01' })], 'a'), hashedId('a', grammar))
    assert.equal(idOf([asked({ callId: 'a' })], 'a'), hashedId('a', grammar))
    assert.equal(idOf([], 'a'), hashedId('a', grammar), 'a call that is not there')
  })

  test('are asked for once per reply, and only if a call of it has an id', () => {
    let asks = 0
    const ids = (message: Message) => wireIds([message], grammar, () => ++asks > 0)
    ids(asked({ callId: 'a' }, { callId: 'b' }))
    assert.equal(asks, 0)
    const two = ids(asked({ callId: 'a', alias: 'c_000001' }, { callId: 'b', alias: 'c_000002' }))
    assert.deepEqual([asks, two('a'), two('b')], [1, 'c_000001', 'c_000002'])
  })

  test('that are derived have the prefix and length of the wire, and depend on the call and the wire alone', () => {
    const { length } = hashedId('a', grammar)
    assert.equal(length, 'c_'.length + 6)
    assert.notEqual(hashedId('a', grammar), hashedId('b', grammar))
    const shared = asked({ callId: 'a' }, { callId: 'b' })
    const other = { prefix: 'd', length: 3, fits: /^d\w{3}$/ }
    for (const one of [grammar, other, grammar]) {
      const ids = wireIds([shared], one, () => false)
      assert.deepEqual([ids('a'), ids('b')], [hashedId('a', one), hashedId('b', one)])
    }
    const again = wireIds([{ ...shared, parts: shared.parts.toReversed() }], grammar, () => false)
    assert.equal(again('a'), hashedId('a', grammar))
  })

  test('of a reply are the provider’s, or numbered where it repeats one or has none', () => {
    const next = callIds(undefined)
    assert.deepEqual([next('x'), next('x'), next(undefined), next('')], ['x', 'call-1', 'call-2', 'call-3'])
    const own = callIds({ callId: (n, alias) => `${n}:${alias}` })
    assert.deepEqual([own('x'), own(undefined)], ['0:x', '1:undefined'])
  })
})
