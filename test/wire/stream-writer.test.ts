// A reply as a stream of another wire: parts in order, and nothing taken back.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Part } from '../../src/core/message.ts'
import { partsInOrder } from '../../src/wires/shared/stream-writer.ts'
import { reply } from '../histories.ts'

describe('the parts of a reply that is written as a stream', () => {
  const written = () => {
    const out = (name: string) => (part: Part, text?: string) => [
      `${name} ${part.type}${text === undefined ? '' : ` ${text}`}`,
    ]
    return partsInOrder({ open: out('open'), more: out('more'), close: out('close') })
  }
  const text = (value: string): Part => ({ type: 'text', text: value })
  const call: Part = { type: 'tool-call', callId: 'c', name: 'look', input: { a: 1 } }

  test('are written as they grow, and one after the other', () => {
    const { push, end } = written()
    assert.deepEqual(push({ type: 'part-start', index: 0, part: text('a') }), ['open text', 'more text a'])
    assert.deepEqual(push({ type: 'part-start', index: 1, part: { ...call, input: {} } }), [])
    assert.deepEqual(push({ type: 'part-delta', index: 1, text: '{"a"' }), [])
    assert.deepEqual(push({ type: 'part-delta', index: 0, text: 'b' }), ['more text b'])
    assert.deepEqual(push({ type: 'part-delta', index: 0, text: '' }), [])
    assert.deepEqual(push({ type: 'part-delta', index: 7, text: 'x' }), [])
    assert.deepEqual(push({ type: 'part-end', index: 7, part: text('x') }), [])
    assert.deepEqual(push({ type: 'reply-start', origin: reply().origin }), [])
    assert.deepEqual(push({ type: 'part-end', index: 0, part: text('abc') }), [
      'more text c',
      'close text',
      'open tool-call',
      'more tool-call {"a"',
    ])
    assert.deepEqual(push({ type: 'part-end', index: 1, part: call }), ['more tool-call :1}', 'close tool-call'])
    assert.deepEqual(end(), [])
  })

  test('that ended early wait for those before them, and what was never ended is closed at the end', () => {
    const { push, end } = written()
    assert.deepEqual(push({ type: 'part-start', index: 0, part: text('') }), ['open text'])
    assert.deepEqual(push({ type: 'part-start', index: 1, part: { type: 'refusal', text: 'No' } }), [])
    assert.deepEqual(push({ type: 'part-end', index: 1, part: { type: 'refusal', text: 'No' } }), [])
    assert.deepEqual(end(), ['close text', 'open refusal', 'more refusal No', 'close refusal'])
    assert.deepEqual(end(), [])
  })

  test('do not wait for the end of reasoning, and more of it is a part after the others', () => {
    const texts: string[] = []
    const { push, end } = partsInOrder({
      open: ({ type }) => [`open ${type}`],
      more: (_, more) => [more],
      close: (part) => (part.type === 'reasoning' ? [`close ${texts.push(part.text)}`] : ['close']),
    })
    push({ type: 'part-start', index: 0, part: { type: 'reasoning', text: '' } })
    push({ type: 'part-delta', index: 0, text: 'I look. ' })
    assert.deepEqual(push({ type: 'part-start', index: 1, part: text('') }), ['close 1', 'open text'])
    assert.deepEqual(push({ type: 'part-delta', index: 1, text: 'It is ' }), ['It is '])
    assert.deepEqual(push({ type: 'part-delta', index: 0, text: 'Good.' }), [])
    assert.deepEqual(push({ type: 'part-delta', index: 1, text: 'noon.' }), ['noon.'])
    assert.deepEqual(push({ type: 'part-end', index: 0, part: { type: 'reasoning', text: 'I look. Good.' } }), [])
    const last = push({ type: 'part-end', index: 1, part: text('It is noon.') })
    assert.deepEqual([...last, ...end()], ['close', 'open reasoning', 'Good.', 'close 2'])
    assert.deepEqual(texts, ['I look. ', 'Good.'])
  })

  test('never take back what was written: another text at the end is ignored, unless there was none', () => {
    const { push } = written()
    push({ type: 'part-start', index: 0, part: text('ab') })
    assert.deepEqual(push({ type: 'part-end', index: 0, part: text('xyz') }), ['close text'])
    push({ type: 'part-start', index: 1, part: { ...call, input: {} } })
    assert.deepEqual(push({ type: 'part-end', index: 1, part: { ...call, malformed: '{"a' } as Part }), [
      'more tool-call {"a',
      'close tool-call',
    ])
  })
})
