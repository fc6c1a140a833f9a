// The small parts that a request is planned with, each with its limits.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Note, ToolSpec } from '../../src/core/context.ts'
import type { Json } from '../../src/core/json.ts'
import type { MediaPart, Message, Part } from '../../src/core/message.ts'
import { alongPath, placesOf } from '../../src/context/along-path.ts'
import { assemble, estimateHead, type Assembled, type RequestDraft } from '../../src/context/assemble.ts'
import { cacheMarks, lastBreak } from '../../src/context/cache-marks.ts'
import { estimateMessage, estimateTokens } from '../../src/context/count.ts'
import { noDecisions } from '../../src/context/decisions.ts'
import { explain } from '../../src/context/explain.ts'
import { estimateFile, fileTokens } from '../../src/context/files.ts'
import { fitMedia } from '../../src/context/fit-media.ts'
import { fit } from '../../src/context/fit.ts'
import { allMediaIn, imageTokens, mediaIn, pixelsOf, tokensBeyond } from '../../src/context/images.ts'
import { mentionRecall } from '../../src/context/mention-recall.ts'
import { prefixes } from '../../src/context/prefix-memo.ts'
import { cachePriceOf, cacheTtlFor } from '../../src/context/price-ratio.ts'
import { withSearchResultsAsText } from '../../src/context/search-results.ts'
import { firstDifference, sharedTokens } from '../../src/context/shared-prefix.ts'
import { stepFolds, stepwise } from '../../src/context/steps.ts'
import { historyAsText, plainSummary, stretchEnd } from '../../src/context/summary.ts'
import { placesFrom, wholeView, type View } from '../../src/context/view.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import { call, calls, onePixel, reply, result, user } from '../histories.ts'

/** A PNG of this size, of which only the header is read. */
function picture(width: number, height: number, length = 32): MediaPart {
  const head = Buffer.alloc(24)
  Buffer.from('89504e470d0a1a0a', 'hex').copy(head)
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  const base64 = head.toString('base64').padEnd(length, 'A')
  return { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64 } }
}

const long = 'and so on '.repeat(100)
const turn = (id: string, text = long) => [reply(call(id, 'read')), result(id, text, 'read')]

