// Calls and results, paired for any history.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc, { runs } from '../property.ts'
import type { Message } from '../../src/core/message.ts'
import { pair } from '../../src/context/pair.ts'
import { call, calls, failure, onePixel, reply, result, user } from '../histories.ts'
import { anyHistory } from '../arbitrary.ts'

test('a history in order is not changed, message for message', () => {
  const history = [user('hi'), reply(calls('a', 'b')), result('a', '1'), result('b', '2'), reply('done')]
  const paired = pair(history)
  assert.deepEqual(paired.notes, [])
  assert.ok(paired.messages.every((message, i) => message === history[i]))
})

test('an unanswered call gets a failed result, with the same text each time', () => {
  const history = [user('hi'), reply(calls('a')), user('still there?')]
  const paired = pair(history)
  assert.deepEqual(
    paired.messages.map((message) => message.role),
    ['user', 'assistant', 'tool', 'user'],
  )
  const added = paired.messages[2]?.parts[0]
  assert.ok(added?.type === 'tool-result' && added.failed && added.callId === 'a')
  assert.deepEqual(pair(history), paired)
  assert.equal(paired.notes.length, 1)
})

test('an orphaned result becomes labelled user text with its content intact', () => {
  const paired = pair([result('gone', 'the raw content', 'clock'), user('continue')])
  assert.deepEqual(paired.messages[0], {
    role: 'user',
    parts: [{ type: 'text', text: '[Tool Result - Previous Context] clock: the raw content' }],
  })
})

test('results that arrived late, or before other messages, are moved to their calls in order', () => {
  const paired = pair([reply(calls('a', 'b')), user('hurry'), result('b', '2'), result('a', '1')])
  assert.deepEqual(
    paired.messages.map((message) => message.role),
    ['assistant', 'tool', 'tool', 'user'],
  )
  assert.deepEqual(
    paired.messages.slice(1, 3).map((message) => message.parts[0]),
    [result('a', '1').parts[0], result('b', '2').parts[0]],
  )
  assert.deepEqual(
    paired.notes.map(({ kind, what, at }) => ({ kind, what, at })),
    [
      { kind: 'changed', what: 'place of the result of tool', at: 'messages[3]' },
      { kind: 'changed', what: 'place of the result of tool', at: 'messages[2]' },
    ],
  )
})

test('of two results the last one is used, and the other is written as text unless it is the same', () => {
  const same = pair([reply(calls('a')), result('a', '1'), result('a', '1')])
  assert.equal(same.messages.length, 2)
  assert.equal(same.notes.length, 1)
  const other = pair([reply(calls('a')), result('a', '1'), result('a', '2')])
  assert.match(JSON.stringify(other.messages), /Previous Context\] tool: 1/)
})

test('a call id that is used again belongs to the call before it', () => {
  const paired = pair([reply(calls('x')), result('x', '1'), reply(calls('x')), result('x', '2')])
  assert.deepEqual(
    paired.messages.map((message) => message.parts.map((part) => ('callId' in part ? part.callId : ''))),
    [['x'], ['x'], ['x~2'], ['x~2']],
  )
})

test('results of two calls that share an id in one reply are paired in order', () => {
  const paired = pair([reply(calls('x')), reply(calls('x', 'x')), result('x', '1'), result('x', '2')])
  const results = paired.messages.flatMap((message) => (message.role === 'tool' ? message.parts : []))
  assert.deepEqual(
    results.map((part) => [part.callId, part.failed === true ? 'failed' : part.output[0]]),
    [
      ['x', 'failed'],
      ['x~2', { type: 'text', text: '1' }],
      ['x~3', { type: 'text', text: '2' }],
    ],
  )
})

test('for every history: calls and results are paired, the log is untouched, and no result text is lost', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const before = structuredClone(history)
      const paired = pair(history)
      assert.deepEqual(history, before)
      assertPaired(paired.messages)
      const told = JSON.stringify([paired.messages, paired.notes])
      for (const message of history) {
        if (message.role !== 'tool') continue
        for (const part of message.parts) {
          for (const output of part.output) {
            if (output.type === 'text') assert.ok(told.includes(JSON.stringify(output.text).slice(1, -1)))
          }
        }
      }
    }),
  )
})

