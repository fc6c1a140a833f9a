// The order of turns that a wire requires: what is dropped, merged and added.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Note } from '../../src/core/context.ts'
import type { JsonObject } from '../../src/core/json.ts'
import fc from '../property.ts'
import { normaliseTurns, turnOf, wireList, type Turn, type TurnRules } from '../../src/wires/shared/turns.ts'

describe('turns', () => {
  const turn = (role: Turn<string>['role'], ...items: string[]) => turnOf(role, items, `messages[${items[0]}]`)
  const plain: TurnRules<string> = { text: (text) => `(${text})`, join: ['user', 'assistant'] }
  const settled = (turns: Turn<string>[], rules: Partial<TurnRules<string>> = {}) => {
    const notes: Note[] = []
    const made = normaliseTurns(turns, { ...plain, ...rules }, notes)
    return { made, list: made.map(({ role, items }) => `${role} ${items.join('+')}`), notes }
  }

  test('without items are dropped with a note, and their neighbours are merged', () => {
    const { list, notes, made } = settled([turn('user', '1'), turn('assistant'), turn('user', '3', '4')])
    assert.deepEqual(list, ['user 1+3+4'])
    assert.deepEqual(made[0]?.from, ['messages[1]', 'messages[3]'])
    assert.equal(made[0]?.at, 'messages[1]')
    assert.deepEqual(notes, [
      {
        kind: 'dropped',
        what: 'assistant message',
        why: 'nothing in it can be sent',
        at: 'messages[undefined]',
      },
    ])
  })

  test('of one role are merged only if the wire merges that role', () => {
    const tools = [turn('tool', '1'), turn('tool', '2'), turn('user', '3')]
    assert.deepEqual(settled(tools).list, ['tool 1', 'tool 2', 'user 3'])
    assert.deepEqual(settled(tools, { join: ['tool'] }).list, ['tool 1+2', 'user 3'])
    const joint = { join: ['tool', 'user'], toolIsUser: true } as const
    assert.deepEqual(settled(tools, joint).list, ['user 1+2+3'])
    assert.deepEqual(settled([turn('user', '1'), turn('tool', '2')], joint).list, ['user 1+2'])
    assert.deepEqual(settled([turn('assistant', '1'), turn('user', '2')], joint).list, ['assistant 1', 'user 2'])
    assert.deepEqual(settled([turn('tool', '1'), turn('assistant', '2')], joint).list, ['tool 1', 'assistant 2'])
  })

  test('that were not changed stay the same object, and so does what is merged again', () => {
    const alone = turn('user', '1')
    assert.equal(settled([alone]).made[0], alone)
    const pair = [turn('user', '1'), turn('user', '2')]
    const [joint] = settled(pair).made
    assert.equal(settled(pair).made[0], joint)
    const [more] = settled([...pair, turn('user', '3')]).made
    assert.deepEqual(more?.items, ['1', '2', '3'])
    const [other] = settled([pair[0] as Turn<string>, turn('user', '4')]).made
    assert.deepEqual(other?.items, ['1', '4'])
  })

  test('get an answer between a tool and a user where the wire needs one', () => {
    const turns = [turn('assistant', '1'), turn('tool', '2'), turn('user', '3')]
    const { list, notes } = settled(turns, { bridgeAfterTool: true })
    assert.deepEqual(list, ['assistant 1', 'tool 2', 'assistant (OK.)', 'user 3'])
    assert.deepEqual(
      notes.map(({ kind, what }) => [kind, what]),
      [['added', 'assistant message "OK."']],
    )
    assert.equal(settled(turns).notes.length, 0)
    const others = [turn('user', '1'), turn('assistant', '2'), turn('user', '3'), turn('tool', '4')]
    assert.equal(settled(others, { bridgeAfterTool: true }).notes.length, 0)
  })

  test('begin with the user where the wire needs it, after the system', () => {
    const opening = 'user ([The beginning of this conversation is not shown])'
    const begun = (...turns: Turn<string>[]) => settled(turns, { startWithUser: true }).list
    assert.deepEqual(begun(turn('system', 's'), turn('assistant', 'a')), ['system s', opening, 'assistant a'])
    assert.deepEqual(begun(turn('assistant', 'a')), [opening, 'assistant a'])
    assert.deepEqual(begun(turn('user', 'a')), ['user a'])
    assert.deepEqual(begun(turn('tool', 'a')), ['tool a'])
    assert.deepEqual(begun(turn('system', 'a')), ['system a'])
    assert.deepEqual(begun(), [])
    assert.deepEqual(settled([turn('assistant', 'a')]).list, ['assistant a'])
    const same = turn('assistant', 'a')
    const first = () => settled([same], { startWithUser: true }).made[0]
    assert.equal(first(), first(), 'the same object again, for the cache')
  })

  test('end with the user where the wire needs it, and are never empty where it needs one', () => {
    const ended = (rules: Partial<TurnRules<string>>, ...turns: Turn<string>[]) => {
      const { list, notes } = settled(turns, rules)
      return [...list, ...notes.map(({ rule }) => rule ?? 'no rule')]
    }
    const last = { endWithUser: 'R-1' }
    assert.deepEqual(ended(last, turn('assistant', 'a')), ['assistant a', 'user (Continue.)', 'R-1'])
    assert.deepEqual(ended(last, turn('system', 'a')), ['system a', 'user (Continue.)', 'R-1'])
    assert.deepEqual(ended(last), ['user (Continue.)', 'R-1'])
    assert.deepEqual(ended(last, turn('user', 'a')), ['user a'])
    assert.deepEqual(ended(last, turn('tool', 'a')), ['tool a'])
    assert.deepEqual(ended({ neverEmpty: 'R-2' }), ['user (Continue.)', 'R-2'])
    assert.deepEqual(ended({ neverEmpty: 'R-2' }, turn('assistant', 'a')), ['assistant a'])
    assert.deepEqual(ended({}), [])
  })

  test('that follow those of an earlier list are put in order as if all of them were new', () => {
    const role = fc.constantFrom<Turn<string>['role']>('system', 'user', 'assistant', 'tool')
    const pool = fc.array(fc.tuple(role, fc.nat(2)), { minLength: 1, maxLength: 12 })
    const edits = fc.array(fc.record({ cut: fc.nat(6), more: fc.array(fc.nat(11), { maxLength: 5 }) }), {
      maxLength: 6,
    })
    const rules = fc.record({
      join: fc.subarray(['system', 'user', 'assistant', 'tool'] as const),
      toolIsUser: fc.boolean(),
      bridgeAfterTool: fc.boolean(),
      startWithUser: fc.boolean(),
    })
    fc.assert(
      fc.property(pool, edits, rules, (roles, lists, turnRules) => {
        const turns = roles.map(([name, size], i) => turnOf(name, Array<string>(size).fill(`${i}`), `messages[${i}]`))
        const write = ({ items }: Turn<string>) => items.map((item) => ({ item }))
        let list: Turn<string>[] = []
        for (const { cut, more } of lists) {
          list = [...list.slice(0, Math.max(0, list.length - cut)), ...more.flatMap((i) => turns[i] ?? [])]
          const made = settled(list, turnRules)
          const anew = settled(
            list.map(({ role: name, items, at }) => turnOf(name, items, at)),
            turnRules,
          )
          assert.deepEqual([made.list, made.notes], [anew.list, anew.notes])
          assert.deepEqual(wireList(made.made, write), anew.made.flatMap(write))
          assert.deepEqual(
            made.made.map(({ from }) => from),
            anew.made.map(({ from }) => from),
          )
        }
      }),
    )
  })

  test('of an earlier list are not looked at again, apart from the last one', () => {
    let looks = 0
    const watched = (role: Turn<string>['role'], item: string) =>
      Object.defineProperty(turn(role), 'items', { get: () => (looks++, [item]) })
    const turns = Array.from({ length: 100 }, (_, i) => watched(i % 2 === 0 ? 'user' : 'assistant', `${i}`))
    const write = ({ items }: Turn<string>): JsonObject[] => [{ text: items[0] }]
    const written = (count: number) => wireList(normaliseTurns(turns.slice(0, count), plain, []), write)
    written(98)
    looks = 0
    assert.deepEqual(written(100).at(-1), { text: '99' })
    assert.ok(looks <= 6, `${looks} looks`)
  })

  test('are written once each, in order, whatever number of messages they become', () => {
    const turns = [turn('user', '1'), turn('assistant', '2'), turn('tool', '3')]
    let writes = 0
    const write = ({ items }: Turn<string>): JsonObject[] => {
      writes++
      return items[0] === '2' ? [{ a: 1 }, { b: 2 }] : items[0] === '3' ? [] : [{ c: items[0] }]
    }
    for (let i = 0; i < 2; i++) assert.deepEqual(wireList(turns, write), [{ c: '1' }, { a: 1 }, { b: 2 }])
    assert.equal(writes, 3)
  })
})
