// The tokens of media, and which of them are left out.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { MediaPart, Message } from '../../src/core/message.ts'
import { estimateFile, fileTokens } from '../../src/context/files.ts'
import { fitMedia } from '../../src/context/fit-media.ts'
import { fit } from '../../src/context/fit.ts'
import { allMediaIn, imageTokens, mediaIn, pixelsOf, tokensBeyond } from '../../src/context/images.ts'
import { wholeView, type View } from '../../src/context/view.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import { calls, onePixel, reply, result, user } from '../histories.ts'

/** A PNG of this size, of which only the header is read. */
function picture(width: number, height: number, length = 32): MediaPart {
  const head = Buffer.alloc(24)
  Buffer.from('89504e470d0a1a0a', 'hex').copy(head)
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  const base64 = head.toString('base64').padEnd(length, 'A')
  return { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64 } }
}

describe('media', () => {
  test('of each kind count by their size, and pages by the rule of the provider', () => {
    assert.equal(estimateFile('text/plain', 400), 75)
    assert.equal(estimateFile('text/plain', 401), 76)
    for (const type of ['application/json', 'application/ld+json', 'application/x-yaml', 'application/sql']) {
      assert.equal(estimateFile(type, 400), 75, type)
    }
    for (const type of ['application/pdf', 'application/jsonx', 'video/mp4', 'xtext/plain']) {
      assert.equal(estimateFile(type, 400), 1600, type)
    }
    assert.equal(estimateFile('application/pdf', 200_000), 3000)
    const pdf = (length: number): MediaPart => ({
      type: 'media',
      mediaType: 'application/pdf',
      data: { kind: 'base64', base64: 'A'.repeat(length) },
    })
    assert.equal(fileTokens(pdf(4)), 1600)
    assert.equal(fileTokens(pdf(4), 258), 258)
    assert.equal(fileTokens(pdf(200_000), 258), Math.ceil((3000 / 1600) * 258))
    assert.equal(fileTokens({ type: 'media', mediaType: 'video/mp4', data: { kind: 'url', url: 'u' } }, 258), 1600)
    assert.equal(fileTokens({ ...pdf(400), mediaType: 'text/plain' }, 258), 75)
  })

  test('that are pictures count by pixels or tiles, after they were made to fit', () => {
    const tokens = (width: number, height: number, rule: Parameters<typeof imageTokens>[1]) =>
      imageTokens(picture(width, height), rule)
    assert.equal(tokens(100, 75, { pixels: 750 }), 10)
    assert.equal(tokens(100, 76, { pixels: 750 }), 11)
    assert.equal(tokens(100, 75, { pixels: 750, base: 5 }), 15)
    assert.equal(tokens(200, 150, { pixels: 750, longer: 100 }), 10)
    assert.equal(tokens(200, 150, { pixels: 750, shorter: 75 }), 10)
    assert.equal(tokens(100, 75, { pixels: 750, longer: 1000, shorter: 1000 }), 10, 'never made larger')
    assert.equal(tokens(100, 75, { pixels: 750, most: 9 }), 9)
    assert.equal(tokens(100, 100, { tile: { side: 50, tokens: 7 } }), 28)
    assert.equal(tokens(101, 100, { tile: { side: 50, tokens: 7 } }), 42)
    assert.equal(tokens(100, 100, { base: 258 }), 258)
    const unknown: MediaPart = { type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'u' } }
    assert.equal(imageTokens(unknown, { base: 258 }), 258)
    assert.equal(imageTokens(unknown, { pixels: 750 }), 1600)
    assert.equal(imageTokens(unknown, { pixels: 750, most: 100 }), 100)
    assert.deepEqual(pixelsOf(picture(3, 4)), { width: 3, height: 4 })
    assert.equal(pixelsOf(picture(0, 4)), undefined)
    assert.equal(pixelsOf(picture(3, 0)), undefined)
    assert.equal(pixelsOf({ ...picture(3, 4), mediaType: 'video/png' }), undefined)
    assert.equal(pixelsOf(unknown), undefined)
  })

  test('are those of questions and results, and change an estimate by the rule of the provider', () => {
    const answer: Message = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'c', name: 'x', output: [onePixel] }],
    }
    const messages = [user('a', onePixel), reply(onePixel), answer, user('b')]
    assert.deepEqual(
      messages.map((message) => mediaIn(message).length),
      [1, 0, 1, 0],
    )
    assert.equal(allMediaIn(messages).length, 2)
    const none = [user('a'), reply('b')]
    assert.deepEqual([allMediaIn(none), allMediaIn([...none, user(onePixel)]).length, allMediaIn(none)], [[], 1, []])
    assert.equal(tokensBeyond(messages, undefined), 0)
    assert.equal(tokensBeyond(messages, { base: 258 }), 2 * 257)
    const pdf: MediaPart = { type: 'media', mediaType: 'application/pdf', data: { kind: 'url', url: 'u' } }
    assert.equal(tokensBeyond([user(pdf)], { base: 258 }), 0)
    assert.equal(tokensBeyond([user(pdf)], { base: 258, page: 258 }), 258 - 1600)
    assert.equal(tokensBeyond([user(pdf)], undefined), 0)
  })

  test('beyond a number of bytes for a request are left out, the oldest first, down to half', () => {
    const big = () => user(picture(7, 7, 8_000_000))
    const left = (count: number) =>
      fitMedia(wholeView(Array.from({ length: count }, big)), {}).messages.map(({ parts }) => parts[0]?.type)
    assert.deepEqual(left(3), ['media', 'media', 'media'])
    assert.deepEqual(left(4), ['text', 'text', 'text', 'media'])
    const one = fitMedia(wholeView([user(picture(7, 7, 24_000_004))]), {})
    assert.equal(one.notes[0]?.why, 'it has more bytes than the provider accepts')
    assert.deepEqual(fitMedia(wholeView([user(picture(7, 7, 24_000_000))]), {}).notes, [])
    const url = (): MediaPart => ({
      type: 'media',
      mediaType: 'image/png',
      data: { kind: 'url', url: 'u' },
      name: 'n.png',
    })
    const limited = fitMedia(wholeView([user('a'), user(url(), url()), user(url())], 4), { maxImages: 2 })
    assert.deepEqual(
      limited.notes.map(({ kind, what, at, rule }) => [kind, what, at, rule]),
      [['dropped', '2 images or files', 'messages[5]', 'fit']],
    )
    assert.deepEqual(limited.messages[1]?.parts[0], { type: 'text', text: '[image/png "n.png", not shown]' })
  })
})