/** Roles, ids and texts, with the place of each message. */
function shown(history: Message[], first = 0) {
  const { messages, places, notes } = pair(history, first)
  const lines = messages.map((message, i) => {
    const parts = message.parts.map((part) => {
      if (part.type === 'tool-call') return part.callId
      if (part.type === 'tool-result') return `${part.callId}${part.failed ? ' failed' : ''}`
      return 'text' in part ? part.text : part.type
    })
    return `${places[i]} ${message.role} ${parts.join('+')}`
  })
  return { lines, notes: notes.map(({ kind, what, why, at }) => [kind, what, at, why]) }
}

test('every message has its place in the history, and what was added has none', () => {
  const history = [user('q'), reply(calls('a', 'b')), result('b', '2'), user('r')]
  const later = (first: number) => shown(history, first)
  assert.deepEqual(later(5).lines, ['5 user q', '6 assistant a+b', '-1 tool a failed', '7 tool b', '8 user r'])
  assert.deepEqual(later(5).notes, [
    [
      'added',
      'failed result for the call of tool',
      'messages[6]',
      'the log has no result for it, and a call without a result is refused',
    ],
  ])
  assert.deepEqual(later(0).lines.slice(0, 2), ['0 user q', '1 assistant a+b'])
})

test('several results in one message stay together if they are in order, and are separated if not', () => {
  const both = (...ids: string[]): Message => ({
    role: 'tool',
    parts: ids.flatMap((id) => result(id, id).parts),
  })
  assert.deepEqual(shown([reply(calls('a', 'b')), both('a', 'b'), reply('x')]).notes, [])
  const swapped = shown([reply(calls('a', 'b')), both('b', 'a'), reply('x')])
  assert.deepEqual(swapped.lines, ['0 assistant a+b', '1 tool a', '1 tool b', '2 assistant x'])
  assert.deepEqual(swapped.notes, [], 'they are where they belong')
  const more = shown([reply(calls('a', 'b', 'c')), both('a', 'b'), user('hm'), both('c')])
  assert.deepEqual(more.lines, ['0 assistant a+b+c', '1 tool a+b', '3 tool c', '2 user hm'])
  assert.deepEqual(
    more.notes.map(([, what, at]) => [what, at]),
    [['place of the result of tool', 'messages[3]']],
  )
  assert.deepEqual(shown([reply(calls('a')), { role: 'tool', parts: [] }, result('a', '1')]).lines, [
    '0 assistant a',
    '2 tool a',
  ])
})

test('a result without a call is text, failed or not, with its pictures, and one that repeats another is dropped', () => {
  const picture: Message = {
    role: 'tool',
    parts: [
      { type: 'tool-result', callId: 'x', name: 'look', output: [{ type: 'text', text: 'a' }, onePixel] },
      { type: 'tool-result', callId: 'y', name: 'read', output: [], failed: true },
    ],
  }
  const { messages, places } = pair([picture, user('q')], 3)
  assert.deepEqual(messages[0]?.parts, [
    { type: 'text', text: '[Tool Result - Previous Context] look: a\n' },
    onePixel,
    { type: 'text', text: '[Tool Result - Previous Context] read (failed): ' },
  ])
  assert.deepEqual(places, [3, 4])
  const twice = shown([reply(calls('a')), result('a', '1'), user('q'), result('a', '1'), failure('a', '1')])
  assert.deepEqual(twice.lines, [
    '0 assistant a',
    '4 tool a failed',
    '1 user [Tool Result - Previous Context] tool: 1',
    '2 user q',
    '3 user [Tool Result - Previous Context] tool: 1',
  ])
  assert.deepEqual(
    twice.notes.map(([kind, , at, why]) => [kind, at, why]),
    [
      ['changed', 'messages[4]', 'results must come right after their call, in order'],
      ['changed', 'messages[1]', 'its call has another result already'],
      ['changed', 'messages[3]', 'its call has another result already'],
    ],
  )
  const orphan = shown([result('a', '1')])
  assert.equal(orphan.notes[0]?.[3], 'its call is not part of this request')
  const same = shown([reply(calls('a')), result('a', '1'), result('a', '1')])
  assert.deepEqual(same.notes, [['dropped', 'second result of tool', 'messages[2]', 'it repeats the first']])
})

