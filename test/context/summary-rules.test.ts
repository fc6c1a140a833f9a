// What a summary replaces, and one that is written without a model.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { estimateMessage, estimateTokens } from '../../src/context/count.ts'
import { historyAsText, plainSummary, stretchEnd } from '../../src/context/summary.ts'
import { wholeView } from '../../src/context/view.ts'
import { onePixel, reply, user } from '../histories.ts'
import { turn } from './long-turns.ts'

describe('a summary', () => {
  test('replaces as much as leaves both the number and the share of the newest, and something new', () => {
    const chat = wholeView(Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? user('word '.repeat(50)) : reply('a'))))
    assert.equal(stretchEnd(chat, {}, Infinity), 11, 'twenty by default')
    assert.equal(stretchEnd(chat, { keep: 30 }, Infinity), undefined)
    const size = estimateMessage(user('word '.repeat(50)))
    const two = 4 * (2 * size + estimateMessage(reply('a')))
    assert.deepEqual([stretchEnd(chat, { keep: 30 }, two), stretchEnd(chat, { keep: 30 }, two - 4)], [28, 29])
    assert.equal(stretchEnd(chat, { keep: 3 }, 1e9), 28)
  })

  test('without a model is as long as its budget allows, with the newest calls that fit exactly', () => {
    const list = [user('Go.'), ...turn('a'), ...turn('b')]
    const view = wholeView(list)
    const whole = plainSummary(view, 5, undefined, 1000)
    const lines = whole.split('\n')
    assert.equal(lines.length, 4)
    assert.match(lines[2] ?? '', /^\[Tool use #2\]/)
    assert.equal(plainSummary(view, 3, undefined, 1000).split('\n').length, 3)
    const old = 'x'.repeat(5000)
    const short = plainSummary(view, 5, old, 100)
    assert.ok(short.startsWith(`${'x'.repeat(50)} … ${'x'.repeat(50)}\n`))
    const asked = plainSummary(wholeView([user('y'.repeat(5000))]), 1, undefined, 700)
    assert.ok(asked.endsWith(`The user said: ${'y'.repeat(100)} … ${'y'.repeat(100)}`))
    const fits = plainSummary(wholeView([user('y'.repeat(200))]), 1, undefined, 700)
    assert.ok(fits.endsWith(`The user said: ${'y'.repeat(200)}`))
    const room = 400 - lines.slice(0, 2).join('\n').length
    const fitting = lines.slice(2).filter((line) => line.length + 1 <= room).length > 0
    assert.equal(plainSummary(view, 5, undefined, 10).includes('[Tool use #4]'), fitting)
  })

  test('is written from the whole text if that fits exactly', async () => {
    const list = [user('z'.repeat(9000)), reply({ type: 'server-tool', name: 's', input: { a: 1 } })]
    const whole = await historyAsText(list, undefined, 1e9)
    assert.equal(
      whole,
      `The conversation:\n\nUser: ${'z'.repeat(4000)} … ${'z'.repeat(4000)}\n\nThe provider ran s: {"a":1}`,
    )
    const tokens = estimateTokens(whole)
    assert.equal(await historyAsText(list, undefined, tokens), whole)
    assert.ok((await historyAsText(list, undefined, tokens - 1)).length < whole.length)
    const named: Message = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'a', name: 'look', output: [onePixel] }],
    }
    assert.match(await historyAsText([named], undefined, 1000), /look answered: \[image\/png, not shown\]/)
  })
})
