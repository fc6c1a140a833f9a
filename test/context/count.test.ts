import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Part, Reply } from '../../src/core/message.ts'
import { estimateMessage, estimateTokens } from '../../src/context/count.ts'

function reply(part: Part, native: Json): Reply {
  const origin = { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-5-5' }
  return { role: 'assistant', parts: [part], native: [native], stop: { reason: 'done' }, origin }
}

const seal = 'x'.repeat(20_000)

test('encrypted thinking counts as its signature, with or without a summary', () => {
  const thought = (text: string) =>
    estimateMessage(reply({ type: 'reasoning', text, from: 0 }, { type: 'thinking', thinking: text, signature: seal }))
  assert.equal(thought('I add the two numbers.'), thought(''))
  assert.ok(thought('') > 4500)
})

test('readable thinking longer than its signature counts as its text', () => {
  const text = 'I look at the file and think about it. '.repeat(500)
  const native = { type: 'thinking', thinking: text, signature: 'short' }
  const readable = estimateMessage(reply({ type: 'reasoning', text, from: 0 }, native))
  assert.equal(readable, estimateMessage(reply({ type: 'text', text }, native)))
})

test('the signature on a call counts', () => {
  const call = { type: 'tool-call', callId: 'c', name: 'clock', input: {}, from: 0 } as const
  const bare = estimateMessage(reply(call, { functionCall: { name: 'clock' } }))
  const signed = estimateMessage(reply(call, { functionCall: { name: 'clock' }, thoughtSignature: seal }))
  assert.ok(signed - bare > 4500)
})

test('estimates do not change unnoticed: where a history is folded or cut depends on them', () => {
  for (const [text, tokens] of [
    ['', 0],
    ['a', 6],
    ['word', 38],
    ['words and more words', 63],
    ['internationalisation', 211],
    ['Hello World', 48],
    ['NASA HTTPServer', 68],
    ['ü grüße', 27],
    ['7', 10],
    ['123', 27],
    ['1234567', 63],
    ['...!', 5],
    ['a, b. (c)', 114],
    ['a  b    c', 103],
    ['one\ntwo\n\nthree\r\nfour', 89],
    ['\tindent', 25],
    ['漢字かな', 62],
    ['한국어', 45],
    ['привет мир', 32],
    ['αβγ δ', 32],
    ['👋🏽 ok', 64],
    ['{"a":[1,2,3],"b":"c"}', 232],
    ['ﬁ豈', 27],
  ] as const) {
    assert.equal(estimateTokens(text.repeat(20)), tokens, text)
  }
})