test('a result before its call answers it only if none comes after', () => {
  assert.deepEqual(shown([result('a', '1'), reply(calls('a'))]).lines, ['1 assistant a', '0 tool a'])
  const both = shown([result('a', '1'), reply(calls('a')), user('q'), result('a', '2')])
  assert.deepEqual(both.lines, [
    '0 user [Tool Result - Previous Context] tool: 1',
    '1 assistant a',
    '3 tool a',
    '2 user q',
  ])
})

test('an id that is used again is renamed with a note, call by call, and its results with it', () => {
  const history = [
    reply(calls('x', 'x', 'y')),
    result('x', '1'),
    result('x', '2'),
    result('y', '3'),
    reply(calls('x')),
    result('x', '4'),
    result('x', '5'),
  ]
  const { lines, notes } = shown(history)
  assert.deepEqual(lines, [
    '0 assistant x+x~2+y',
    '1 tool x',
    '2 tool x~2',
    '3 tool y',
    '4 assistant x~3',
    '6 tool x~3',
    '5 user [Tool Result - Previous Context] tool: 4',
  ])
  assert.deepEqual(
    notes.filter(([, what]) => what === 'call ids that were used before').map(([, , at]) => at),
    ['messages[0]', 'messages[4]'],
  )
  const system: Message = { role: 'system', parts: [{ type: 'text', text: 's' }] }
  const other = pair([system, user('q'), reply(calls('a')), reply(calls('a')), result('a', '1')])
  assert.equal(other.messages[0], system)
})

test('a history that changes at its end is paired as if it were new', () => {
  const turn = (id: string) => [reply(call(id, 'look')), result(id, id, 'look')]
  const begin = [user('q'), ...turn('a'), ...turn('b')]
  const histories = [
    begin,
    [...begin, ...turn('c')],
    begin.slice(0, 4),
    [...begin.slice(0, 4), user('stop')],
    [...begin.slice(0, 3), ...turn('b'), ...turn('a')],
    [...begin.slice(0, 3), user('r'), ...turn('b')],
    begin.slice(0, 2),
    [...begin.slice(0, 2), user('r'), ...turn('a')],
    [...begin, result('b', 'more', 'look')],
    [...begin, user('r'), result('a', 'late', 'look')],
  ]
  for (const history of [...histories, ...histories.toReversed()]) {
    const paired = pair(history)
    assert.deepEqual(paired, pair(structuredClone(history)))
    assertPaired(paired.messages)
  }
})

test('a history is paired as if it were new, whichever beginnings of it were paired before', () => {
  const made = [
    () => user('q'),
    () => reply('a'),
    () => reply(calls('a')),
    () => reply(calls('b', 'c')),
    () => result('a', '1'),
    () => result('b', '2'),
    () => result('c', '3'),
  ]
  const step = fc.record({ from: fc.nat(12), more: fc.array(fc.nat(made.length - 1), { maxLength: 6 }) })
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 8 }), (steps) => {
      let history: Message[] = [user('q')]
      for (const { from, more } of steps) {
        history = [...history.slice(0, 1 + from), ...more.map((index) => made[index]?.() ?? assert.fail())]
        assert.deepEqual(pair(history), pair(structuredClone(history)))
      }
    }),
    { numRuns: runs(300) },
  )
})

test('an added or moved result is the same message each time', () => {
  const history = [reply(calls('a', 'b')), user('q'), result('b', '2')]
  const [first, second] = [pair(history), pair([...history])]
  for (const i of [1, 2]) assert.equal(first.messages[i], second.messages[i])
})

function assertPaired(messages: Message[]): void {
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      for (const part of message.parts) assert.equal(part.callId, open.shift())
      continue
    }
    assert.deepEqual(open, [])
    open = message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []))
  }
  assert.deepEqual(open, [])
}
