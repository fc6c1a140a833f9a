// What holds for every fold: its text is decided once, every number in it leads to a result, and undoing it leaves no
// trace.

import assert from 'node:assert/strict'
import test from 'node:test'
import { sizesOf } from '../../src/context/count.ts'
import { applyCuts, type Decisions, type FoldDecision } from '../../src/context/decisions.ts'
import { numberedResult } from '../../src/context/numbered-result.ts'
import { stepwise } from '../../src/context/steps.ts'
import { wholeView } from '../../src/context/view.ts'
import type { Message } from '../../src/core/message.ts'
import type { PolicySettings } from '../../src/settings/policy.ts'
import { call, failure, reply, result, user } from '../histories.ts'
import fc from '../property.ts'

const word = fc.constantFrom('src/a/b.ts', 'file_one', 'camelCase', '4711', 'Ada Lovelace', '订单号', 'plain', 'words')

const turn = fc
  .record({
    words: fc.array(word, { minLength: 1, maxLength: 6 }),
    calls: fc.integer({ min: 0, max: 3 }),
    failed: fc.boolean(),
    said: fc.boolean(),
  })
  .map(({ words, calls, failed, said }) => ({ text: words.join(' '), calls, failed, said }))

/** A history of turns, with more and less to say in each. */
const history = fc.array(turn, { minLength: 6, maxLength: 14 }).map((turns): Message[] => [
  user('start'),
  ...turns.flatMap(({ text, calls, failed, said }, i): Message[] => {
    if (calls === 0) return [user(text), reply(`about ${text}`)]
    const ids = Array.from({ length: calls }, (_, k) => `c${i}-${k}`)
    const asks = ids.map((id) => call(id, 'read', { path: `/srv/app/${text.split(' ')[0]}`, note: text }))
    const answers = ids.map((id, k) => {
      const output = `${text} only_in_${i}_${k} ${'filler '.repeat(300)}`
      return failed ? failure(id, output, 'read') : result(id, output, 'read')
    })
    return [reply(...(said ? [`looking for ${text}`] : []), asks), ...answers]
  }),
])

const style = fc.constantFrom('stub' as const, 'results' as const, 'provider' as const)

/** Two folds, one after the other, as they are recorded while a conversation continues. */
const folded = fc.record({ history, style, first: fc.double({ min: 0.2, max: 0.5, noNaN: true }) }).map((given) => {
  const { length } = given.history
  const [a, b] = [Math.floor(length * given.first), Math.floor(length * 0.8)]
  // A request is made when all results of a turn are there.
  const at = (through: number): number => {
    let end = Math.min(length - 1, through + 3)
    while (given.history[end + 1]?.role === 'tool') end++
    return end
  }
  const fold = (from: number, through: number): FoldDecision => ({
    from,
    through,
    style: given.style,
    why: 'old',
    at: at(through),
  })
  return { history: given.history, folds: [fold(0, a), fold(a + 1, b)], end: at(b) + 1 }
})

type Folded = typeof folded extends fc.Arbitrary<infer T> ? T : never

function check(holds: (given: Folded) => void, numRuns = 60): void {
  fc.assert(fc.property(folded, holds), { numRuns })
}

function sent(messages: readonly Message[], folds: readonly FoldDecision[]): string[] {
  const decisions: Decisions = { folds: [...folds], compactions: [], plain: [] }
  return applyCuts(wholeView(messages), decisions).messages.map((message) => JSON.stringify(message))
}

/** What is sent if turns are folded by their number. */
function counted(messages: readonly Message[], settings: PolicySettings): string[] {
  return stepwise(wholeView(messages), settings).messages.map((message) => JSON.stringify(message))
}

test('a fold is the same whatever follows it, and whatever was computed before', () => {
  check(({ history, folds, end }) => {
    const then = sent(history.slice(0, end), folds)
    const now = sent([...history, user('file_one and 4711 again')], folds)
    assert.deepEqual(now.slice(0, then.length), then)
    assert.deepEqual(sent(structuredClone(history), folds), sent(history, folds))
  })
})

