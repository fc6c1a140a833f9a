// The text of folds: it never changes once it was sent, so each rule is tested by its whole result.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Message, Part, ToolResultPart } from '../../src/core/message.ts'
import { estimateMessage, estimateTokens, sizesOf } from '../../src/context/count.ts'
import { chosenWords, foldedCall, foldedResult, resultNumbers, wordsOfInput } from '../../src/context/fold-text.ts'
import { numberedResult } from '../../src/context/numbered-result.ts'
import {
  beforeFold,
  findToolTurns,
  foldedTurns,
  foldToolTurns,
  isFold,
  leastSaving,
  olderTurns,
  savingOf,
} from '../../src/context/tool-turns.ts'
import { wholeView } from '../../src/context/view.ts'
import type { FoldStyle } from '../../src/settings/policy.ts'
import { call, calls, failure, onePixel, reply, result, user } from '../histories.ts'
import fc, { runs } from '../property.ts'

const done = result('c', 'abc').parts[0] as ToolResultPart

describe('the line of a folded call', () => {
  const line = (input: Json, malformed?: string) =>
    foldedCall({ ...call('c', 'read'), input, ...(malformed !== undefined && { malformed }) }, done, '7')
  const argument = (value: Json) => /\(a: (.*)\): ok, 3 characters$/.exec(line({ a: value }))?.[1]

  test('has its number, name, arguments and outcome', () => {
    assert.equal(line({ a: 1, b: 'x', c: null }), '[Tool use #7] read(a: 1, b: x, c: null): ok, 3 characters')
    assert.equal(foldedCall(call('c', 'read'), undefined, undefined), '[Tool use] read(): no result')
    assert.equal(foldedResult(done, '7'), '[Folded #7] ok, 3 characters')
    assert.equal(foldedResult(done, undefined), '[Folded] ok, 3 characters')
    assert.equal(line([1, 2]), '[Tool use #7] read([1,2]): ok, 3 characters')
    assert.equal(line({}, '{"a'), '[Tool use #7] read({"a): ok, 3 characters')
  })

  test('has arguments of up to sixty characters, and of longer ones both ends', () => {
    const sixty = 'ab '.repeat(20)
    assert.equal(argument(sixty.trim()), sixty.trim())
    assert.equal(argument('x'.repeat(60)), 'x'.repeat(60))
    assert.equal(argument('x'.repeat(61)), `${'x'.repeat(29)}…${'x'.repeat(29)}`)
    assert.equal(argument(['y'.repeat(60)]), `["${'y'.repeat(27)}…${'y'.repeat(27)}"]`)
    assert.equal(argument('  a \n b  '), 'a b')
    assert.equal(line({}, 'x'.repeat(61)), `[Tool use #7] read(${'x'.repeat(29)}…${'x'.repeat(29)}): ok, 3 characters`)
    assert.equal(line('z'.repeat(70)), `[Tool use #7] read("${'z'.repeat(28)}…${'z'.repeat(28)}"): ok, 3 characters`)
  })

  test('has the last three segments of a longer path, and no part of a URL or a text is taken for a path', () => {
    const rows: [string, string][] = [
      ['/a/b/c', '/a/b/c'],
      ['/a/b/c/d', '…/b/c/d'],
      ['a/b/c/d', 'a/b/c/d'],
      ['a/b/c/d/e', '…/c/d/e'],
      ['~/a/b/c/d', '…/b/c/d'],
      ['../a/b/c/d', '…/b/c/d'],
      ['/a/b/c/d/', '…/c/d/'],
      ['https://a/b/c/d/e', 'https://a/b/c/d/e'],
      ['/a b/c/d/e/f', '/a b/c/d/e/f'],
      ['//a/b/c/d', '//a/b/c/d'],
      ['word', 'word'],
    ]
    for (const [path, shown] of rows) assert.equal(argument(path), shown, path)
    const long = `/${'a'.repeat(990)}/b/c/d`
    assert.equal(argument(`${long}/ef`), `…/c/d/ef`, 'a thousand characters')
    assert.equal(argument(`${long}/efg`), `/${'a'.repeat(28)}…${`${long}/efg`.slice(-29)}`)
  })

  test('has the size of the output, its media, and the beginning of an error', () => {
    const outcome = (...output: ToolResultPart['output']) => foldedResult({ ...done, output }, undefined).slice(9)
    const text = (value: string) => ({ type: 'text' as const, text: value })
    assert.equal(outcome(), 'ok, 0 characters')
    assert.equal(outcome(text('ab'), text('c')), 'ok, 3 characters')
    assert.equal(outcome(text('ab'), onePixel), 'ok, 2 characters, 1 media')
    assert.equal(outcome(onePixel, onePixel), 'ok, 0 characters, 2 media')
    const failed = (...output: ToolResultPart['output']) =>
      foldedResult({ ...done, output, failed: true }, undefined).slice(9)
    assert.equal(failed(), 'failed, 0 characters')
    assert.equal(failed(text(' \n ')), 'failed, 3 characters')
    assert.equal(failed(onePixel, text(' a \n b '), text('c')), 'failed, 8 characters, 1 media: a b')
    assert.equal(failed(text('x'.repeat(160))), `failed, 160 characters: ${'x'.repeat(160)}`)
    assert.equal(failed(text('x'.repeat(161))), `failed, 161 characters: ${'x'.repeat(160)}`)
    assert.equal(failed(text(`${' '.repeat(319)}ab`)), 'failed, 321 characters: a')
    assert.equal(failed(text(`${' '.repeat(320)}ab`)), 'failed, 322 characters')
  })

  test('has the position of its result, and which one it is if there are several', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => result(id, id).parts[0] as ToolResultPart)
    assert.ok(a && b && c && d)
    const numbers = resultNumbers(
      [
        { role: 'tool', parts: [a, b] },
        { role: 'tool', parts: [c] },
        { role: 'tool', parts: [d] },
      ],
      [4, -1, 4],
    )
    assert.deepEqual(
      [a, b, c, d].map((part) => numbers.get(part)),
      ['4', '4.1', undefined, '4.2'],
    )
    assert.equal(resultNumbers([{ role: 'tool', parts: [a] }], []).size, 0)
    assert.equal(resultNumbers([{ role: 'tool', parts: [a] }], [0]).get(a), '0')
  })
})

