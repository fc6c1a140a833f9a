// What is remembered from one request to the next, and how places are named.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Message, Part } from '../../src/core/message.ts'
import { alongPath, placesOf } from '../../src/context/along-path.ts'
import { estimateMessage } from '../../src/context/count.ts'
import { prefixes } from '../../src/context/prefix-memo.ts'
import { firstDifference, sharedTokens } from '../../src/context/shared-prefix.ts'
import { placesFrom, wholeView, type View } from '../../src/context/view.ts'
import { call, reply, result, user } from '../histories.ts'

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

  test('is three lists at most, and a list that another continues is replaced', () => {
    const memo = prefixes<string>()
    memo.keep([a, b], 'ab')
    memo.keep([a, b, c], 'abc')
    memo.keep([a, d], 'ad')
    assert.deepEqual(memo.longest([a, b, c]), { shared: 3, value: 'abc' })
    assert.deepEqual(memo.longest([a, d]), { shared: 2, value: 'ad' })
    memo.keep([a, c], 'ac')
    assert.deepEqual(memo.longest([a, b, c]), { shared: 3, value: 'abc' })
    memo.keep([a, c, d], 'acd')
    assert.deepEqual(memo.longest([a, b, c]), { shared: 3, value: 'abc' }, 'a list that continues takes no place')
    memo.keep([a, a], 'aa')
    assert.deepEqual(memo.longest([a, b, c]), { shared: 1, value: 'aa' }, 'the oldest is gone')
    assert.deepEqual(memo.longest([a, d]), { shared: 2, value: 'ad' })
  })

  test('is not replaced by a list that only has the same end', () => {
    const memo = prefixes<string>()
    memo.keep([a, b, c], 'abc')
    memo.keep([a, d, c], 'adc')
    assert.deepEqual(memo.longest([a, b, c, d]), { shared: 3, value: 'abc' })
    assert.deepEqual(memo.longest([a, d, c, d]), { shared: 3, value: 'adc' })
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