test('a fold that is undone leaves what was sent before it', () => {
  check(({ history, folds }) => {
    const before = sent(history, folds.slice(0, 1))
    sent(history, folds)
    assert.deepEqual(sent(history, folds.slice(0, 1)), before)
    assert.deepEqual(
      sent(history, []),
      history.map((message) => JSON.stringify(message)),
    )
  })
})

test('on another branch every fold is what it would be if no other branch had been sent', () => {
  const branches = fc.array(fc.record({ from: fc.nat(40), text: word, folds: fc.nat(2) }), {
    minLength: 3,
    maxLength: 8,
  })
  const policies = fc.constantFrom<PolicySettings>({ maxToolTurns: 1, step: 1 }, { maxToolTurns: 1, step: 2 })
  fc.assert(
    fc.property(folded, branches, policies, ({ history, folds, end }, forks, settings) => {
      for (const { from, text, folds: count } of forks) {
        const rest = history.slice(from % history.length).map((message) => ({ ...message }))
        const branch = [...history.slice(0, from % history.length), user(text), ...rest]
        const some = folds.slice(0, count).filter(({ at = 0 }) => at < Math.min(end, branch.length))
        assert.deepEqual(sent(branch, some), sent(structuredClone(branch), some))
        assert.deepEqual(counted(branch, settings), counted(structuredClone(branch), settings))
      }
    }),
    { numRuns: 20 },
  )
})

test('a turn that is left out of a fold changes what the others of it say, whatever was computed before', () => {
  check(({ history, folds }) => {
    const fewer = folds.map((fold) => ({ ...fold, through: Math.max(fold.from, fold.through - 4) }))
    for (const some of [folds, fewer, folds])
      assert.deepEqual(sent(history, some), sent(structuredClone(history), some))
  })
})

test('a view that continues another one has the positions, notes and sizes of one that does not', () => {
  const viewOf = (messages: readonly Message[], folds: readonly FoldDecision[], first = 0) => {
    const {
      messages: sentMessages,
      places,
      notes,
    } = applyCuts(wholeView(messages, first), {
      folds: structuredClone([...folds]),
      compactions: [],
      plain: [],
    })
    return { places, notes, sizes: sizesOf(sentMessages) }
  }
  check(({ history, folds, end }) => {
    for (let length = end; length <= history.length; length++) {
      const beginning = history.slice(0, length)
      assert.deepEqual(viewOf(beginning, folds), viewOf(structuredClone(beginning), folds))
    }
    // The same messages at other positions.
    assert.deepEqual(viewOf(history, folds, 1), viewOf(structuredClone(history), folds, 1))
  }, 20)
})

test('a fold that was decided after the end of a history is not used for a longer one', () => {
  check(({ history, folds }) => {
    for (let length = 1; length <= history.length; length += 3) {
      const beginning = history.slice(0, length)
      assert.deepEqual(sent(beginning, folds), sent(structuredClone(beginning), folds))
    }
  }, 20)
})

test('every number that a fold names leads to a result that was folded', () => {
  check(({ history, folds }) => {
    const text = sent(history, folds).join('\n')
    for (const [, number = ''] of text.matchAll(/\[(?:Tool use|Folded) #([\d.]+)\]/g)) {
      const found = numberedResult(history, number)
      assert.ok(found?.call, `there is no result ${number}`)
      assert.equal(found.result.callId, found.call.callId)
    }
  })
})

test('no specific word is lost if there is room for it', () => {
  check(({ history, folds }) => {
    const view = sent(history, folds).join('\n')
    for (const [name] of JSON.stringify(history).matchAll(/only_in_\d+_\d+/g)) {
      assert.ok(view.includes(name), `${name} is gone`)
    }
  })
})