test('the result of a fold is found by its number, with its call', () => {
  const system: Message = { role: 'system', parts: [{ type: 'text', text: 's' }] }
  const two: Message = { role: 'tool', parts: [...result('b', '2').parts, ...result('c', '3').parts] }
  const history = [system, user('q'), reply(calls('a')), result('a', '1'), reply(calls('b', 'c')), two, user('r')]
  const found = (number: string) => {
    const { call: asked, result: answer } = numberedResult(history, number) ?? {}
    return [asked?.callId, answer?.callId]
  }
  assert.deepEqual(found('3'), ['a', 'a'])
  assert.deepEqual(found('5'), ['b', 'b'])
  assert.deepEqual(found('5.1'), ['c', 'c'])
  for (const none of ['2', '4', '5.2', '9', 'x', '']) assert.deepEqual(found(none), [undefined, undefined], none)
  assert.equal(numberedResult([system], '0'), undefined)
})

test('the words of arguments are those of all their values, and not of their names', () => {
  const words = (input: Json, malformed?: string) => {
    const into = new Set<string>()
    wordsOfInput({ ...call('c', 'x'), input, ...(malformed !== undefined && { malformed }) }, into)
    return [...into]
  }
  assert.deepEqual(words({ key_1: 'a_b', list: ['c_d', { e: 'f_g' }, 1234, true, null] }), [
    'a_b',
    'c_d',
    'f_g',
    '1234',
  ])
  assert.deepEqual(words({ a: 'b_c' }, '{"x": d_e'), ['d_e'])
  assert.deepEqual(words('a_b'), ['a_b'])
})

test('as many words are chosen as fit into a third of what is saved, and at most 350 tokens', () => {
  const each = estimateTokens('ab_cd') + 1
  const chosen = (count: number, saves: number) =>
    chosenWords(
      Array.from({ length: count }, () => 'ab_cd'),
      saves,
    ).length
  assert.equal(chosen(3, (2 * each) / 0.35 + 0.01), 2)
  assert.equal(chosen(3, (2 * each) / 0.35 - 0.01), 1)
  assert.equal(chosen(3, 0), 0)
  assert.equal(chosen(1000, 1_000_000), Math.floor(350 / each))
  assert.equal(chosenWords(Array<string>(1000).fill('ab'), 1_000_000).length, 350 / (estimateTokens('ab') + 1))
  assert.deepEqual(chosenWords(['x'.repeat(5000), 'a_b'], 1000), [], 'in order: one that does not fit ends the list')
})