describe('what is remembered of earlier lists', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((text) => user(text))
  assert.ok(a && b && c && d)

  test('is that of the longest common beginning, if the first message is the same', () => {
    const memo = prefixes<string>()
    assert.equal(memo.longest([a]), undefined)
    memo.keep([a, b], 'ab')
    assert.deepEqual(memo.longest([a, b, c]), { shared: 2, value: 'ab' })
    assert.deepEqual(memo.longest([a]), { shared: 1, value: 'ab' })
    assert.deepEqual(memo.longest([a, c]), { shared: 1, value: 'ab' })
    assert.equal(memo.longest([b, a]), undefined)
    assert.equal(memo.longest([]), undefined)
    memo.keep([a, c, d], 'acd')
    assert.deepEqual(memo.longest([a, b]), { shared: 2, value: 'ab' })
    assert.deepEqual(memo.longest([a, c, d, b]), { shared: 3, value: 'acd' })
    assert.deepEqual(memo.longest([a, d]), { shared: 1, value: 'acd' }, 'the newest of two')
    memo.keep([], 'none')
    assert.equal(memo.longest([]), undefined)
  })

  test('is two lists at most, and a list that another continues is replaced', () => {
    const memo = prefixes<string>()
    memo.keep([a, b], 'ab')
    memo.keep([a, b, c], 'abc')
    memo.keep([a, d], 'ad')
    assert.deepEqual(memo.longest([a, b, c]), { shared: 3, value: 'abc' })
    assert.deepEqual(memo.longest([a, d]), { shared: 2, value: 'ad' })
    memo.keep([a, c], 'ac')
    assert.deepEqual(memo.longest([a, b, c]), { shared: 1, value: 'ac' }, 'the oldest is gone')
    assert.deepEqual(memo.longest([a, d]), { shared: 2, value: 'ad' })
  })

  test('of a path continues where it was, and begins again on another branch', () => {
    const reads: string[] = []
    const along = alongPath<{ id: string; anew?: boolean }, string[]>(
      () => [],
      (state, { id }, place) => {
        reads.push(id)
        state.push(`${id}${place}`)
      },
      ({ anew }) => anew === true,
    )
    const entries = ['a', 'b', 'c', 'd'].map((id) => ({ id }))
    const [first, second, third, fourth] = entries
    assert.ok(first && second && third && fourth)
    assert.deepEqual(along(entries.slice(0, 2)), ['a0', 'b1'])
    assert.deepEqual(along(entries), ['a0', 'b1', 'c2', 'd3'])
    assert.deepEqual(along(entries), ['a0', 'b1', 'c2', 'd3'])
    assert.equal(reads.join(''), 'abcd', 'each entry once')
    assert.deepEqual(along(entries.slice(0, 2)), ['a0', 'b1'], 'a shorter one')
    assert.deepEqual(along([first, second, fourth]), ['a0', 'b1', 'd2'])
    assert.deepEqual(along([first, third]), ['a0', 'c1'])
    assert.deepEqual(along([]), [])
    assert.deepEqual(along([{ id: 'x' }, { id: 'y', anew: true }, { id: 'z' }]), ['y1', 'z2'])
    assert.deepEqual(
      [...placesOf(entries)],
      [
        ['a', 0],
        ['b', 1],
        ['c', 2],
        ['d', 3],
      ],
    )
  })

  test('of two requests is the tokens that both begin with', () => {
    const sent = (messages: Message[], places?: number[]) => ({ messages, ...(places && { places }) })
    const [x, y] = [estimateMessage(a), estimateMessage(b)]
    assert.equal(sharedTokens(sent([a, b]), sent([a, b, c]), 7), 7 + x + y)
    assert.equal(sharedTokens(sent([a, b, c]), sent([a]), 7), 7 + x)
    assert.equal(sharedTokens(sent([a, b], [0, 1]), sent([a, reply('b')], [0, 1]), 0), x)
    assert.equal(sharedTokens(sent([a, b], [0, 1]), sent([a, c], [0, 2]), 0), x)
    assert.equal(sharedTokens(sent([a, b], [0, 1]), sent([a, c], [0, 1]), 0), x + y, 'made again from the same place')
    assert.equal(sharedTokens(sent([a, b], [0, 1]), sent([a, user('b and more')], [0, 1]), 0), x)
    assert.equal(sharedTokens(sent([a]), sent([c, a]), 0), estimateMessage(a), 'without places by their size')
    assert.equal(firstDifference('', ''), undefined)
    assert.equal(firstDifference('abc', 'abc'), undefined)
    assert.equal(firstDifference('abc', 'ab'), 2)
    assert.equal(firstDifference('xbc', 'abc'), 0)
    assert.equal(firstDifference('éa', 'éb'), 2)
  })
})

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
  })

  test('beyond a number of bytes for a request are left out, the oldest first, down to half', () => {
    const big = () => user(picture(7, 7, 8_000_000))
    const left = (count: number) =>
      fitMedia(wholeView(Array.from({ length: count }, big)), {}).messages.map(({ parts }) => parts[0]?.type)
    assert.deepEqual(left(3), ['media', 'media', 'media'])
    assert.deepEqual(left(4), ['text', 'text', 'text', 'media'])
    const one = fitMedia(wholeView([user(picture(7, 7, 24_000_004))]), {})
    assert.equal(one.notes[0]?.why, 'it has more bytes than the provider takes')
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

describe('search results', () => {
  const block = (data: Json): Part => ({ type: 'opaque', kind: 'anthropic-messages/search_result', data })
  const shown = (data: Json) => {
    const part = withSearchResultsAsText(wholeView([user(block(data) as never)]), 'w').messages[0]?.parts[0]
    return part?.type === 'text' ? part.text : undefined
  }

  test('are their title, source and texts, as far as they have any', () => {
    const text = (value: Json) => ({ type: 'text', text: value })
    assert.equal(
      shown({ title: 'T', source: 'S', content: [text('a'), text(''), text(1), 'x', text('b')] }),
      'T\nS\na\nb',
    )
    assert.equal(shown({ source: 'S', content: 'c' }), 'S\nc')
    assert.equal(shown({ title: '' }), '')
    assert.equal(shown('x'), '')
  })

  test('are changed only elsewhere, only where they are, and once', () => {
    const found = user('a', block({ title: 'T' }) as never)
    const other: Part = { type: 'opaque', kind: 'anthropic-messages/other', data: {} }
    const view = wholeView([user('q', other), found, reply('r')], 5)
    const made = withSearchResultsAsText(view, 'w')
    assert.deepEqual(made.messages, [view.messages[0], user('a', 'T'), view.messages[2]])
    assert.deepEqual([made.messages[0] === view.messages[0], made.messages[2] === view.messages[2]], [true, true])
    assert.deepEqual(
      made.notes.map(({ at }) => at),
      ['messages[6]'],
    )
    assert.equal(withSearchResultsAsText(view, 'w').messages[1], made.messages[1])
    assert.equal(withSearchResultsAsText(view, 'anthropic-messages'), view)
    const none = wholeView([user('q'), reply('r')])
    assert.equal(withSearchResultsAsText(none, 'w'), none)
    const later = wholeView([...none.messages, found])
    assert.deepEqual(withSearchResultsAsText(later, 'w').messages[2], user('a', 'T'), 'after a list without any')
    assert.equal(withSearchResultsAsText(none, 'w'), none)
  })
})

test('the price of a cache follows from the price list, the kind of cache and the lifetime', () => {
  const marks = { kind: 'marks', minimum: 5 } as const
  const price = { input: 10, output: 1, cacheRead: 1, cacheWrite: 12, cacheWriteLong: 20 }
  const rest = { minimum: 5, lifetimeMs: 600_000 }
  assert.deepEqual(cachePriceOf({ caching: marks, price }, undefined), { read: 0.1, write: 1.2, ...rest })
  assert.deepEqual(cachePriceOf({ caching: marks, price }, '1h'), {
    read: 0.1,
    write: 2,
    ...rest,
    lifetimeMs: 3_600_000,
  })
  assert.deepEqual(cachePriceOf({ caching: marks, price: { input: 10, output: 1 } }, '1h').write, 1)
  assert.deepEqual(cachePriceOf({ caching: marks, price: { input: 10, output: 1 } }, '1h').read, 1)
  assert.deepEqual(cachePriceOf({ caching: marks }, undefined), { read: 0.1, write: 1.25, ...rest })
  const prefix = { kind: 'prefix' } as const
  assert.deepEqual(cachePriceOf({ caching: prefix }, '1h'), { read: 0.1, write: 1, minimum: 1024, lifetimeMs: 600_000 })
  assert.deepEqual(cachePriceOf({ caching: prefix, atHome: true }, undefined).minimum, 0)
  assert.deepEqual(cachePriceOf({ caching: { ...prefix, lifetimeMs: 7 }, price: { input: 0, output: 0 } }, undefined), {
    read: 0,
    write: 1,
    minimum: 1024,
    lifetimeMs: 7,
  })
  assert.equal(cachePriceOf({ caching: { ...prefix, units: true }, price }, undefined).units, true)
  assert.equal('units' in cachePriceOf({ caching: prefix, price }, undefined), false)
  const gaps = { requests: 4, within: 2, beyond: 0 }
  assert.equal(cacheTtlFor({ caching: marks, price }, gaps, 1000, 100), '1h')
  assert.equal(cacheTtlFor({ caching: prefix, price }, gaps, 1000, 100), '5m')
  assert.equal(cacheTtlFor({ caching: marks }, gaps, 1000, 100), '5m')
  const { cacheWriteLong: _, ...short } = price
  assert.equal(cacheTtlFor({ caching: marks, price: short }, gaps, 1000, 100), '5m')
  assert.equal(cacheTtlFor({ caching: marks, price }, { ...gaps, within: 1 }, 1000, 100), '5m')
  assert.equal(cacheTtlFor({ caching: marks, price }, { ...gaps, requests: 0 }, 1000, 100), '5m')
})

test('a note names the places between two messages of a view, without those that were added', () => {
  const view = (...places: number[]): View => ({ messages: places.map(() => user('a')), places, notes: [] })
  assert.equal(placesFrom(view(4, 5, 6), 0, 2), 'messages[4..6]')
  assert.equal(placesFrom(view(4, 5, 6), 1, 1), 'messages[5]')
  assert.equal(placesFrom(view(-1, 5, -1), 0, 2), 'messages[5]')
  assert.equal(placesFrom(view(-1, 5, 6, -1), 0, 3), 'messages[5..6]')
  assert.equal(placesFrom(view(-1, -1), 0, 1), 'messages[0..1]')
  assert.equal(placesFrom(view(0, 1), 0, 0), 'messages[0]')
})

test('arguments that are nested too deeply are text in each call that has them, and the same message each time', () => {
  let deep: Json = 1
  for (let i = 0; i < 80; i++) deep = { a: deep }
  const asked = reply('x', call('a', 'tool', deep), call('b', 'tool', { c: 1 }))
  const history = [user('q'), asked, result('a', '1'), result('b', '2')]
  const [first, second] = [wholeView(history), wholeView([...history, user('r')])]
  assert.equal(first.messages[1], second.messages[1])
  assert.deepEqual(first.messages[1]?.parts.slice(2), asked.parts.slice(2))
  assert.deepEqual([first.notes.length, second.notes.length], [1, 1])
  const given: Part = { type: 'tool-call', callId: 'a', name: 'tool', input: deep as never, malformed: 'as it was' }
  const [part] = wholeView([reply(given), result('a', '1')]).messages[0]?.parts ?? []
  assert.deepEqual(part, { ...given, input: {} })
})

describe('steps', () => {
  const turns = (count: number) => [user('q'), ...Array.from({ length: count }, (_, i) => turn(`c${i}`)).flat()]
  const chat = (count: number) => Array.from({ length: count }, (_, i) => (i % 2 === 0 ? user('q') : reply('a')))

  test('are of five turns, or of half of a larger limit, or one if nothing is to stay', () => {
    const folded = (count: number, settings: Parameters<typeof stepFolds>[1]) =>
      stepFolds(wholeView([...turns(count), reply('x')]), settings).length
    const each = (counts: number[], settings: Parameters<typeof stepFolds>[1]) =>
      counts.map((count) => folded(count, settings))
    assert.deepEqual(each([1, 2, 3], { maxToolTurns: 0 }), [1, 2, 3])
    assert.deepEqual(each([6, 7, 11, 12], { maxToolTurns: 2 }), [0, 5, 5, 10])
    assert.deepEqual(each([19, 20, 26, 27], { maxToolTurns: 13 }), [0, 7, 7, 14])
    assert.deepEqual(each([4, 5, 7], { maxToolTurns: 2, step: 3 }), [0, 3, 3])
    assert.deepEqual(each([9], { maxToolTurns: 2, rhythm: 'economy' }), [0])
    assert.deepEqual(each([9], {}), [0])
    assert.deepEqual(each([9], { maxToolTurns: null }), [0])
  })

  test('name the moment at which each turn was folded', () => {
    const view = wholeView([...turns(12), reply('x')])
    const moments = stepFolds(view, { maxToolTurns: 2 }).map(({ at, why }) => `${at} ${why}`)
    assert.deepEqual(
      [...new Set(moments)],
      ['13 older than the last 2 tool turns', '23 older than the last 2 tool turns'],
    )
  })

  test('of messages cut half of them, and of tokens down to half', () => {
    const cut = (count: number, settings: Parameters<typeof stepwise>[1]) =>
      stepwise(wholeView(chat(count)), settings).places
    assert.deepEqual(cut(8, { maxMessages: 8 }).length, 8)
    assert.deepEqual(cut(9, { maxMessages: 8 }), [0, 5, 6, 7, 8])
    assert.deepEqual(cut(9, { maxMessages: 8, step: 100 }), [0, 8])
    assert.deepEqual(cut(9, { maxMessages: 8, rhythm: 'economy' }).length, 9)
    const each = estimateMessage(user('q'))
    assert.equal(cut(9, { maxTokens: 9 * each }).length, 9)
    const shorter = cut(9, { maxTokens: 9 * each - 1 })
    assert.ok(shorter.length <= 5 && shorter.length >= 4, shorter.join())
    const notes = stepwise(wholeView(chat(9)), { maxMessages: 8, maxTokens: 1 }).notes
    assert.deepEqual(
      notes.map(({ why }) => why),
      ['over 8 messages', 'over 1 tokens'],
    )
  })

  test('of both leave the same messages as if the folds came first', () => {
    const history = [...turns(6), ...chat(9)]
    const { messages, places } = stepwise(wholeView(history), { maxMessages: 10, maxToolTurns: 0 })
    assert.equal(messages.length, places.length)
    assert.ok(messages.length <= 10)
    assert.equal(places.at(-1), history.length - 1)
    assert.equal(messages[0], history[0])
  })
})

describe('marks of a cache', () => {
  const view = (...messages: Message[]) => wholeView(messages)
  const chat = view(user('q'), reply('a'), user('r'), reply('b'), user('s'))

  test('are after the system, at the end of the last request and at the newest message', () => {
    assert.deepEqual(cacheMarks(chat, {}), [-1, 2, 4])
    assert.deepEqual(cacheMarks(view(user('q')), {}), [-1, 0])
    assert.deepEqual(cacheMarks(view(), {}), [-1])
    assert.deepEqual(cacheMarks(chat, { maxMessages: 10 }), [-1, 0, 2, 4], 'where a window breaks')
    assert.deepEqual(cacheMarks(chat, { maxMessages: null }), [-1, 2, 4])
  })

  test('hold the place of the next break: before the first turn that is worth folding', () => {
    const long2 = view(user('q'), ...turn('a', 'short'), ...turn('b'), ...turn('c'), user('r'))
    assert.deepEqual(cacheMarks(long2, { maxToolTurns: 1 }), [-1, 2, 4, 7])
    assert.deepEqual(cacheMarks(long2, {}), [-1, 4, 7])
    assert.deepEqual(cacheMarks(long2, { maxToolTurns: 1 }, 5), [-1, 4, 7], 'only those after the last break')
    assert.deepEqual(cacheMarks(long2, { maxToolTurns: 1 }, 7), [-1, 6, 7])
    assert.deepEqual(cacheMarks(long2, { maxToolTurns: 1 }, 99), cacheMarks(long2, { maxToolTurns: 1 }))
  })

  test('know where the newest fold begins', () => {
    const fold = (from: number) => ({ from, through: from, style: 'stub' as const, why: '' })
    const decisions = { ...noDecisions, folds: [fold(1), fold(5)] }
    assert.equal(lastBreak(chat, {}, decisions), 5)
    assert.equal(lastBreak(chat, { rhythm: 'economy', maxToolTurns: 2 }, decisions), 5)
    assert.equal(lastBreak(chat, {}, undefined), undefined)
    assert.equal(lastBreak(chat, { maxToolTurns: 2 }, decisions), undefined)
    const turns = wholeView([user('q'), ...Array.from({ length: 12 }, (_, i) => turn(`c${i}`)).flat(), reply('x')], 3)
    assert.equal(lastBreak(turns, { maxToolTurns: 2 }, undefined), 14)
  })
})

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
    const room = 400 - lines.slice(0, 2).join('\n').length
    const fitting = lines.slice(2).filter((line) => line.length + 1 <= room).length > 0
    assert.equal(plainSummary(view, 5, undefined, 10).includes('[Tool use #4]'), fitting)
  })

  test('is written from the whole text if that fits exactly', () => {
    const list = [user('z'.repeat(9000)), reply({ type: 'server-tool', name: 's', input: { a: 1 } })]
    const whole = historyAsText(list, undefined, 1e9)
    assert.equal(
      whole,
      `The conversation:\n\nUser: ${'z'.repeat(4000)} … ${'z'.repeat(4000)}\n\nThe provider ran s: {"a":1}`,
    )
    const tokens = estimateTokens(whole)
    assert.equal(historyAsText(list, undefined, tokens), whole)
    assert.ok(historyAsText(list, undefined, tokens - 1).length < whole.length)
    const named: Message = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'a', name: 'look', output: [onePixel] }],
    }
    assert.match(historyAsText([named], undefined, 1000), /look answered: \[image\/png, not shown\]/)
  })
})