test('results that are too long are shortened one by one, each with a note, and all media stay', () => {
  const two: Message = {
    role: 'tool',
    parts: [
      {
        type: 'tool-result',
        callId: 'a',
        name: 'one',
        output: [{ type: 'text', text: 'ab cd '.repeat(200) }, onePixel],
      },
      { type: 'tool-result', callId: 'b', name: 'two', output: [{ type: 'text', text: 'short' }] },
    ],
  }
  const view: View = { messages: [reply(calls('a', 'b')), two], places: [3, 4], notes: [] }
  const { messages, notes } = fit(view, 400, openaiChat.capabilities)
  const parts = messages[1]?.role === 'tool' ? messages[1].parts : []
  assert.deepEqual(
    parts[0]?.output.map(({ type }) => type),
    ['text', 'media'],
  )
  assert.equal(parts[1]?.output, two.parts[1]?.type === 'tool-result' && two.parts[1].output)
  assert.deepEqual(
    notes.map(({ at, rule }) => [at, rule]),
    [['messages[4]', 'fit']],
  )
  assert.match(notes[0]?.why ?? '', /about 100 tokens/)
  assert.equal(fit(view, Infinity, openaiChat.capabilities), view)
  const blank: View = { ...view, messages: [reply(calls('a')), result('a', ' '.repeat(500))] }
  assert.equal(fit(blank, 400, openaiChat.capabilities), blank, 'more characters than tokens are allowed')
})