const long = 'and so on '.repeat(100)
const turn = (id: string, text = long, ...words: string[]) => [
  reply(...words, call(id, 'read', { path: `f_${id}` })),
  result(id, text, 'read'),
]

describe('tool turns', () => {
  test('are found in any list, also after a longer and a shorter one with the same beginning', () => {
    const history = [user('q'), ...turn('a'), reply('x'), ...turn('b'), user('r')]
    const starts = (list: readonly Message[]) => findToolTurns(list).map(({ start, end }) => `${start}-${end}`)
    assert.deepEqual(starts(history.slice(0, 2)), ['1-2'], 'its result is still to come')
    assert.deepEqual(starts(history.slice(0, 3)), ['1-3'])
    assert.deepEqual(starts(history), ['1-3', '4-6'])
    assert.deepEqual(starts(history.slice(0, 4)), ['1-3'])
    assert.deepEqual(starts([...history.slice(0, 3), result('a', 'more', 'read'), ...turn('c')]), ['1-4', '4-6'])
    assert.deepEqual(starts([]), [])
    assert.deepEqual(starts([user('q'), reply('x')]), [])
    assert.equal(findToolTurns(history), findToolTurns(history))
  })

  test('that may be folded are all but the last, and never one whose results are new', () => {
    const history = [...turn('a'), ...turn('b'), ...turn('c')]
    const older = (list: Message[], keep: number) => olderTurns(list, findToolTurns(list), keep).length
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((keep) => older(history, keep)),
      [2, 2, 1, 0, 0],
    )
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((keep) => older([...history, reply('x')], keep)),
      [3, 2, 1, 0, 0],
    )
    assert.equal(older([], 0), 0)
  })

  test('save what they lose in tokens, for each style, and nothing where there is no reply', () => {
    const [asked, answer] = turn('a', long, 'Let me look.') as [Message, Message]
    const list = [asked, answer]
    const whole = estimateMessage(asked) + estimateMessage(answer)
    const saving = (style: FoldStyle) => {
      const left = foldToolTurns(wholeView(list), [{ turn: { start: 0, end: 2 }, style, why: '', at: -1 }]).messages
      return whole - left.reduce((sum, one) => sum + estimateMessage(one), 0)
    }
    const of = findToolTurns(list)[0] ?? assert.fail()
    for (const style of ['stub', 'results', 'remove', 'provider', 'stub'] as const) {
      const added = style === 'remove' ? 0 : estimateTokens('; with f_a')
      const saves = savingOf(list, of, style)
      assert.ok(Math.abs(saves - saving(style)) <= added + 1, `${style}: ${saves} and ${saving(style)}`)
      assert.ok(saves > leastSaving)
    }
    assert.equal(savingOf(list, { start: 0, end: 2 }, 'remove'), savingOf(list, of, 'remove'))
    assert.equal(savingOf(list, { start: 1, end: 2 }, 'stub'), 0)
    const other = [asked, result('a', 'short', 'read')]
    assert.ok(savingOf(other, { start: 0, end: 2 }, 'stub') < leastSaving, 'another result of the same reply')
    assert.equal(savingOf(list, { start: 0, end: 2 }, 'stub'), savingOf(list, of, 'stub'))
  })

  test('that are folded keep the order, the places and the sizes of all messages', () => {
    const history = [user('q'), ...turn('a', long, 'Look.'), reply('x'), ...turn('b'), user('r')]
    const view = wholeView(history, 10)
    const turns = findToolTurns(view.messages)
    const folded = (style: FoldStyle) => {
      const made = foldToolTurns(
        view,
        turns.map((one) => ({ turn: one, style, why: 'old', at: 16 })),
      )
      assert.deepEqual(sizesOf(made.messages), made.messages.map(estimateMessage), style)
      return made.messages.map(({ role }, i) => `${made.places[i]} ${role}`)
    }
    assert.deepEqual(folded('stub'), ['10 user', '11 assistant', '11 user', '13 assistant', '14 user', '16 user'])
    assert.deepEqual(folded('results'), [
      '10 user',
      '11 assistant',
      '12 tool',
      '13 assistant',
      '14 assistant',
      '15 tool',
      '16 user',
    ])
    assert.deepEqual(folded('provider'), folded('results'))
    assert.deepEqual(folded('remove'), ['10 user', '11 assistant', '13 assistant', '16 user'])
    assert.equal(foldToolTurns(view, []), view)
  })

  test('that are folded for their provider lose thoughts and outputs, and remember what they were', () => {
    const thought: Part = { type: 'reasoning', text: 'Hm.' }
    const asked = { ...reply(thought, 'Look.', call('a', 'read')), native: [{ x: 1 }] }
    const view = wholeView([asked, result('a', long, 'read')])
    const fold = (style: FoldStyle) =>
      foldToolTurns(view, [{ turn: findToolTurns(view.messages)[0] ?? assert.fail(), style, why: '', at: 1 }]).messages
    const [bare, short] = fold('provider')
    assert.ok(bare && short)
    assert.deepEqual([bare.parts.map(({ type }) => type), 'native' in bare && bare.native], [['text', 'tool-call'], []])
    assert.deepEqual([beforeFold(bare), beforeFold(short)], [asked, view.messages[1]])
    assert.deepEqual([isFold(bare), isFold(short), isFold(asked)], [false, true, false])
    const [same, results] = fold('results')
    assert.ok(same && results)
    assert.deepEqual([same === asked, beforeFold(results), isFold(results)], [true, undefined, true])
    const [text, stub] = fold('stub')
    assert.ok(text && stub)
    assert.deepEqual([isFold(text), isFold(stub), stub.role], [false, true, 'user'])
    assert.deepEqual([text.parts, 'native' in text && text.native], [[{ type: 'text', text: 'Look.' }], []])
  })

  test('have one note for each style and reason, with the names and numbers of their calls', () => {
    const names = Array.from({ length: 9 }, (_, i) => `tool${i}`)
    const history = [
      user('q'),
      reply(...names.map((name, i) => call(`n${i}`, name))),
      ...names.map((name, i) => result(`n${i}`, long, name)),
      ...turn('a'),
      ...turn('b'),
      reply(call('c', 'read'), call('d', 'look')),
      result('c', long, 'read'),
      failure('d', long, 'look'),
      user('r'),
    ]
    const view = wholeView(history)
    const turns = findToolTurns(view.messages)
    const notes = (...kinds: [FoldStyle, string][]) =>
      foldToolTurns(
        view,
        kinds.map(([style, why], i) => ({ turn: turns[i] ?? assert.fail(), style, why, at: 20 })),
      ).notes.map(({ kind, what, why, at }) => `${kind} ${what} / ${why} / ${at}`)
    assert.deepEqual(notes(['stub', 'a'], ['remove', 'b'], ['results', 'b'], ['stub', 'a']), [
      'changed 2 tool turns (tool0, tool1, tool2, tool3, tool4, tool5, tool6, tool7, …) to one line for each call / a / messages[1..17]',
      'dropped 1 tool turn (read) / b / messages[11..12]',
      'changed 1 tool turn (read): results to one line each / b / messages[13..14]',
    ])
    assert.deepEqual(notes(['provider', 'a'], ['stub', 'b'], ['stub', 'b'], ['stub', 'b']).slice(1), [
      'changed 3 tool turns (read ×3, look) to one line for each call / b / messages[11..17]',
    ])
  })
})

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
  const about = (id: string, ...found: string[]) => turn(id, `${found.join(' ')} ${long}`)

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
    const short = [user('q'), ...about('a', 'both_1', 'own_a'), ...turn('b', 'both_1'), user('r')]
    assert.deepEqual(words(short, [5]), ['own_a'], 'a turn that is not worth folding stays')
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

  test('come in the order of the given turns, whenever each was folded', () => {
    const history = [user('q'), ...about('a', 'own_a'), ...about('b', 'own_b'), user('r')]
    assert.deepEqual(words(history, [5, 4]), ['own_a', 'own_b'])
    assert.deepEqual(words([], []), [])
  })
})
