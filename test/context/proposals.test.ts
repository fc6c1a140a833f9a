// What is folded or cut before the next request, and why: the numbers follow from sizes and prices, and are computed
// here by the law itself.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { estimateMessage } from '../../src/context/count.ts'
import { noDecisions } from '../../src/context/decisions.ts'
import { decideFold, type EconomyState } from '../../src/context/economy.ts'
import {
  proposeByMoney,
  proposeCutForSize,
  proposeFoldForSize,
  withProposal,
  type PlanFacts,
} from '../../src/context/proposals.ts'
import { savingOf } from '../../src/context/tool-turns.ts'
import { wholeView } from '../../src/context/view.ts'
import { call, reply, result, user } from '../histories.ts'

const turn = (i: number) => [reply(call(`c${i}`, 'tool')), result(`c${i}`, 'word '.repeat(400))]
const history = (turns: number): Message[] => [user('Go.'), ...Array.from({ length: turns }, (_, i) => turn(i)).flat()]
const chat = (count: number): Message[] =>
  Array.from({ length: count }, (_, i) => (i % 2 === 0 ? user('word '.repeat(100)) : reply('word '.repeat(100))))

const cache = { read: 0.1, write: 1.25, minimum: 0, lifetimeMs: 1e9 }

function facts(messages: Message[], change: Partial<PlanFacts> = {}): PlanFacts {
  const answers = messages.filter(({ role }) => role === 'assistant').length
  return {
    view: wholeView(messages),
    decisions: noDecisions,
    settings: { maxToolTurns: 2, rhythm: 'economy' },
    head: 1000,
    provider: 'elsewhere',
    model: 'a-model',
    requests: answers,
    cache,
    cold: false,
    limit: Infinity,
    ...change,
  }
}

const [size, saves] = sizesOfTurn()
const opening = estimateMessage(user('Go.'))

function sizesOfTurn(): [number, number] {
  const messages = turn(0)
  const whole = messages.reduce((sum, one) => sum + estimateMessage(one), 0)
  return [whole, savingOf(messages, { start: 0, end: 2 }, 'stub')]
}

/** By the law: the fold with the highest gain, if its rent has reached the price of rewriting. */
function expected(turns: number, keep: number) {
  const head = 1000 + opening
  const cachedEnd = head + (turns - 1) * size
  let best: { from: number; gain: number; rent: number; saved: number } | undefined
  for (let from = turns - keep - 1; from >= 0; from--) {
    const count = turns - keep - from
    const saved = count * saves
    // The first of them was sent in vain with every request since, the last one never.
    const rent = cache.read * saves * ((count * (count - 1)) / 2)
    const rewritten = cachedEnd - (head + from * size) - saved
    const gain = cache.read * saved * (1 + turns) - (cache.write - cache.read) * rewritten
    if (!best || gain > best.gain) best = { from, gain, rent, saved }
  }
  const rewriting = (cache.write - cache.read) * (cachedEnd - (head + (turns - keep) * size))
  return best && best.gain > 0 && best.rent >= rewriting ? { ...best, rewriting } : undefined
}

test('what is proposed while a conversation continues is what is proposed for a copy of it', () => {
  const messages = history(40)
  let decisions = noDecisions
  let proposed = 0
  for (let end = 1; end <= messages.length; end += 2) {
    const change = { decisions, settings: { maxToolTurns: 2, maxMessages: 30, rhythm: 'economy' as const } }
    const beginning = messages.slice(0, end)
    const proposals = proposeByMoney(facts(beginning, change))
    assert.deepEqual(proposals, proposeByMoney(facts(structuredClone(beginning), structuredClone(change))))
    decisions = proposals.reduce(withProposal, decisions)
    proposed += proposals.length
  }
  assert.ok(proposed >= 3, `only ${proposed} were proposed`)
})