test('the sentence about recall is part of the same message each time, and of none where nothing is left out', () => {
  const summary = user({ type: 'compaction', text: 'S' } as never)
  const view = wholeView([summary, reply('a'), user('q')])
  const made = mentionRecall(view, () => false)
  assert.match(JSON.stringify(made.messages[0]), /S\\n\\nThe tool `recall` finds/)
  assert.equal(mentionRecall(view, () => false).messages[0], made.messages[0])
  assert.deepEqual(made.messages.slice(1), view.messages.slice(1))
  const none = wholeView([user('q'), reply('a')])
  assert.equal(
    mentionRecall(none, () => false),
    none,
  )
  const kept = reply({ type: 'compaction', text: 'S', from: 0 })
  const native = wholeView([kept, user('q')])
  assert.equal(
    mentionRecall(native, () => false),
    native,
    'the provider’s own summary',
  )
  const two = wholeView([user({ type: 'compaction', text: 'S' } as never, 'and'), user('q')])
  assert.equal(
    mentionRecall(two, () => false),
    two,
  )
})

describe('a request', () => {
  const target = {
    provider: 'openai',
    model: 'gpt-4o',
    options: {},
    quirks: {},
    capabilities: openaiChat.capabilities,
  }
  const made = (change: Partial<RequestDraft>): Assembled =>
    assemble({ history: [user('q')], protocol: openaiChat, target, ...change })

  test('has each tool once, in valid text, and as a function where the wire has no other kind', () => {
    const input = { type: 'object', properties: {} }
    const tools: ToolSpec[] = [
      { name: 'a', input },
      { name: 'b', description: 'x\ud800', input },
      { name: 'a', description: 'second', input },
    ]
    const { context, notes } = made({ tools })
    assert.deepEqual(
      context.tools.map(({ name, description }) => [name, description]),
      [
        ['a', undefined],
        ['b', 'x\ufffd'],
      ],
    )
    assert.equal(context.tools[0], tools[0], 'a tool that is clean stays the same object')
    assert.deepEqual(
      notes.filter(({ kind }) => kind === 'dropped').map(({ what }) => what),
      ['a second tool "a"'],
    )
    const free: ToolSpec = { name: 'c', kind: 'free-form', input, grammar: { syntax: 'lark', definition: 'start: A' } }
    const sent = (toolKinds: boolean) =>
      made({ tools: [free], target: { ...target, capabilities: { ...target.capabilities, toolKinds } } }).context
        .tools[0]
    assert.equal(sent(true), free)
    assert.match(sent(false)?.description ?? '', /must match this lark grammar/)
    assert.deepEqual(['grammar' in (sent(true) ?? {}), 'grammar' in (sent(false) ?? {})], [true, false])
    assert.equal(sent(false), sent(false))
  })

  test('says in words what its answer must be where the provider takes no schema', () => {
    const answerSchema = { type: 'object', properties: {} }
    const capabilities = { ...target.capabilities, answer: 'none' as const }
    const asked = made({ target: { ...target, options: { answerSchema }, capabilities } })
    assert.match(asked.context.system.at(-1)?.text ?? '', /fits the following JSON Schema/)
    assert.equal(asked.notes.filter(({ rule }) => rule === 'answer-format').length, 1)
    const tools = [{ name: 'a', input: {} }]
    const withTools = { ...target.capabilities, answer: 'schema' as const, answerWithTools: 'none' as const }
    const both = (given: ToolSpec[]) =>
      made({ tools: given, target: { ...target, options: { answerSchema }, capabilities: withTools } }).context.system
        .length
    assert.deepEqual([both([]), both(tools)], [0, 1])
    assert.deepEqual(made({}).context.system, [])
  })

  test('sends the tools of a provider with those of the caller, and alone as they are', () => {
    const extra = { tools: [{ type: 'web' }], other: 1 }
    const tools = [{ name: 'a', input: { type: 'object', properties: {} } }]
    const both = made({ tools, target: { ...target, options: { extra } } })
    assert.deepEqual(
      (both.body['tools'] as { type: string }[]).map(({ type }) => type),
      ['function', 'web'],
    )
    assert.equal(both.body['other'], 1)
    assert.equal(both.notes.filter(({ what }) => what === '1 tools of the provider').length, 1)
    const alone = made({ target: { ...target, options: { extra } } })
    assert.deepEqual(alone.body['tools'], extra.tools)
    assert.equal(
      alone.notes.some(({ what }) => what === '1 tools of the provider'),
      false,
    )
  })

  test('is estimated with its head, and tools count once each', () => {
    const tool = { name: 'a', description: 'b', input: {} }
    const head = estimateHead([{ type: 'text', text: 'some words' }], [tool, tool])
    assert.equal(head, estimateTokens('some words') + 2 * estimateTokens(JSON.stringify(tool)))
    assert.equal(estimateHead([], []), 0)
    const plain = made({ system: 'some words' })
    assert.equal(plain.estimate.input, estimateTokens('some words') + estimateMessage(user('q')))
  })

  test('of a log is planned from the same view again, and of other lists from what they are now', () => {
    const history = [user('q'), reply(calls('a'))]
    const listed = made({ history, fromLog: true })
    assert.equal(listed.context.fromLog, true)
    assert.equal(made({ history, fromLog: true }).seen.messages[0], listed.seen.messages[0])
    assert.equal('fromLog' in made({ history }).context, false)
    const changing = [user('q')]
    assert.equal(made({ history: changing }).seen.messages.length, 1)
    changing.push(user('r'))
    assert.equal(made({ history: changing }).seen.messages.length, 2)
  })

  test('that is too long is folded first, and cut down to its floor only then', () => {
    const turns = [user('q'), ...Array.from({ length: 20 }, (_, i) => turn(`c${i}`)).flat(), user('r')]
    const sized = (contextWindow: number, policy?: RequestDraft['policy']) => {
      const capabilities = { ...target.capabilities, contextWindow }
      const { notes, estimate } = made({
        history: turns,
        ...(policy !== undefined && { policy }),
        target: { ...target, capabilities },
      })
      return { rules: notes.map(({ rule }) => rule), size: estimate.input }
    }
    const whole = sized(1e6)
    assert.deepEqual(whole.rules, [])
    const window = (tokens: number) => Math.ceil(tokens / 0.92 / 0.8) + 1
    assert.deepEqual(sized(window(whole.size)).rules, [])
    assert.deepEqual(sized(window(whole.size) - 50).rules, ['tool-turns'])
    const folded = sized(window(whole.size) - 50).size
    assert.deepEqual(sized(window(folded)).rules, ['tool-turns'])
    const cut = sized(window(folded) - 50)
    assert.deepEqual(cut.rules, ['tool-turns', 'window'])
    assert.ok(cut.size <= folded / 2)
  })
})

describe('the explanation of a request', () => {
  const target = {
    provider: 'openai',
    model: 'gpt-4o',
    options: {},
    quirks: {},
    capabilities: openaiChat.capabilities,
  }
  const base = assemble({ history: [user('q'), reply('a'), user('r')], protocol: openaiChat, target })
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
    const all = assemble({ history: [system], protocol: openaiChat, target })
    const [first] = explain({ history: [system], assembled: all }).messages
    assert.deepEqual(
      [first?.fate, first?.sent, first?.tokens],
      ['sent', estimateMessage(system), estimateMessage(system)],
    )
  })
})
