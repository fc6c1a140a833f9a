// The words that a fold names after "with". They never change once they were sent.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Message, Part } from '../../src/core/message.ts'
import { findToolTurns, foldedAhead, foldedTurns, foldToolTurns } from '../../src/context/tool-turns.ts'
import { wholeView } from '../../src/context/view.ts'
import type { FoldStyle } from '../../src/settings/policy.ts'
import { call, calls, onePixel, reply, result, user } from '../histories.ts'
import fc, { runs } from '../property.ts'
import { fileTurn, long } from './long-turns.ts'

describe('the words of a fold', () => {
  /** What follows "with" in each fold, for turns folded at the given positions. */
  const words = (history: Message[], at: number[]) => {
    const view = wholeView(history)
    const turns = findToolTurns(view.messages)
    const foldings = at.map((one, i) => ({ turn: turns[i] ?? assert.fail(), style: 'stub' as const, why: '', at: one }))
    return foldedTurns(view, foldings).map((messages) =>
      messages.map(({ message }) => /; with ([^"\\]+)/.exec(JSON.stringify(message))?.[1]).find(Boolean),
    )
  }
  const about = (id: string, ...found: string[]) => fileTurn(id, `${found.join(' ')} ${long}`)

  test('are those that appear nowhere else in what was visible then', () => {
    const history = [
      user('see known_1'),
      ...about('a', 'known_1', 'own_a'),
      reply('and said_2'),
      ...about('b', 'said_2', 'own_a', 'own_b'),
      user('later_3'),
    ]
    assert.deepEqual(words(history, [6, 6]), ['own_a', 'own_b'], 'a word is in one fold')
    assert.deepEqual(words([...history.slice(0, 3), user('own_a')], [2]), ['own_a'], 'what comes later does not count')
    assert.deepEqual(words([...history.slice(0, 3), user('own_a')], [3]), [undefined])
  })

  test('do not include those of a turn that stays, until that is folded', () => {
    const history = [user('q'), ...about('a', 'both_1', 'own_a'), ...about('b', 'both_1', 'own_b'), user('r')]
    assert.deepEqual(words(history, [4]), ['own_a'])
    assert.deepEqual(words(history, [4, 5]), ['own_a', 'both_1 own_b'])
    assert.deepEqual(words(history, [5, 5]), ['both_1 own_a', 'own_b'])
    const short = [user('q'), ...about('a', 'both_1', 'own_a'), ...fileTurn('b', 'both_1'), user('r')]
    assert.deepEqual(words(short, [5]), ['own_a'], 'a turn that is not worth folding stays')
  })

  test('are not repeated by a later fold', () => {
    const history = [user('q'), ...about('a', 'both_1', 'own_a'), ...about('b', 'both_1', 'own_b'), user('r')]
    assert.deepEqual(words(history, [2, 5]), ['both_1 own_a', 'own_b'])
  })

  test('do not change when the same history is folded again, longer, shorter or otherwise', () => {
    const history = [
      user('q'),
      ...about('a', 'x_1', 'y_2'),
      reply({ type: 'refusal', text: 'not z_3' }),
      ...about('b', 'x_1', 'z_3'),
      ...about('c', 'y_2', 'w_4'),
      user('v_5'),
    ]
    const rows: [Message[], number[]][] = [
      [history, [2]],
      [history, [2, 5]],
      [history, [2, 5, 8]],
      [history.slice(0, 6), [2, 5]],
      [history, [7, 7, 7]],
      [history, [5, 5]],
      [
        [...history.slice(0, 4), user('x_1'), ...about('b', 'x_1', 'u_6')],
        [2, 6],
      ],
      [history, [2, 5, 8]],
      [
        [...history, ...about('d', 'v_5', 'w_4', 't_7')],
        [2, 5, 8, 10],
      ],
    ]
    for (const [list, at] of [...rows, ...rows.toReversed()]) {
      assert.deepEqual(words(list, at), words(structuredClone(list), at), `${list.length} ${at.join()}`)
    }
  })

  test('are the same whichever branches and folds of the history were processed before', () => {
    const vocabulary = ['x_1', 'y_2', 'z_3', 'w_4']
    const turnOf = (i: number, shift: number) => [
      ...about(`t${i}`, `own_${i}`, vocabulary[(i + shift) % 4] ?? '', vocabulary[(3 * i + shift) % 4] ?? ''),
      reply(`after ${vocabulary[(i + 2 * shift) % 4]}`),
    ]
    const start = [user('q'), ...[0, 1, 2].flatMap((i) => turnOf(i, 0))]
    const branches = [1, 2].map((shift) => [...start, ...[3, 4, 5].flatMap((i) => turnOf(i, shift))])
    const step = fc.record({ branch: fc.nat(1), later: fc.array(fc.nat(9), { minLength: 1, maxLength: 6 }) })
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 8 }), (steps) => {
        const own = structuredClone(branches)
        // A branch shares the messages before the fork.
        own[1]?.splice(0, start.length, ...(own[0] ?? []).slice(0, start.length))
        for (const { branch, later } of steps) {
          const history = own[branch] ?? []
          const at = later.map((more, i) => 3 * i + 2 + more)
          assert.deepEqual(words(history, at), words(structuredClone(history), at))
        }
      }),
      { numRuns: runs(60) },
    )
  })

  test('are looked for in texts, refusals, summaries, arguments and results, and nowhere else', () => {
    const seen = (...before: (string | Part)[]) => [reply(...before), ...about('a', 'own_a'), user('r')]
    assert.deepEqual(words(seen('own_a'), [2]), [undefined])
    assert.deepEqual(words(seen({ type: 'refusal', text: 'own_a' }), [2]), [undefined])
    assert.deepEqual(words(seen({ type: 'compaction', text: 'own_a' }), [2]), [undefined])
    assert.deepEqual(words(seen({ type: 'compaction' }), [2]), ['own_a'])
    assert.deepEqual(words(seen({ type: 'reasoning', text: 'own_a' }), [2]), ['own_a'], 'thoughts are not sent')
    const standing = (answer: Message) => [
      user('q'),
      ...about('a', 'own_a', 'both_1'),
      reply(call('b', 'look', { at: 'own_a' })),
      answer,
      user('r'),
    ]
    assert.deepEqual(words(standing(result('b', long, 'look')), [4]), ['both_1'])
    assert.deepEqual(words(standing(result('b', `both_1 ${long}`, 'look')), [4]), [undefined])
    assert.deepEqual(words(standing(result('b', 'both_1', 'look')), [4]), [undefined], 'also of a short turn')
    const pictured: Message = {
      role: 'tool',
      parts: [
        { type: 'tool-result', callId: 'a', name: 'read', output: [onePixel, { type: 'text', text: `x_1 ${long}` }] },
      ],
    }
    assert.deepEqual(words([user('q'), reply(call('a', 'read', { path: 'y_2' })), pictured, user('r')], [3]), ['x_1'])
  })

  test('belong to the messages that are folded, not to others in the same places', () => {
    const first = user('q')
    const list = (...parts: Message[][]) => [first, ...parts.flat(), user('r')]
    const [a, b, c] = [about('a', 'x_1'), about('b', 'x_1', 'y_2'), about('c', 'z_3')]
    const lists: [Message[], number[]][] = [
      [list(a, b), [5, 5]],
      [list(b, a), [5, 5]],
      [list(a, c), [5, 5]],
      [list(a, [user('y_2')], b), [5, 5]],
      [list(a, b, c), [5, 5]],
      [list(a, [...b, result('b', 'w_4', 'read')]), [5, 5]],
      [list(a, b), [2, 5]],
      [list(a, b), [3, 5]],
      [list(a, b), [5]],
      [list([...a, user('z_3')], c), [5, 6]],
    ]
    for (const [one, at] of [...lists, ...lists.toReversed(), ...lists]) {
      assert.deepEqual(words(one, at), words(structuredClone(one), at))
    }
  })

  test('are chosen once: the fold of a turn is the same message in every later request', () => {
    const history = [user('q'), ...about('a', 'x_1'), ...about('b', 'y_2'), ...about('c', 'z_3'), user('r')]
    const folded = (list: Message[], count: number, style: FoldStyle = 'stub') => {
      const view = wholeView(list)
      const turns = findToolTurns(view.messages).slice(0, count)
      return foldedTurns(
        view,
        turns.map((one, i) => ({ turn: one, style, why: '', at: Math.min(4 + 2 * i, 7) })),
      )
    }
    const before = folded(history.slice(0, 5), 1)
    const [after, again] = [folded(history, 3), folded([...history, user('s')], 3)]
    assert.equal(after[0]?.[0]?.message, before[0]?.[0]?.message)
    for (const i of [0, 1, 2]) assert.equal(again[i]?.[0]?.message, after[i]?.[0]?.message, `turn ${i}`)
    assert.equal(folded(history, 2)[1]?.[0]?.message, after[1]?.[0]?.message, 'and of fewer folds')
    const other = folded(history, 2, 'results')
    assert.notEqual(other[0]?.[1]?.message, after[0]?.[0]?.message)
    assert.equal(folded(history, 3)[0]?.[0]?.message, after[0]?.[0]?.message, 'two ways of folding are remembered')
  })

  test('that no call explains are not added, and neither is anything to a line without words', () => {
    const stray: Message = { role: 'tool', parts: [...result('a', long).parts, ...result('b', `x_1 ${long}`).parts] }
    const view = { ...wholeView([]), messages: [reply(calls('a')), stray], places: [0, 1] }
    const [, folded] = foldToolTurns(view, [{ turn: { start: 0, end: 2 }, style: 'results', why: '', at: 1 }]).messages
    assert.deepEqual(
      folded?.parts.map((part) => part.type === 'tool-result' && part.output),
      [
        [{ type: 'text', text: '[Folded #1] ok, 1000 characters' }],
        [{ type: 'text', text: '[Folded #1.1] ok, 1004 characters' }],
      ],
    )
  })

  test('are the same if they are made step by step', () => {
    const history = () => [
      user('see known_1'),
      ...Array.from({ length: 12 }, (_, i) => about(`${i}`, 'known_1', `own_${i}`, `both_${i >> 1}`)).flat(),
      user('r'),
    ]
    for (const at of [() => 30, (i: number) => 8 + 3 * (i >> 1)]) {
      const [one, other] = [wholeView(history()), wholeView(history())].map((view) => {
        const turns = findToolTurns(view.messages).slice(0, 8)
        return { view, foldings: turns.map((each, i) => ({ turn: each, style: 'stub' as const, why: '', at: at(i) })) }
      })
      if (!one || !other) assert.fail()
      const steps = [...foldedAhead(one.view, one.foldings)].length
      assert.ok(steps >= one.foldings.length)
      const made = foldedTurns(one.view, one.foldings)
      assert.deepEqual(made, foldedTurns(other.view, other.foldings))
      assert.deepEqual([...foldedAhead(one.view, one.foldings)], [], 'they are not made again')
    }
  })

  test('come in the order of the given turns, whenever each was folded', () => {
    const history = [user('q'), ...about('a', 'own_a'), ...about('b', 'own_b'), user('r')]
    assert.deepEqual(words(history, [5, 4]), ['own_a', 'own_b'])
    assert.deepEqual(words([], []), [])
  })
})
