// The text of folds: it never changes once it was sent, so each rule is tested by its whole result.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Message, ToolResultPart } from '../../src/core/message.ts'
import { estimateTokens } from '../../src/context/count.ts'
import { chosenWords, foldedCall, foldedResult, resultNumbers, wordsOfInput } from '../../src/context/fold-text.ts'
import { numberedResult } from '../../src/context/numbered-result.ts'
import { call, calls, onePixel, reply, result, user } from '../histories.ts'

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
      () => saves,
    ).length
  assert.equal(chosen(3, (2 * each) / 0.35 + 0.01), 2)
  assert.equal(chosen(3, (2 * each) / 0.35 - 0.01), 1)
  assert.equal(chosen(3, 0), 0)
  assert.equal(chosen(1000, 1_000_000), Math.floor(350 / each))
  assert.equal(chosenWords(Array<string>(1000).fill('ab'), () => 1_000_000).length, 350 / (estimateTokens('ab') + 1))
  assert.deepEqual(
    chosenWords(['x'.repeat(5000), 'a_b'], () => 1000),
    [],
    'in order: one that does not fit ends the list',
  )
})
