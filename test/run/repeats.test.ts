// When a model is warned about repeating itself, and when it is stopped.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { ToolResultPart } from '../../src/core/message.ts'
import { repeatLimits, repeatNotes, stuck, withNote } from '../../src/run/tools/repeats.ts'
import { call, entriesOf, reply, result, user } from '../histories.ts'

describe('a model without progress', () => {
  const limits = repeatLimits(undefined)
  assert.ok(limits)
  /** One turn: a call of a tool with an argument, and its result. */
  const turn = (name: string, argument: Json, output: string, id: string) => [
    reply(call(id, name, { argument })),
    result(id, output, name),
  ]
  const turns = (...of: [string, Json, string][]) =>
    entriesOf(user('q'), ...of.flatMap(([name, argument, output], i) => turn(name, argument, output, `c${i}`)))
  const same = (count: number): [string, Json, string][] => Array.from({ length: count }, () => ['look', 1, 'x'])

  test('has limits of three and five by default, of at least two, and none if switched off', () => {
    assert.deepEqual(limits, { warn: 3, stop: 5 })
    assert.deepEqual(repeatLimits(4), { warn: 4, stop: 7 })
    assert.deepEqual(repeatLimits(1), { warn: 2, stop: 3 })
    assert.equal(repeatLimits(false), undefined)
  })

  test('is stopped at the limit of equal calls with equal results, since the last message of the user', () => {
    assert.equal(stuck(turns(...same(4)), limits), undefined)
    assert.deepEqual(stuck(turns(...same(5)), limits), {
      guard: 'repeated-call',
      why: 'look was called 5 times with the same arguments and the same result.',
    })
    assert.equal(stuck(turns(...same(4), ['look', 1, 'y']), limits), undefined)
    assert.equal(stuck(turns(...same(4), ['look', 2, 'x']), limits), undefined)
    assert.equal(stuck(entriesOf(...turns(...same(5)).map(({ message }) => message), user('r')), limits), undefined)
    assert.equal(stuck([], limits), undefined)
    const long = 'z'.repeat(200)
    assert.ok(stuck(turns(...Array.from({ length: 5 }, (): [string, Json, string] => ['look', long, long])), limits))
  })

  test('is stopped at a pattern of two to six turns that came ten times in a row', () => {
    const pattern = (period: number, count: number) =>
      turns(...Array.from({ length: count }, (_, i): [string, Json, string] => [`t${i % period}`, 0, `${i}`]))
    assert.equal(stuck(pattern(2, 19), limits), undefined)
    assert.deepEqual(stuck(pattern(2, 20), limits), {
      guard: 'pattern',
      why: 'The same 2 tool turns (t0, t1) came 10 times in a row.',
    })
    assert.match(stuck(pattern(6, 60), limits)?.why ?? '', /same 6 tool turns/)
    assert.equal(stuck(pattern(6, 59), limits), undefined)
    assert.equal(stuck(pattern(7, 140), limits), undefined)
    assert.equal(stuck(pattern(1, 40), limits), undefined, 'one turn with new results is polling')
  })

  test('is warned with the result of the third equal call, and of a pattern', () => {
    const history = turns(...same(2))
    const asked = call('new', 'look', { argument: 1 })
    const warn = repeatNotes(history, [asked], limits)
    const answer = (text: string) => result('new', text, 'look').parts[0] as ToolResultPart
    assert.match(warn(asked, answer('x'))?.toModel ?? '', /^This is call 3 of look/)
    assert.equal(warn(asked, answer('y')), undefined)
    assert.equal(warn(asked, { ...answer('x'), failed: true }), undefined)
    const noted = withNote(answer('x'), 'again')
    assert.deepEqual(noted.output[1], { type: 'text', text: '[Note] again' })
    assert.match(warn(asked, noted)?.toModel ?? '', /^This is call 3/, 'our own note is no part of the result')
    assert.equal(repeatNotes(turns(...same(1)), [asked], limits)(asked, answer('x')), undefined)
    const pattern = Array.from({ length: 9 }, (_, i): [string, Json, string] => [`t${i % 2}`, 0, `${i}`])
    const last = call('new', 't1', { argument: 0 })
    assert.equal(
      repeatNotes(turns(...pattern), [last], limits)(last, answer('9'))?.reason.why,
      'The same 2 tool turns came 5 times in a row.',
    )
    assert.equal(repeatNotes(turns(...pattern.slice(1)), [last], limits)(last, answer('9')), undefined)
    const inLog = [...turns(...pattern), ...entriesOf(reply(last)).map((entry) => ({ ...entry, id: 'now', depth: 19 }))]
    assert.ok(repeatNotes(inLog, [last], limits)(last, answer('9')), 'the turn itself is counted once')
  })
})
