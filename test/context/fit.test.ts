// Results, images and files that exceed the limits of a model.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateTokens } from '../../src/context/count.ts'
import { fit, limitOf } from '../../src/context/fit.ts'
import { fitMedia } from '../../src/context/fit-media.ts'
import { wholeView } from '../../src/context/view.ts'
import type { MediaPart, Message } from '../../src/core/message.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import { call, reply, result } from '../histories.ts'

/** A PNG of this size, of which only the header is read. */
function picture(width: number, height: number, name?: string, length = 32): MediaPart {
  const head = Buffer.alloc(24)
  Buffer.from('89504e470d0a1a0a', 'hex').copy(head)
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  const base64 = head.toString('base64').padEnd(length, 'A')
  return {
    type: 'media',
    mediaType: 'image/png',
    data: { kind: 'base64', base64 },
    ...(name !== undefined && { name }),
  }
}

const asking = (...parts: MediaPart[]): Message => ({ role: 'user', parts })

function fitted(messages: Message[], limits: Parameters<typeof fitMedia>[1]) {
  const view = fitMedia(wholeView(messages), limits)
  const kinds = view.messages.map((message) => message.parts.map(({ type }) => type))
  return { view, kinds, notes: view.notes.map(({ what, why, at }) => ({ what, why, at })) }
}

test('a picture of exactly the longest side or size stays, one beyond it becomes text with a note', () => {
  const limits = { imageLimits: { side: 100, size: 40 } }
  assert.deepEqual(fitted([asking(picture(100, 7)), asking(picture(7, 100, undefined, 40))], limits).notes, [])
  const { kinds, notes } = fitted([asking(picture(101, 7, 'a.png')), asking(picture(7, 7, 'b.png', 44))], limits)
  assert.deepEqual(kinds, [['text'], ['text']])
  assert.deepEqual(notes, [
    { what: 'a.png', why: 'it is 101 pixels long, and the provider accepts 100', at: 'messages[0]' },
    { what: 'b.png', why: 'it has more bytes than the provider accepts', at: 'messages[1]' },
  ])
})

test('as many pictures as the provider takes stay; one more removes the oldest, down to half', () => {
  const pictures = (count: number) => Array.from({ length: count }, () => asking(picture(7, 7)))
  assert.deepEqual(fitted(pictures(4), { maxImages: 4 }).notes, [])
  const { kinds, notes } = fitted(pictures(5), { maxImages: 4 })
  assert.deepEqual(kinds.flat(), ['text', 'text', 'text', 'media', 'media'])
  assert.deepEqual(notes[0], {
    what: 'image/png',
    why: 'the request would have more of them than the provider accepts',
    at: 'messages[0]',
  })
})

test('large pictures are limited in number, small ones beside them are not counted as large', () => {
  const limits = { imageLimits: { many: { over: 2, side: 50 } } }
  const [small, large] = [asking(picture(50, 50)), asking(picture(51, 50))]
  assert.deepEqual(fitted([small, small, small], limits).notes, [])
  assert.deepEqual(fitted([large, large], limits).notes, [])
  assert.deepEqual(
    fitted([asking(picture(51, 50)), asking(picture(7, 7)), asking(picture(7, 7))], limits).kinds.flat(),
    ['text', 'media', 'media'],
  )
})

test('several pictures of one message that go for one reason are one note, those for another are a second', () => {
  const limits = { imageLimits: { side: 100 }, maxImages: 2 }
  const { notes } = fitted(
    [asking(picture(7, 7), picture(7, 7), picture(200, 7, 'long.png')), asking(picture(7, 7))],
    limits,
  )
  assert.deepEqual(
    notes.map(({ what }) => what),
    ['2 images or files', 'long.png'],
  )
})

test('pictures in results are replaced too, and a history without any stays the same object', () => {
  const output = [picture(200, 7)]
  const result: Message = { role: 'tool', parts: [{ type: 'tool-result', callId: 'c', name: 'look', output }] }
  const { view } = fitted([reply(call('c', 'look')), result], { imageLimits: { side: 100 } })
  const [part] = view.messages[1]?.role === 'tool' ? view.messages[1].parts : []
  assert.match(part?.output[0]?.type === 'text' ? part.output[0].text : '', /image\/png, not shown/)
  assert.equal(output[0]?.type, 'media', 'the log keeps it')
  const plain = wholeView([{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }])
  assert.equal(fitMedia(plain, { maxImages: 0 }), plain)
})

test('the limit of a prompt leaves room for the answer, but never less than half of the window', () => {
  const limit = (
    contextWindow: number | undefined,
    options: { maxOutput?: number } = {},
    settings = {},
    maxOutput?: number,
  ) =>
    limitOf(
      { ...(contextWindow !== undefined && { contextWindow }), ...(maxOutput !== undefined && { maxOutput }) },
      options,
      settings,
    )
  assert.equal(limit(undefined), Infinity)
  assert.equal(limit(undefined, {}, { assumedWindow: 100_000 }), Math.floor((100_000 - 4096) * 0.92))
  assert.equal(limit(100_000), Math.floor((100_000 - 4096) * 0.92))
  assert.equal(limit(10_000), Math.floor((10_000 - 2000) * 0.92), 'a fifth of a small window')
  assert.equal(limit(100_000, {}, {}, 1000), Math.floor(99_000 * 0.92))
  assert.equal(limit(100_000, { maxOutput: 10_000 }), Math.floor(90_000 * 0.92))
  assert.equal(limit(100_000, { maxOutput: 90_000 }), 50_000 * 0.92)
  assert.equal(limit(100_000, {}, { usable: 0.5 }), Math.floor((100_000 - 4096) * 0.5))
  assert.equal(limit(100_000, {}, { usable: 1 }), limit(100_000), 'never more than the estimate is worth')
})

test('a result of a quarter of the limit is sent whole, a longer one without its middle, and no other message', () => {
  const words = (count: number) => 'word '.repeat(count)
  const result = (text: string): Message => {
    return {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'c', name: 'look', output: [{ type: 'text', text }] }],
    }
  }
  const asked: Message = { role: 'user', parts: [{ type: 'text', text: words(500) }] }
  const sent = (text: string) =>
    fit(wholeView([asked, reply(call('c', 'look')), result(text)]), 400, openaiChat.capabilities)
  const tokens = estimateTokens(words(40))
  assert.ok(tokens <= 100)
  assert.deepEqual(sent(words(40)).notes, [])
  const { messages, notes } = sent(words(500))
  assert.equal(messages[0], asked)
  const shown = JSON.stringify(messages[2])
  assert.match(shown, /characters are not shown/)
  assert.ok(shown.length < words(500).length / 2)
  assert.equal(notes.length, 1)
  assert.match(notes[0]?.what ?? '', /^result of look: \d+ of its 2500 characters are not shown$/)
  const left = Number(/(\d+) of its/.exec(notes[0]?.what ?? '')?.[1])
  const kept = messages[2]?.role === 'tool' && messages[2].parts[0]?.output[0]
  assert.ok(kept && kept.type === 'text')
  assert.equal(kept.text.replace(/\n\[… \d+ characters are not shown …\]\n/, '').length, 2500 - left)
})

test('of a result that is too long both ends are shown, whatever the limit, and the number of characters between', () => {
  const history = [reply(call('a', 'read')), result('a', `始${'长'.repeat(98)}终`, 'read')]
  const { messages, notes } = fit(wholeView(history), 4, openaiChat.capabilities)
  assert.deepEqual(messages[1], result('a', '始\n[… 98 characters are not shown …]\n终', 'read'))
  assert.match(notes[0]?.what ?? '', /98 of its 100 characters/)
})
