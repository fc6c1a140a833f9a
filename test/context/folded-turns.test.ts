// Which tool turns may be folded, what that saves, and what is left of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Message, Part } from '../../src/core/message.ts'
import { estimateMessage, estimateTokens, sizesOf } from '../../src/context/count.ts'
import {
  beforeFold,
  findToolTurns,
  foldToolTurns,
  isFold,
  isWorthFolding,
  leastSaving,
  olderTurns,
  savingOf,
} from '../../src/context/tool-turns.ts'
import { wholeView } from '../../src/context/view.ts'
import type { FoldStyle } from '../../src/settings/policy.ts'
import { call, failure, reply, result, user } from '../histories.ts'
import { fileTurn, long } from './long-turns.ts'

describe('tool turns', () => {
  test('are found in any list, also after a longer and a shorter one with the same beginning', () => {
    const history = [user('q'), ...fileTurn('a'), reply('x'), ...fileTurn('b'), user('r')]
    const starts = (list: readonly Message[]) => findToolTurns(list).map(({ start, end }) => `${start}-${end}`)
    assert.deepEqual(starts(history.slice(0, 2)), ['1-2'], 'its result is still to come')
    assert.deepEqual(starts(history.slice(0, 3)), ['1-3'])
    assert.deepEqual(starts(history), ['1-3', '4-6'])
    assert.deepEqual(starts(history.slice(0, 4)), ['1-3'])
    assert.deepEqual(starts([...history.slice(0, 3), result('a', 'more', 'read'), ...fileTurn('c')]), ['1-4', '4-6'])
    assert.deepEqual(starts([]), [])
    assert.deepEqual(starts([user('q'), reply('x')]), [])
    assert.equal(findToolTurns(history), findToolTurns(history))
  })

  test('that may be folded are all but the last, and never one whose results are new', () => {
    const history = [...fileTurn('a'), ...fileTurn('b'), ...fileTurn('c')]
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
    const [asked, answer] = fileTurn('a', long, 'Let me look.') as [Message, Message]
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

  test('are worth folding without counting all of their results, and save the same once they are counted', () => {
    for (const text of ['short', 'and so on '.repeat(30), long, 'x_1 '.repeat(5000)]) {
      const list = fileTurn('a', text, 'Let me look.')
      const again = fileTurn('a', text, 'Let me look.')
      const of = { start: 0, end: 2 }
      const saves = savingOf(again, of, 'stub')
      for (const enough of [0, leastSaving + 1, 1000]) {
        const counted = savingOf(list, { ...of }, 'stub', enough)
        assert.ok(counted >= Math.min(enough, saves) && counted <= saves, `${counted} of ${saves}, ${enough} wanted`)
      }
      assert.equal(isWorthFolding(fileTurn('a', text, 'Let me look.'), { ...of }, 'stub'), saves > leastSaving)
      assert.equal(savingOf(list, { ...of }, 'stub'), saves)
    }
  })

  test('that are folded keep the order, the places and the sizes of all messages', () => {
    const history = [user('q'), ...fileTurn('a', long, 'Look.'), reply('x'), ...fileTurn('b'), user('r')]
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
      ...fileTurn('a'),
      ...fileTurn('b'),
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