describe('to save money', () => {
  test('old turns are folded at the request at which the law says so, with its numbers', () => {
    let folds = 0
    for (let turns = 1; turns < 40; turns++) {
      const [proposal, ...others] = proposeByMoney(facts(history(turns)))
      const wanted = expected(turns, 2)
      assert.deepEqual(others, [])
      assert.equal(proposal !== undefined, wanted !== undefined, `${turns} turns`)
      if (!wanted || !proposal) continue
      folds++
      const { rent = 0, ...numbers } = proposal.numbers
      assert.ok(Math.abs(rent - wanted.rent) <= 1, `${rent} and ${wanted.rent}`)
      assert.deepEqual(numbers, {
        rewriting: Math.round(wanted.rewriting),
        gain: Math.round(wanted.gain),
        saved: wanted.saved,
        size: 1000 + opening + turns * size,
        requests: turns,
        cold: false,
      })
      const { why, ...fold } = proposal.fold ?? assert.fail()
      const through = 1 + 2 * (turns - 3)
      assert.deepEqual(fold, { from: 1 + 2 * wanted.from, through, style: 'stub', at: 2 * turns })
      const sum = `(${rent} against ${numbers.rewriting} tokens of input)`
      assert.equal(why, `older than the last 2 tool turns, and the rent has reached the price of rewriting ${sum}`)
    }
    assert.ok(folds > 10 && folds < 35, `${folds}`)
  })

  test('all of them are folded at once when the cache is cold, and none if few or another model answered', () => {
    const [proposal] = proposeByMoney(facts(history(5), { cold: true }))
    assert.deepEqual(proposal, {
      kind: 'fold',
      fold: {
        from: 1,
        through: 5,
        style: 'stub',
        why: 'older than the last 2 tool turns, and the cache is cold',
        at: 10,
        cold: true,
      },
      numbers: { saved: 3 * saves, size: 1000 + opening + 5 * size, requests: 5, cold: true },
    })
    assert.deepEqual(proposeByMoney(facts(history(2), { cold: true })), [])
    const warm = facts(history(30))
    assert.equal(proposeByMoney(warm).length, 1)
    assert.equal(proposeByMoney({ ...warm, provider: 'other' }).length, 1, 'nothing of it is in the cache there')
    assert.match(proposeByMoney({ ...warm, model: 'other' })[0]?.fold?.why ?? '', /\(\d+ against -\d+ tokens/)
  })

  test('nothing is decided in another rhythm or without a limit', () => {
    const cold = facts(history(9), { cold: true })
    for (const settings of [
      { maxToolTurns: 2 },
      { maxToolTurns: 2, rhythm: 'steps' as const },
      { rhythm: 'economy' as const },
      { rhythm: 'economy' as const, maxToolTurns: null, maxMessages: null },
    ]) {
      assert.deepEqual(proposeByMoney({ ...cold, settings }), [], JSON.stringify(settings))
    }
  })

  test('a turn is not folded again, nor one that was unfolded or is short', () => {
    const cold = (decisions: Partial<typeof noDecisions>, messages = history(6)) =>
      proposeByMoney(facts(messages, { cold: true, decisions: { ...noDecisions, ...decisions } })).map(
        ({ fold, numbers }) => [fold?.from, fold?.through, numbers.saved],
      )
    const fold = { from: 1, through: 3, style: 'stub' as const, why: 'old' }
    assert.deepEqual(cold({}), [[1, 7, 4 * saves]])
    assert.deepEqual(cold({ folds: [fold] }), [[5, 7, 2 * saves]])
    assert.deepEqual(cold({ unfolded: [{ from: 1, through: 1 }] }), [[3, 7, 3 * saves]])
    assert.deepEqual(cold({ folds: [{ ...fold, through: 9 }] }), [])
    const [first, asked, , ...rest] = history(6)
    assert.ok(first && asked)
    assert.deepEqual(cold({}, [first, asked, result('c0', 'short'), ...rest]), [[3, 7, 3 * saves]])
  })

  test('the size of a request is that of what is sent, with folds and cuts', () => {
    const sizeWith = (decisions: Partial<typeof noDecisions>) =>
      proposeByMoney(facts(history(8), { cold: true, decisions: { ...noDecisions, ...decisions } }))[0]?.numbers.size
    const whole = 1000 + opening + 8 * size
    const fold = { from: 1, through: 3, style: 'remove' as const, why: 'old' }
    assert.equal(sizeWith({}), whole)
    assert.equal(sizeWith({ folds: [fold] }), whole - 2 * size)
    assert.equal(sizeWith({ cut: { before: 5, why: 'long' } }), whole - 2 * size)
    assert.equal(sizeWith({ folds: [fold], cut: { before: 5, why: 'long' } }), whole - 2 * size)
  })

  test('the style of the settings is used, and its own savings', () => {
    const settings = { maxToolTurns: 2, rhythm: 'economy', fold: 'remove' } as const
    const [proposal] = proposeByMoney(facts(history(4), { cold: true, settings }))
    assert.deepEqual([proposal?.fold?.style, proposal?.numbers.saved], ['remove', 2 * size])
  })
})

describe('a window to save money', () => {
  const settings = { maxMessages: 4, rhythm: 'economy' } as const
  const each = estimateMessage(user('word '.repeat(100)))

  test('cuts at once in a cold cache, and otherwise when the rent has reached the price', () => {
    const cut = (count: number, change: Partial<PlanFacts> = {}) =>
      proposeByMoney(facts(chat(count), { settings, ...change }))[0]
    assert.deepEqual(cut(9, { cold: true }), {
      kind: 'cut',
      cut: { before: 6, why: 'over 4 messages, and the cache is cold' },
      numbers: { saved: 5 * each, size: 1000 + 9 * each, requests: 4, cold: true },
    })
    assert.equal(cut(4, { cold: true }), undefined)
    assert.equal(cut(5, { cold: true }), undefined, 'a message is too little')
    assert.equal(cut(6, { cold: true })?.numbers.saved, 2 * each)
    assert.equal(cut(6), undefined)
    // Each message was paid for in every request since four others came after it.
    const law = (count: number) => {
      const requests = Math.floor(count / 2)
      const gone = count - 4
      const answersAfter = (index: number) =>
        chat(count).filter(({ role }, i) => i > index && role === 'assistant').length
      let paid = 0
      for (let i = 1; i <= gone; i++) paid += each * answersAfter(Math.min(i + 4, count - 1))
      const answered = count % 2 === 0 ? count - 1 : count - 2
      const [saved, at, cachedEnd] = [gone * each, 1000 + each, 1000 + answered * each]
      const gain = 0.1 * saved * (1 + requests) - 1.15 * (cachedEnd - at - saved)
      const rewriting = 1.15 * (cachedEnd - at - saved)
      return { rent: Math.round(0.1 * paid), rewriting: Math.round(rewriting), gain: Math.round(gain), saved }
    }
    const first = Array.from({ length: 60 }, (_, i) => 2 * i + 5).find((count) => cut(count)) ?? 0
    const { numbers, cut: found } = cut(first) ?? assert.fail()
    const { rent, rewriting, gain, saved } = numbers
    assert.deepEqual({ rent, rewriting, gain, saved }, law(first))
    assert.equal(found?.before, first - 3)
    assert.match(
      found?.why ?? '',
      new RegExp(`^over 4 messages, and .*\\(${rent} against ${rewriting} tokens of input\\)$`),
    )
  })

  test('follows a fold of the same moment, which breaks the cache for it too', () => {
    const both = { maxToolTurns: 2, maxMessages: 6, rhythm: 'economy' } as const
    const kinds = (change: Partial<PlanFacts>) =>
      proposeByMoney(facts(history(30), { settings: both, ...change })).map(({ kind }) => kind)
    assert.deepEqual(kinds({ cold: true }), ['fold', 'cut'])
    assert.deepEqual(kinds({}), ['fold', 'cut'])
    const [fold, cut] = proposeByMoney(facts(history(30), { settings: both, cold: true }))
    assert.ok((cut?.numbers.size ?? 0) < (fold?.numbers.size ?? 0), 'it counts what the fold has left')
    assert.deepEqual(withProposal(withProposal(noDecisions, fold ?? assert.fail()), cut ?? assert.fail()), {
      ...noDecisions,
      folds: [fold?.fold],
      cut: cut?.cut,
    })
  })
})

describe('because a request does not fit', () => {
  test('turns are folded if that frees a quarter of the limit, down to ten or to the configured number', () => {
    const folded = (limit: number, settings: PlanFacts['settings'] = {}, turns = 14) =>
      proposeFoldForSize(facts(history(turns), { settings, limit }))
    const freed = 4 * saves
    assert.equal(folded(4 * freed)?.numbers.saved, freed)
    assert.equal(folded(4 * freed + 1), undefined)
    assert.deepEqual(folded(4 * freed)?.fold?.cold, true)
    assert.equal(folded(4, {}, 10), undefined)
    assert.equal(folded(4, {}, 11)?.numbers.saved, saves)
    assert.equal(folded(4, { atLimit: 'cut' }), undefined)
    assert.equal(folded(4, { atLimit: 'cut', maxToolTurns: 12 })?.numbers.saved, 2 * saves)
    assert.equal(folded(4, { maxToolTurns: 0 })?.numbers.saved, 13 * saves)
    assert.match(folded(4)?.fold?.why ?? '', /older than the last 10 tool turns/)
  })

  test('the oldest messages are cut down to half of the limit, or to the configured share', () => {
    const each = estimateMessage(user('word '.repeat(100)))
    const cut = (limit: number, settings: PlanFacts['settings'] = {}, head = 0, messages = chat(9)) => {
      const { cut: made, numbers } = proposeCutForSize(facts(messages, { settings, limit, head })) ?? {}
      return made && [made.before, made.why, numbers]
    }
    const why = (limit: number) => `over the model's limit of ${Math.floor(limit)} tokens`
    assert.deepEqual(cut(8 * each), [6, why(8 * each), { saved: 5 * each, size: 9 * each, requests: 4, cold: false }])
    assert.equal(cut(8 * each - 1)?.[0], 7, 'less than four fit into half of it')
    assert.equal(cut(5 * each, { floor: 0.8 })?.[0], 6)
    assert.deepEqual(cut(10 * each, {}, each)?.slice(0, 1), [6], 'the head takes its room')
    assert.equal(cut(10 * each + 0.5)?.[1], why(10 * each))
    assert.equal(cut(1)?.[0], 8, 'the newest stays')
    assert.equal(cut(1, {}, 0, chat(1)), undefined)
    assert.equal(cut(1, {}, 0, [user('Go.'), ...turn(0)])?.[0], undefined, 'there is nothing between')
    assert.equal(cut(100 * each), undefined)
    const cold = proposeCutForSize(facts(chat(9), { limit: 8 * each, head: 0, cold: true }))
    assert.equal(cold?.numbers.cold, true)
  })
})

describe('the decision to fold', () => {
  const base: EconomyState = {
    read: 0.1,
    write: 1.1,
    items: [
      { saves: 1000, at: 1000, since: 0 },
      { saves: 1000, at: 2000, since: 5 },
    ],
    size: 5000,
    limit: 5000,
    cacheMin: 5000,
    cold: false,
    requests: 100,
    cachedEnd: 5000,
    floorAt: 4000,
  }

  test('is made at the limits exactly when they are passed', () => {
    const why = (change: Partial<EconomyState>) => decideFold({ ...base, ...change }).why
    assert.equal(why({}), 'the rent has reached the price of rewriting')
    assert.equal(why({ size: 5001 }), 'over the limit')
    assert.equal(why({ size: 4999 }), 'nothing is cached at this size')
    assert.equal(why({ write: 0.1 }), 'the price has no cache discount')
    assert.equal(why({ write: 0.11 }), 'the rent has reached the price of rewriting')
    assert.equal(why({ cold: true }), 'the cache is cold')
    assert.equal(why({ cold: true, size: 5001 }), 'over the limit')
    assert.equal(why({ cold: true, items: [] }), 'nothing to fold')
  })

  test('has the numbers of the law, and what the cache lacks makes it dearer', () => {
    const { read, write } = base
    assert.deepEqual(decideFold(base), {
      fold: true,
      from: 0,
      gain: read * 2000 * 101 - (write - read) * (4000 - 2000),
      rent: read * 1000 * 95 + read * 1000 * 100,
      rewriting: (write - read) * 1000,
      why: 'the rent has reached the price of rewriting',
    })
    const lacking = decideFold({ ...base, items: [{ saves: 1000, at: 3000, found: 2500, since: 0 }] })
    assert.deepEqual(lacking, {
      fold: true,
      from: 0,
      gain: read * 1000 * 101 - (write - read) * (2000 + 500 - 1000),
      rent: read * 1000 * 100,
      rewriting: (write - read) * (1000 + 500),
      why: 'the rent has reached the price of rewriting',
    })
  })

  test('waits until the rent is the price of rewriting, and folds then', () => {
    const items = [{ saves: 1000, at: 4000, since: 0 }]
    const at = (requests: number) => decideFold({ ...base, read: 0.5, write: 1.5, items, requests }).why
    assert.equal(at(1), 'the rent has not reached the price of rewriting')
    assert.equal(at(2), 'the rent has reached the price of rewriting')
    const even = { ...base, read: 0.5, write: 1.5, requests: 1, floorAt: 5000 }
    const saving = (saves: number) => decideFold({ ...even, items: [{ saves, at: 4000, since: 0 }] }).why
    assert.equal(saving(500), 'would not pay back', 'nothing is gained')
    assert.equal(saving(501), 'the rent has reached the price of rewriting')
  })
})
