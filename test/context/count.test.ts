// Token estimates, including thinking and signatures.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { MediaPart, Part, Reply } from '../../src/core/message.ts'
import {
  estimateJson,
  estimateMessage,
  estimateResults,
  estimateTokens,
  rememberSizes,
  sizesOf,
  totalOf,
} from '../../src/context/count.ts'
import { call, onePixel, reply as replyOf, result, user } from '../histories.ts'

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

test('a character belongs to its alphabet exactly from the first to the last one of it', () => {
  /** The tokens of 99 of each kind. */
  const [lower, accented, upper, digit, sign, blank, newline] = [49, 52, 5, 45, 6, 2, 1]
  const [foreign, kana, ideograph, hangul, other] = [2, 76, 79, 74, 56]
  for (const [tokens, ...codes] of [
    [lower, 97, 122],
    [upper, 65, 90],
    [digit, 48, 57],
    [sign, 96, 123, 64, 91, 47, 58, 33, 127, 0, 8, 11, 12, 14, 31],
    [blank, 32, 9],
    [newline, 10, 13],
    [accented, 0xc0, 0x24f],
    [foreign, 0x370, 0x10ff],
    [kana, 0x3040, 0x30ff],
    [ideograph, 0x3400, 0x9fff, 0xf900, 0xfaff],
    [hangul, 0xac00, 0xd7af],
    [other, 0x80, 0xbf, 0x250, 0x36f, 0x1100, 0x303f, 0x3100, 0x33ff, 0xa000, 0xabff, 0xd7b0, 0xf8ff, 0xfb00],
  ] as const) {
    for (const code of codes) assert.equal(estimateTokens(String.fromCharCode(code).repeat(99)), tokens, `${code}`)
  }
})

test('a message counts four tokens and each of its parts, whatever they are', () => {
  const text = 'some words of text'
  const tokens = estimateTokens(text)
  const opaque = { type: 'opaque', kind: 'w/x', data: { a: text } } as const
  const pdf: MediaPart = { type: 'media', mediaType: 'application/pdf', data: { kind: 'url', url: 'u' } }
  assert.equal(estimateMessage(user()), 4)
  assert.equal(estimateMessage(user(text)), 4 + tokens)
  assert.equal(estimateMessage(user(text, text)), 4 + 2 * tokens)
  assert.equal(estimateMessage(replyOf({ type: 'refusal', text })), 4 + tokens)
  assert.equal(estimateMessage(replyOf({ type: 'compaction', text })), 4 + tokens)
  assert.equal(estimateMessage(replyOf({ type: 'compaction' })), 4)
  assert.equal(estimateMessage(user(opaque)), 4 + estimateJson(opaque))
  assert.equal(estimateMessage(user(onePixel)), 4 + 1)
  assert.equal(estimateMessage(user(pdf)), 4 + 1600)
  const input = { path: text }
  assert.equal(estimateMessage(replyOf(call('c', text, input))), 4 + tokens + estimateJson(input))
  const malformed: Part = { type: 'tool-call', callId: 'c', name: text, input, malformed: 'no' }
  assert.equal(estimateMessage(replyOf(malformed)), 4 + tokens + estimateTokens('no'))
  const output = [{ type: 'text' as const, text }, onePixel, { type: 'text' as const, text }]
  const answer = { role: 'tool' as const, parts: [{ type: 'tool-result' as const, callId: 'c', name: 'x', output }] }
  assert.equal(estimateMessage(answer), 4 + 2 * tokens + 1)
})

test('what a provider has sealed counts by its length, in every field that has it, and only in replies', () => {
  const thought: Part = { type: 'reasoning', text: '', from: 0 }
  const hidden = (native: Json, part: Part = thought) => estimateMessage(reply(part, native)) - 4
  assert.equal(hidden({}), 0)
  for (const field of ['signature', 'encrypted_content', 'data', 'thoughtSignature']) {
    assert.equal(hidden({ [field]: 'x'.repeat(400) }), 100, field)
    assert.equal(hidden({ [field]: 'x'.repeat(401) }), 101, field)
    assert.equal(hidden({ [field]: 5 }), 0, field)
  }
  assert.equal(hidden({ signature: 'x'.repeat(200), data: 'x'.repeat(200) }), 100)
  assert.equal(hidden('x'.repeat(400)), 0)
  assert.equal(hidden({ signature: 'x'.repeat(400) }, { type: 'reasoning', text: '' }), 0, 'from no item')
  assert.equal(hidden({ signature: 'x'.repeat(400) }, { type: 'text', text: '', from: 0 }), 0)
  assert.equal(hidden({ signature: 'x'.repeat(400) }, { ...thought, from: 1 }), 0)
})

test('the sizes of a longer, a shorter and another list are those of its own messages', () => {
  const [first, ...rest] = [user('a'), replyOf('b c d'), user('e f'), replyOf('g')]
  const history = [first, ...rest]
  const sizes = (list: Parameters<typeof sizesOf>[0]) => assert.deepEqual(sizesOf(list), list.map(estimateMessage))
  sizes(history.slice(0, 2))
  sizes(history)
  sizes(history.slice(0, 3))
  sizes([first, user('something else, and longer'), ...rest])
  sizes([])
  const given = [user('x'), result('c', 'y')]
  rememberSizes(given, [7, 8])
  assert.deepEqual(sizesOf(given), [7, 8])
})

test('results are counted as far as needed, and the whole count is the same before and after', () => {
  const text = 'A line of a_file.ts, 中文 and 12345 numbers.\n'.repeat(100)
  const whole = estimateMessage(result('a', text))
  const message = result('a', text)
  let last = 0
  for (const enough of [0, 1, 100, 99, 500, whole - 1, whole, whole + 1, Infinity]) {
    const tokens = estimateResults(message, enough)
    assert.ok(tokens >= Math.min(enough, whole) && tokens <= whole, `${tokens} of ${whole}, ${enough} wanted`)
    assert.ok(tokens >= last)
    last = tokens
  }
  assert.equal(last, whole)
  assert.equal(estimateMessage(message), whole)
  const inPart = result('a', text)
  assert.ok(estimateResults(inPart, 200) < whole / 2, 'no more than needed')
  assert.equal(estimateMessage(inPart), whole)
})

test('the total of a list is that of its messages, whatever list was counted before', () => {
  const all = Array.from({ length: 12 }, (_, i) => user(`message ${i} ${'word '.repeat(i)}`))
  const edited = [...all.slice(0, 4), user('another one'), ...all.slice(5)]
  const lists = [all.slice(0, 6), all, all.slice(0, 3), edited, all, []]
  for (const list of lists) {
    assert.equal(
      totalOf(list),
      sizesOf(list).reduce((sum, size) => sum + size, 0),
    )
  }
})
