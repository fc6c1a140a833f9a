// What the explanation of a request says about each message.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Note } from '../../src/core/context.ts'
import type { Message } from '../../src/core/message.ts'
import { assemble } from '../../src/context/assemble.ts'
import { estimateMessage } from '../../src/context/count.ts'
import { explain } from '../../src/context/explain.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import { reply, result, user } from '../histories.ts'
import { chatTarget } from './chat-target.ts'
import { turn } from './long-turns.ts'

describe('the explanation of a request', () => {
  const base = assemble({ history: [user('q'), reply('a'), user('r')], protocol: openaiChat, target: chatTarget })
  const history = [user('q'), ...turn('a'), reply('x'), user('r')]
  const note = (at: string, rule?: string): Note => ({
    kind: 'changed',
    what: `w${rule ?? ''}`,
    why: 'y',
    at,
    ...(rule && { rule }),
  })
  const fates = (
    places: number[],
    notes: Note[],
    messages: Message[] = places.map((place) => history[place] as Message),
  ) => {
    const { messages: explained, notes: none } = explain({
      history,
      assembled: { ...base, seen: { messages, places }, notes },
    })
    return { fates: explained.map(({ fate }) => fate), why: explained.map(({ why }) => why), none, explained }
  }

  test('gives each message what happened to it', () => {
    assert.deepEqual(fates([0, 1, 2, 3, 4], []).fates, ['sent', 'sent', 'sent', 'sent', 'sent'])
    assert.deepEqual(fates([0, 1, 2, 3, 4], [note('messages[3]')]).fates[3], 'converted')
    assert.deepEqual(fates([0, 4], [note('messages[1..2]', 'tool-turns')]).fates, [
      'sent',
      'folded',
      'folded',
      'cut',
      'sent',
    ])
    assert.deepEqual(fates([0, 4], [note('messages[1..3]', 'window')]).fates, ['sent', 'cut', 'cut', 'cut', 'sent'])
    assert.deepEqual(fates([4], [note('messages[0..3]', 'compaction')]).fates.slice(0, 4), Array(4).fill('summarised'))
    const both = [note('messages[1..3]', 'window'), note('messages[1..3]', 'tool-turns')]
    assert.deepEqual(fates([0, 4], both).fates, ['sent', 'folded', 'folded', 'cut', 'sent'])
    assert.deepEqual(fates([0, 1, 2, 4], [note('messages[3]')]).fates[3], 'converted', 'nothing is left of it')
    const copy = [user('q'), history[1] as Message, result('a', 'short'), reply('x'), user('r')]
    assert.deepEqual(fates([0, 1, 2, 3, 4], [note('messages[1..2]', 'tool-turns')], copy).fates, [
      'converted',
      'sent',
      'folded',
      'converted',
      'converted',
    ])
    const twice = fates(
      [0, 1, 1, -1, 4],
      [note('messages[1]', 'tool-turns')],
      [...history.slice(0, 3), user('new'), history[4] as Message],
    )
    assert.deepEqual(twice.fates, ['sent', 'folded', 'cut', 'cut', 'sent'])
    assert.equal(
      twice.explained[1]?.sent,
      estimateMessage(history[1] as Message) + estimateMessage(history[2] as Message),
    )
    assert.equal(twice.explained[3]?.sent, 0)
  })

  test('has the reasons that concern each message, and the others apart', () => {
    const notes = [
      note('messages[1..3]', 'window'),
      note('messages[1..2]', 'tool-turns'),
      note('messages[4]'),
      note('tools[0]'),
      note('messages[3..4]', 'plain'),
    ]
    const { why, none } = fates([0, 4], notes)
    assert.deepEqual(why, [[], ['wtool-turns: y'], ['wtool-turns: y'], ['wwindow: y'], ['w: y']])
    assert.deepEqual(none, [note('tools[0]')])
    assert.deepEqual(fates([4], [note('messages[0..3]', 'compaction'), note('messages[1]')]).why[1], ['wcompaction: y'])
  })

  test('has sizes, price and the first difference as they are', () => {
    const price = { input: 2, output: 1, cacheRead: 1, cacheWrite: 3 }
    const explained = explain({ history, assembled: base, price, cached: 5, ratio: 1.5 })
    const tokens = Math.round(base.estimate.input * 1.5)
    assert.deepEqual([explained.tokens, explained.cached], [tokens, 5])
    assert.equal(explained.price, (5 * 1 + (tokens - 5) * 3) / 1e6)
    assert.equal(explain({ history, assembled: base, cached: 1e9 }).cached, base.estimate.input)
    assert.equal('price' in explain({ history, assembled: base }), false)
    const beyond = (over: number) =>
      explain({ history, assembled: base, price: { ...price, beyond: { ...price, tokens: over, cacheWrite: 9 } } })
        .price
    assert.equal(beyond(base.estimate.input), (base.estimate.input * 3) / 1e6)
    assert.equal(beyond(base.estimate.input - 1), (base.estimate.input * 9) / 1e6)
    assert.equal('differsAt' in explain({ history, assembled: base }), false)
    assert.equal(explain({ history, assembled: base, before: 'x' }).differsAt, 0)
    const system: Message = { role: 'system', parts: [{ type: 'text', text: 'some words' }] }
    const all = assemble({ history: [system], protocol: openaiChat, target: chatTarget })
    const [first] = explain({ history: [system], assembled: all }).messages
    assert.deepEqual(
      [first?.fate, first?.sent, first?.tokens],
      ['sent', estimateMessage(system), estimateMessage(system)],
    )
  })
})
